import type { Worker } from "node:worker_threads";
import type { ThreadError } from "./thread-error.ts";

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
