import { setTimeout as wait } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { Answer, Order } from "./protocol.ts";
import { ThreadError } from "./thread-error.ts";

export interface ThreadCallsOptions {
  /** For messages: `the thread that …`. */
  readonly name: string;
  /** Starts a thread that answers by `answerCalls`. Called at the first call, and again after a thread has ended. */
  readonly start: () => Worker;
  /** Calls that may wait for the one that is being carried out; one more is refused. */
  readonly queueDepth: number;
  /** Longest that one call may be carried out, in milliseconds, before its thread is given up. */
  readonly deadlineMs: number;
  /** A thread that has had nothing to do for this long, in milliseconds, is let go. Kept for good unless told. */
  readonly idleMs?: number;
  /** A call that changes nothing: made now and then after a thread has failed, until one answers. None unless told. */
  readonly probe?: string;
  /** The error for what the far side's `toWire` gave. */
  readonly fromWire: (thrown: unknown) => unknown;
  /** A thread ended by itself or was given up. */
  readonly onFailure?: (error: ThreadError) => void;
  /** The first answer after a failure. */
  readonly onRecovery?: () => void;
}

export interface CallOptions {
  /** Takes a waiting call back. One that is being carried out is, but its answer is dropped. */
  readonly signal?: AbortSignal;
  /** Buffers that the thread gets as they are; they are gone here once the call is carried out. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Whether the call may be carried out twice: it then is made once more when its thread ends over it. */
  readonly repeatable?: boolean;
}

interface Call {
  readonly operation: string;
  readonly parameters: readonly unknown[];
  readonly transfer: readonly ArrayBuffer[];
  triesLeft: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Threads given up that have not ended, beyond which no further one is started. */
const MOST_LOST = 4;
/** How long after a failure the probe is made first, in milliseconds; it doubles up to the longest. */
const PROBE_MS = 250;
const LONGEST_PROBE_MS = 8_000;

/**
 * Calls into one thread, carried out one at a time, in order. Calls that wait are kept here: whatever ends the thread
 * costs the one call that was being carried out, and the others go to the next thread. A call that takes too long gives
 * its thread up. Rejects with {@link ThreadError}, with what the operation threw, or with the signal's reason.
 */
export class ThreadCalls {
  readonly #options: ThreadCallsOptions;
  readonly #waiting: Call[] = [];
  #running: Call | null = null;
  #worker: Worker | null = null;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  #lost = 0;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: ThreadCallsOptions) {
    this.#options = options;
  }

  /** False from a failure of the thread until the next answer. */
  get isWell(): boolean {
    return !this.#hasFailed;
  }

  /** Calls not answered yet. */
  get open(): number {
    return this.#waiting.length + (this.#running === null ? 0 : 1);
  }

  async call(
    operation: string,
    parameters: readonly unknown[],
    { signal, transfer = [], repeatable = false }: CallOptions = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw this.#error("closed", "is closed");
    if (this.#waiting.length >= this.#options.queueDepth) throw this.#error("full", "has too much to do");
    let call: Call | undefined;
    const onAbort = (): void => {
      const at = this.#waiting.indexOf(call!);
      if (at >= 0) this.#waiting.splice(at, 1);
      call!.reject(signal?.reason);
    };
    try {
      return await new Promise((resolve, reject) => {
        call = { operation, parameters, transfer, triesLeft: repeatable ? 2 : 1, resolve, reject };
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#waiting.push(call);
        this.#next();
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Refuses what waits, lets the running call finish, within its deadline, and ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    for (const call of this.#waiting.splice(0)) call.reject(this.#error("closed", "is closed"));
    const running = this.#running;
    if (running !== null) await settled(running);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #next(): void {
    if (this.#running !== null || this.#waiting.length === 0) return;
    if (this.#worker === null && this.#lost >= MOST_LOST) {
      this.#waiting.shift()!.reject(this.#error("late", "hangs, and so do those before it"));
      this.#next();
      return;
    }
    clearTimeout(this.#idle);
    const call = this.#waiting.shift()!;
    this.#running = call;
    call.triesLeft -= 1;
    const id = ++this.#lastId;
    this.#worker ??= this.#started();
    const worker = this.#worker;
    this.#deadline = setTimeout(() => this.#giveUp(worker), this.#options.deadlineMs);
    const order: Order = { id, operation: call.operation, parameters: call.parameters };
    try {
      worker.postMessage(order, [...call.transfer]);
    } catch (error) {
      // Parameters that cannot be cloned.
      this.#take()?.reject(error);
      this.#next();
    }
  }

  #started(): Worker {
    const worker = this.#options.start();
    let failure: unknown = null;
    worker.on("message", (answer: Answer) => {
      if (this.#worker === worker && answer.id === this.#lastId) this.#settle(answer);
    });
    worker.on("error", (error) => {
      failure = error;
    });
    worker.once("exit", () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      const why = failure instanceof Error ? failure.message : "it ended by itself";
      this.#fail(this.#error("ended", `died (${why})`, failure));
    });
    return worker;
  }

  #settle(answer: Answer): void {
    const call = this.#take();
    if (this.#hasFailed) {
      this.#hasFailed = false;
      this.#options.onRecovery?.();
    }
    if ("thrown" in answer) call?.reject(this.#options.fromWire(answer.thrown));
    else call?.resolve(answer.value);
    this.#next();
    const { idleMs } = this.#options;
    if (idleMs !== undefined && this.#running === null) {
      this.#idle = setTimeout(() => this.#letGo(), idleMs).unref();
    }
  }

  /** The thread does not answer: another takes its place. It is told to end, and does so once it comes to itself. */
  #giveUp(worker: Worker): void {
    this.#worker = null;
    this.#lost += 1;
    void worker.terminate().then(() => {
      this.#lost -= 1;
    });
    this.#fail(this.#error("late", `did not answer within ${this.#options.deadlineMs} ms`));
  }

  #fail(error: ThreadError): void {
    const call = this.#take();
    const isFirst = !this.#hasFailed;
    this.#hasFailed = true;
    this.#options.onFailure?.(error);
    // What came too late once would again.
    if (call !== null && call.triesLeft > 0 && error.problem === "ended") this.#waiting.unshift(call);
    else call?.reject(error);
    this.#next();
    if (isFirst && this.#options.probe !== undefined) void this.#recover(this.#options.probe);
  }

  /** Asks until somebody answers, so that a server that gets no requests meanwhile recovers too. */
  async #recover(probe: string): Promise<void> {
    for (let ms = PROBE_MS; this.#hasFailed && !this.#isClosed; ms = Math.min(2 * ms, LONGEST_PROBE_MS)) {
      await wait(ms, undefined, { ref: false });
      // What the operation throws is an answer too.
      if (this.#hasFailed) await this.call(probe, []).catch(() => {});
    }
  }

  #take(): Call | null {
    clearTimeout(this.#deadline);
    const call = this.#running;
    this.#running = null;
    return call;
  }

  #letGo(): void {
    const worker = this.#worker;
    this.#worker = null;
    void worker?.terminate();
  }

  #error(problem: ThreadError["problem"], what: string, cause?: unknown): ThreadError {
    return new ThreadError(problem, `${this.#options.name} ${what}`, cause);
  }
}

/** Resolves when the call has been answered, one way or the other. */
function settled(call: Call): Promise<void> {
  return new Promise((resolve) => {
    const { resolve: onValue, reject: onError } = call;
    call.resolve = (value) => {
      onValue(value);
      resolve();
    };
    call.reject = (error) => {
      onError(error);
      resolve();
    };
  });
}
