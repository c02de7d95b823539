import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type CallOptions, ThreadCalls, ThreadError } from "../../workers/calls/thread-calls.ts";
import { monotonicMs } from "../deadline.ts";
import type { Store } from "../store.ts";
import type { LedgerReads, LedgerWrites } from "./ledger.ts";
import { closedError, fromWire, type StoreWireError, unavailableError } from "./libsql-errors.ts";
import type { LedgerThreadData } from "./libsql-operations.ts";

export interface LibsqlStoreOptions extends Partial<LedgerThreadOptions> {
  /** Milliseconds to wait for a database locked by another process. */
  readonly patienceMs?: number;
}

/** Reopening takes up to twice the patience, and the call itself waits once more. */
const PATIENCE_MS = 5_000;
const DEADLINE_MS = 20_000;
/** Opening may migrate a large database. */
const OPENING_DEADLINE_MS = 600_000;

const REPEATABLE = { repeatable: true };

/**
 * Opens the store of keys and usage in `antiphon.db`, creating the directory if needed. Two threads run the database,
 * so that the event loop never waits for a disk: one writes, and one reads so that looking up a key never waits for a
 * lock. A failed thread is replaced.
 *
 * @throws StoreError if the directory is unusable or the database is damaged
 */
export async function libsqlStore(dataDir: string, options: LibsqlStoreOptions = {}): Promise<Store> {
  const { patienceMs = PATIENCE_MS, deadlineMs = DEADLINE_MS } = options;
  const path = databasePath(dataDir);
  const writer = ledgerThread<LedgerWrites>({ part: "writes", path, patienceMs }, { ...options, deadlineMs });
  const reader = ledgerThread<LedgerReads>({ part: "reads", path, patienceMs }, { ...options, deadlineMs });
  const late = () => monotonicMs() + deadlineMs;
  async function close(): Promise<void> {
    await reader.close();
    await writer.close();
  }
  try {
    await writer.open(OPENING_DEADLINE_MS);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    createKey: (key, hash) => writer.call("createKey", [key, hash, late()]),
    createFirstKey: (key, hash) => writer.call("createFirstKey", [key, hash, late()]),
    findKey: (hash) => reader.call("findKey", [hash], REPEATABLE),
    listKeys: () => reader.call("listKeys", [], REPEATABLE),
    updateKey: (keyId, changes) => writer.call("updateKey", [keyId, changes, late()], REPEATABLE),
    revokeKey: (keyId, tsS) => writer.call("revokeKey", [keyId, tsS, late()], REPEATABLE),
    commit: (records) => writer.call("commit", [records, late()], REPEATABLE),
    totals: (keyId) => reader.call("totals", [keyId], REPEATABLE),
    addVoice: (voice, audio, maxVoices) => writer.call("addVoice", [voice, audio, maxVoices, late()]),
    listVoices: (keyId) => reader.call("listVoices", [keyId], REPEATABLE),
    findVoice: (keyId, idOrName) => reader.call("findVoice", [keyId, idOrName], REPEATABLE),
    voiceAudio: (voiceId) => reader.call("voiceAudio", [voiceId], REPEATABLE),
    removeVoice: (keyId, idOrName) => writer.call("removeVoice", [keyId, idOrName, late()]),
    isWell: () => reader.isWell() && writer.isWell(),
    close,
  };
}

export function databasePath(dataDir: string): string {
  return join(dataDir, "antiphon.db");
}

interface LedgerThreadOptions {
  /** The thread failed; the next call starts another. A sentence for the log. */
  readonly onFailure?: (message: string) => void;
  /** The thread answers again. */
  readonly onRecovery?: (message: string) => void;
  /** Milliseconds after which a call is abandoned: more than any legitimate wait. */
  readonly deadlineMs: number;
  readonly startThread?: (site: LedgerThreadData) => Worker;
}

/** Calls into a database thread. */
interface LedgerThread<Part> {
  /** Rejects with a StoreError. */
  call<K extends keyof Part & string>(
    operation: K,
    parameters: Part[K] extends (...parameters: infer P) => unknown ? P : never,
    options?: CallOptions,
  ): Promise<Part[K] extends (...parameters: never[]) => infer R ? R : never>;
  /** Opens the database now instead of at the first call. */
  open(deadlineMs: number): Promise<void>;
  isWell(): boolean;
  /** Refuses waiting calls and ends the thread after the current one. */
  close(): Promise<void>;
}

/** Maximum waiting calls; the server admits fewer requests than that. */
const QUEUE_DEPTH = 1_024;

/** Returns a thread that starts at its first call, and again after a failure. */
function ledgerThread<Part>(site: LedgerThreadData, options: LedgerThreadOptions): LedgerThread<Part> {
  const { onFailure, onRecovery, deadlineMs, startThread = started } = options;
  const name = `the thread that ${site.part} keys and usage`;
  const calls = new ThreadCalls({
    name,
    start: () => startThread(site),
    queueDepth: QUEUE_DEPTH,
    deadlineMs,
    // Terminating a thread during a call into libsql may abort the process.
    isNative: true,
    probe: "open",
    fromWire: (thrown) => fromWire(thrown as StoreWireError),
    onFailure: ({ message }) => onFailure?.(message),
    onRecovery: () => onRecovery?.(`${name} works again`),
  });

  async function call(
    operation: string,
    parameters: readonly unknown[],
    callOptions?: CallOptions,
  ): Promise<unknown> {
    try {
      return await calls.call(operation, parameters, callOptions);
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error;
      throw error.problem === "closed"
        ? closedError(site.path)
        : unavailableError(site.path, error.message, error);
    }
  }

  return {
    call: call as LedgerThread<Part>["call"],
    open: (openingDeadlineMs) =>
      call("open", [], { repeatable: true, deadlineMs: openingDeadlineMs }) as Promise<void>,
    isWell: () => calls.isWell,
    close: () => calls.close(),
  };
}

function started(site: LedgerThreadData): Worker {
  // Calls leave little garbage. Unlike a small heap, a small young generation cannot end the thread.
  const resourceLimits = { maxYoungGenerationSizeMb: 2 };
  return new Worker(new URL("./libsql-thread.js", import.meta.url), { workerData: site, resourceLimits });
}
