import { Worker } from "node:worker_threads";
import type { CallOptions } from "../threads/options.ts";
import { ThreadCalls } from "../threads/thread-calls.ts";
import { ThreadError } from "../threads/thread-error.ts";
import { closed, fromWire, unavailable, type WireError } from "./libsql-errors.ts";
import type { LedgerSite } from "./libsql-operations.ts";

export interface LedgerThreadOptions {
  /** The thread failed; the next call starts another. Plain words for a log. */
  readonly onFailure?: (message: string) => void;
  /** It answers again. */
  readonly onRecovery?: (message: string) => void;
  /** When a call that does not end is given up, in milliseconds. More than a call takes that waits as long as it may. */
  readonly deadlineMs: number;
  /** Starts a thread that answers for the database. */
  readonly startThread?: (site: LedgerSite) => Worker;
}

/** The near side of a thread that answers for a part of the database. */
export interface LedgerThread<Part> {
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
export function ledgerThread<Part>(site: LedgerSite, options: LedgerThreadOptions): LedgerThread<Part> {
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
    fromWire: (thrown) => fromWire(thrown as WireError),
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
      throw error.problem === "closed" ? closed(site.path) : unavailable(site.path, error.message, error);
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

function started(site: LedgerSite): Worker {
  // A small nursery: what a call leaves behind is little. Unlike a small heap it can end no thread.
  const resourceLimits = { maxYoungGenerationSizeMb: 2 };
  return new Worker(new URL("./libsql-thread.js", import.meta.url), { workerData: site, resourceLimits });
}
