/**
 * Why a store refused: `damaged` it holds no sound database, `unwritable` it cannot be opened or written, `disk` the
 * disk is full or failing, `busy` another process held it too long, `unavailable` its thread died, hung or has too much
 * to do, `unreachable` its server on the network is away or does not answer in time, `newer` a later version wrote it,
 * `closed` it was closed, `failed` anything else.
 */
export type StoreProblem =
  | "damaged"
  | "unwritable"
  | "disk"
  | "busy"
  | "unavailable"
  | "unreachable"
  | "newer"
  | "closed"
  | "failed";

/** A store that cannot do what it was asked. The message is one plain sentence with the place and the remedy. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly problem: StoreProblem;

  constructor(problem: StoreProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
  }

  /**
   * Whether it passes by itself, mostly within a second or two: true for `busy`, `unavailable` and `unreachable`. For the
   * rest somebody has to do something, a full disk among them.
   */
  get isTransient(): boolean {
    return TRANSIENT.has(this.problem);
  }
}

const TRANSIENT: ReadonlySet<StoreProblem> = new Set(["busy", "unavailable", "unreachable"]);
