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

/** Delay of the first probe after a failure, in milliseconds; it doubles up to the maximum. */
const PROBE_MS = 250;
const MAX_PROBE_MS = 8_000;

/**
 * Calls into one thread, one at a time, in order. Waiting calls are kept on this side: the end of the thread costs
 * only the running call, and the others go to the next thread. A call beyond its deadline gives its thread up.
 * Rejects with {@link ThreadError}, the operation's error, or the signal's reason.
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
  /** Whether the oldest call was passed over, and goes next. */
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
   * Sends a call whose answer is not awaited, and ends the thread after it if `isLast`. Does nothing without a
   * thread.
   */
  send(operation: string, parameters: readonly unknown[], isLast = false): void {
    if (this.#thread === null || this.#isClosed) return;
    const nobody = (): void => {};
    const rest = { transfer: [], deadlineMs: this.#options.deadlineMs, rank: 0, triesLeft: 1 };
    this.#waiting.push({ operation, parameters, isLast, ...rest, resolve: nobody, reject: nobody });
    this.#next();
  }

  /** Refuses waiting calls and ends the thread; a native call may finish within its deadline. */
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
      // The system has no resources for another thread.
      this.#fail(this.#error("ended", `cannot be started (${(error as Error).message})`, error));
      return;
    }
    const thread = this.#thread;
    this.#deadline = setTimeout(() => this.#giveUp(thread, call.deadlineMs), call.deadlineMs);
    const gate = this.#options.isNative === true ? thread.gate : null;
    const order: CallMessage = { id, operation: call.operation, parameters: call.parameters, gate };
    try {
      thread.post(order, call.transfer);
      // Entered here and not by the thread, which may still be loading native code.
      if (gate !== null) enterGate(gate);
    } catch (error) {
      // The parameters cannot be cloned.
      this.#take()?.reject(error);
      this.#next();
    }
  }

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

  /** Gives up a thread that does not answer; another takes its place. */
  #giveUp(thread: GuardedThread, deadlineMs: number): void {
    this.#thread = null;
    this.#threads.giveUp(thread);
    this.#fail(this.#error("late", `did not answer within ${deadlineMs} ms`));
  }

  #fail(error: ThreadError): void {
    const call = this.#take();
    this.#hasFailed = true;
    this.#options.onFailure?.(error);
    // A call that was late once would be late again.
    if (call !== null && call.triesLeft > 0 && error.problem === "ended") this.#waiting.unshift(call);
    else call?.reject(error);
    this.#next();
    if (!this.#isProbing && this.#options.probe !== undefined) void this.#recover(this.#options.probe);
  }

  /** Probes until one is answered, so that an idle server recovers too. */
  async #recover(probe: string): Promise<void> {
    this.#isProbing = true;
    for (let ms = PROBE_MS; this.#hasFailed && !this.#isClosed; ms = Math.min(2 * ms, MAX_PROBE_MS)) {
      await wait(ms, undefined, { ref: false });
      // An error of the operation is an answer too.
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

/** Resolves when the call has been answered. */
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
 * Reason for a missing answer: `full` too many calls wait, `late` beyond the deadline, `ended` the thread died,
 * `closed` this object is closed.
 */
export type ThreadProblem = "full" | "late" | "ended" | "closed";

/** Error of an unanswered call. Only `full` and `closed` say that it was not carried out. */
export class ThreadError extends Error {
  override readonly name = "ThreadError";
  readonly problem: ThreadProblem;

  constructor(problem: ThreadProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
  }
}

export interface ThreadCallsOptions {
  /** Name in messages: `the thread that …`. */
  readonly name: string;
  /** Starts a thread that runs `answerCalls`, at the first call and after each end. */
  readonly start: () => Worker;
  /**
   * Maximum number of waiting calls. Default: unlimited, since callers are usually admitted elsewhere, where keys
   * take turns.
   */
  readonly queueDepth?: number;
  /** Longest call, in milliseconds, before its thread is given up. */
  readonly deadlineMs: number;
  /**
   * Whether calls run native code, in the middle of which the thread must not be ended. One that is given up then
   * runs until its call is over.
   */
  readonly isNative?: boolean;
  /** Idle time in milliseconds after which the thread is ended. Default: never. */
  readonly idleMs?: number;
  /** Whether the thread holds state that is still needed, so that it is not ended when idle. */
  readonly isKept?: () => boolean;
  /** Operation without effects, called after a failure until one is answered. Default: none. */
  readonly probe?: string;
  /** Converts what `toWire` of the thread returned to an error. */
  readonly fromWire: (thrown: unknown) => unknown;
  /** Called when a thread ended by itself or was given up. */
  readonly onFailure?: (error: ThreadError) => void;
  /** Called at the first answer after a failure. */
  readonly onRecovery?: () => void;
}

export interface CallOptions {
  /** Withdraws a waiting call. A running one continues, and its answer is dropped. */
  readonly signal?: AbortSignal;
  /** Buffers to transfer to the thread. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Default: the deadline of all calls. */
  readonly deadlineMs?: number;
  /** Whether the call may be repeated if its thread ends over it. */
  readonly repeatable?: boolean;
  /**
   * Priority: the lowest rank goes first, of equals the oldest; but a call that was passed over goes next, so that
   * none starves. Default: 0.
   */
  readonly rank?: number;
  /** Whether an abort ends the thread if it is running this call. */
  readonly isEndedByAbort?: boolean;
  /** Whether the thread, with its memory, is ended after the call. */
  readonly isLast?: boolean;
}
