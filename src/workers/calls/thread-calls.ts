import { setTimeout as wait } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { AnswerMessage, CallMessage } from "./answer-calls.ts";
import { enterGate } from "./native-gate.ts";
import { type GuardedThread, ThreadGroup } from "./thread-group.ts";

interface Call {
  readonly operation: string;
  readonly parameters: readonly unknown[];
  readonly transfer: readonly ArrayBuffer[];
  readonly deadlineMs: number;
  readonly isLast: boolean;
  readonly rank: number;
  triesLeft: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** How long after a failure the probe is made first, in milliseconds; it doubles up to the longest. */
const PROBE_MS = 250;
const MAX_PROBE_MS = 8_000;

/**
 * Calls into one thread, carried out one at a time, in order. Calls that wait are kept here: whatever ends the thread
 * costs the one call that was being carried out, and the others go to the next thread. A call that takes too long gives
 * its thread up. Rejects with {@link ThreadError}, with what the operation threw, or with the signal's reason.
 */
export class ThreadCalls {
  readonly #options: ThreadCallsOptions;
  readonly #waiting: Call[] = [];
  #running: Call | null = null;
  readonly #threads: ThreadGroup;
  #thread: GuardedThread | null = null;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  #hasFailed = false;
  #isProbing = false;
  #isClosed = false;
  /** Whether somebody was passed by, and goes next. */
  #isOldestNext = false;

  constructor(options: ThreadCallsOptions) {
    this.#options = options;
    this.#threads = new ThreadGroup({ isNative: options.isNative ?? false });
  }

  /** False from a failure of the thread until the next answer. */
  get isWell(): boolean {
    return !this.#hasFailed;
  }

  async call(operation: string, parameters: readonly unknown[], options: CallOptions = {}): Promise<unknown> {
    const { signal, transfer = [], repeatable = false, isLast = false, rank = 0 } = options;
    const { queueDepth = Number.POSITIVE_INFINITY } = this.#options;
    const { deadlineMs = this.#options.deadlineMs } = options;
    signal?.throwIfAborted();
    if (this.#isClosed) throw this.#error("closed", "is closed");
    if (this.#waiting.length >= queueDepth) throw this.#error("full", "has too much to do");
    let call: Call | undefined;
    const onAbort = (): void => {
      const at = this.#waiting.indexOf(call!);
      if (at >= 0) this.#waiting.splice(at, 1);
      call!.triesLeft = 0;
      call!.reject(signal?.reason);
      if (options.isEndedByAbort === true && this.#running === call) {
        this.#take();
        this.#letGo();
        this.#next();
      }
    };
    try {
      return await new Promise((resolve, reject) => {
        const triesLeft = repeatable ? 2 : 1;
        call = { operation, parameters, transfer, deadlineMs, isLast, rank, triesLeft, resolve, reject };
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#waiting.push(call);
        this.#next();
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /**
   * Has the thread do something that nobody waits for, before it is let go if `isLast`; where there is no thread, there is
   * nothing to be done.
   */
  send(operation: string, parameters: readonly unknown[], isLast = false): void {
    if (this.#thread === null || this.#isClosed) return;
    const nobody = (): void => {};
    const rest = { transfer: [], deadlineMs: this.#options.deadlineMs, rank: 0, triesLeft: 1 };
    this.#waiting.push({ operation, parameters, isLast, ...rest, resolve: nobody, reject: nobody });
    this.#next();
  }

  /**
   * Refuses what waits and ends the thread, with what it is doing; a native call is let finish, within its deadline.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    for (const call of this.#waiting.splice(0)) call.reject(this.#error("closed", "is closed"));
    const running = this.#running;
    if (running !== null && this.#options.isNative === true) await settled(running);
    else this.#take()?.reject(this.#error("closed", "is closed"));
    const thread = this.#thread;
    this.#letGo();
    await thread?.exited;
  }

  #next(): void {
    if (this.#running !== null || this.#waiting.length === 0) return;
    if (this.#thread === null && this.#threads.isFull) {
      this.#waiting.shift()!.reject(this.#error("late", "hangs, and so do those before it"));
      this.#next();
      return;
    }
    clearTimeout(this.#idle);
    const call = this.#pick();
    this.#running = call;
    call.triesLeft -= 1;
    const id = ++this.#lastId;
    try {
      this.#thread ??= this.#started();
    } catch (error) {
      // The machine has no room for one more.
      this.#fail(this.#error("ended", `cannot be started (${(error as Error).message})`, error));
      return;
    }
    const thread = this.#thread;
    this.#deadline = setTimeout(() => this.#giveUp(thread, call.deadlineMs), call.deadlineMs);
    const gate = this.#options.isNative === true ? thread.gate : null;
    const order: CallMessage = { id, operation: call.operation, parameters: call.parameters, gate };
    try {
      thread.post(order, call.transfer);
      // From here on, and not from when the thread begins with it: it may still be loading what is native.
      if (gate !== null) enterGate(gate);
    } catch (error) {
      // Parameters that cannot be cloned.
      this.#take()?.reject(error);
      this.#next();
    }
  }

  /** Takes the call out that goes next. */
  #pick(): Call {
    let best = 0;
    if (!this.#isOldestNext) {
      for (const [at, { rank }] of this.#waiting.entries()) if (rank < this.#waiting[best]!.rank) best = at;
    }
    this.#isOldestNext = best > 0;
    return this.#waiting.splice(best, 1)[0]!;
  }

  #started(): GuardedThread {
    const thread = this.#threads.start(this.#options.start);
    thread.onMessage((answer: AnswerMessage) => {
      if (this.#thread === thread && answer.id === this.#lastId) this.#settle(answer);
    });
    void thread.exited.then(({ error }) => {
      if (this.#thread !== thread) return;
      this.#thread = null;
      this.#fail(this.#error("ended", `died (${error?.message ?? "it ended by itself"})`, error));
    });
    return thread;
  }

  #settle(answer: AnswerMessage): void {
    const call = this.#take();
    if (this.#hasFailed) {
      this.#hasFailed = false;
      this.#options.onRecovery?.();
    }
    if ("thrown" in answer) call?.reject(this.#options.fromWire(answer.thrown));
    else call?.resolve(answer.value);
    if (call?.isLast === true) this.#letGo();
    this.#next();
    this.#becomeIdle();
  }

  #becomeIdle(): void {
    const { idleMs, isKept = () => false } = this.#options;
    if (idleMs === undefined || this.#running !== null) return;
    this.#idle = setTimeout(() => (isKept() ? this.#becomeIdle() : this.#letGo()), idleMs).unref();
  }

  /** The thread does not answer: another takes its place. */
  #giveUp(thread: GuardedThread, deadlineMs: number): void {
    this.#thread = null;
    this.#threads.giveUp(thread);
    this.#fail(this.#error("late", `did not answer within ${deadlineMs} ms`));
  }

  #fail(error: ThreadError): void {
    const call = this.#take();
    this.#hasFailed = true;
    this.#options.onFailure?.(error);
    // What came too late once would again.
    if (call !== null && call.triesLeft > 0 && error.problem === "ended") this.#waiting.unshift(call);
    else call?.reject(error);
    this.#next();
    if (!this.#isProbing && this.#options.probe !== undefined) void this.#recover(this.#options.probe);
  }

  /** Asks until somebody answers, so that a server that gets no requests meanwhile recovers too. */
  async #recover(probe: string): Promise<void> {
    this.#isProbing = true;
    for (let ms = PROBE_MS; this.#hasFailed && !this.#isClosed; ms = Math.min(2 * ms, MAX_PROBE_MS)) {
      await wait(ms, undefined, { ref: false });
      // What the operation throws is an answer too.
      if (this.#hasFailed) await this.call(probe, []).catch(() => {});
    }
    this.#isProbing = false;
  }

  #take(): Call | null {
    clearTimeout(this.#deadline);
    const call = this.#running;
    this.#running = null;
    return call;
  }

  #letGo(): void {
    const thread = this.#thread;
    this.#thread = null;
    thread?.end();
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

/**
 * Why a call into a thread has no answer: `full` too many calls wait, `late` it took too long, `ended` the thread died
 * over it, `closed` nobody calls any more.
 */
export type ThreadProblem = "full" | "late" | "ended" | "closed";

/** A call into a thread that got no answer. Whether it was carried out is known for `full` and `closed` alone: it was not. */
export class ThreadError extends Error {
  override readonly name = "ThreadError";
  readonly problem: ThreadProblem;

  constructor(problem: ThreadProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
  }
}

export interface ThreadCallsOptions {
  /** For messages: `the thread that …`. */
  readonly name: string;
  /** Starts a thread that answers by `answerCalls`. Called at the first call, and again after a thread has ended. */
  readonly start: () => Worker;
  /**
   * Calls that may wait for the one that is being carried out; one more is refused. None is unless told: then whoever
   * calls was let in elsewhere, and waited for that where keys take turns.
   */
  readonly queueDepth?: number;
  /** Longest that one call may be carried out, in milliseconds, before its thread is given up. */
  readonly deadlineMs: number;
  /**
   * Whether calls run in native code, some of which takes the process down when its thread is ended in the middle of
   * it. A thread that is given up is then left alone until its call is over.
   */
  readonly isNative?: boolean;
  /** A thread that has had nothing to do for this long, in milliseconds, is let go. Kept for good unless told. */
  readonly idleMs?: number;
  /** Whether the thread holds something that is still needed, and so is not let go. Never unless told. */
  readonly isKept?: () => boolean;
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
  /** Takes a waiting call back. One that is being carried out goes on, and its answer is dropped. */
  readonly signal?: AbortSignal;
  /** Buffers that the thread gets as they are; they are gone here once the call is carried out. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Instead of the deadline of all calls. */
  readonly deadlineMs?: number;
  /** Whether the call may be carried out twice: it then is made once more when its thread ends over it. */
  readonly repeatable?: boolean;
  /**
   * Of calls that wait the one of the lowest rank goes first, of equals the one that came first; but whoever was passed
   * by goes next, so that nobody waits for ever. 0 unless told.
   */
  readonly rank?: number;
  /** Whether the thread is ended, with what it computes, when the signal aborts the call that it carries out. */
  readonly isEndedByAbort?: boolean;
  /** Whether the thread is let go after it, with all the memory that it took; the next call gets another. */
  readonly isLast?: boolean;
}
