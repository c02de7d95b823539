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
