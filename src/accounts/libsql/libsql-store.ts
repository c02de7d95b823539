import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type CallOptions, ThreadCalls, ThreadError } from "../../workers/calls/thread-calls.ts";
import { monotonicMs } from "../deadline.ts";
import type { Store } from "../store.ts";
import type { LedgerReads, LedgerWrites } from "./ledger.ts";
import { closedError, fromWire, type StoreWireError, unavailableError } from "./libsql-errors.ts";
import type { LedgerThreadData } from "./libsql-operations.ts";

export interface LibsqlStoreOptions extends Partial<LedgerThreadOptions> {
  /** Longest wait for another process that holds the database, in milliseconds. */
  readonly patienceMs?: number;
}

/** Opening again takes up to twice the patience, and the call itself waits once more. */
const PATIENCE_MS = 5_000;
const DEADLINE_MS = 20_000;
/** An opening may bring a large database to a new version. */
const OPENING_DEADLINE_MS = 600_000;

const REPEATABLE = { repeatable: true };

/**
 * Keys and usage in `antiphon.db` in a folder, which is made if it is not there. The database runs in threads of its
 * own, so that the event loop never waits for a disk: one writes and one reads, so that nobody who only asks for a key
 * waits for a lock. A thread that fails is replaced.
 *
 * @throws StoreError when the folder is unusable or the database is damaged.
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

/** Where the database of keys and usage is in a data directory. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "antiphon.db");
}

interface LedgerThreadOptions {
  /** The thread failed; the next call starts another. Plain words for a log. */
  readonly onFailure?: (message: string) => void;
  /** It answers again. */
  readonly onRecovery?: (message: string) => void;
  /** When a call that does not end is given up, in milliseconds. More than a call takes that waits as long as it may. */
  readonly deadlineMs: number;
  /** Starts a thread that answers for the database. */
  readonly startThread?: (site: LedgerThreadData) => Worker;
}

/** The near side of a thread that answers for a part of the database. */
interface LedgerThread<Part> {
  /** Rejects with a StoreError. */
  call<K extends keyof Part & string>(
    operation: K,
    parameters: Part[K] extends (...parameters: infer P) => unknown ? P : never,
    options?: CallOptions,
  ): Promise<Part[K] extends (...parameters: never[]) => infer R ? R : never>;
  /** Opens the database now, and not at the first call. */
  open(deadlineMs: number): Promise<void>;
  isWell(): boolean;
  /** Refuses what waits, and ends the thread when what it does is done. */
  close(): Promise<void>;
}

/** Calls that may wait; the server lets in fewer requests than that. */
const QUEUE_DEPTH = 1_024;

/** The thread of a part of the database, started by the first call and again by the next one after it failed. */
function ledgerThread<Part>(site: LedgerThreadData, options: LedgerThreadOptions): LedgerThread<Part> {
  const { onFailure, onRecovery, deadlineMs, startThread = started } = options;
  const name = `the thread that ${site.part} keys and usage`;
  const calls = new ThreadCalls({
    name,
    start: () => startThread(site),
    queueDepth: QUEUE_DEPTH,
    deadlineMs,
    // To end a thread in the middle of a call into libsql may abort the process.
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
  // A small nursery: what a call leaves behind is little. Unlike a small heap it can end no thread.
  const resourceLimits = { maxYoungGenerationSizeMb: 2 };
  return new Worker(new URL("./libsql-thread.js", import.meta.url), { workerData: site, resourceLimits });
}
