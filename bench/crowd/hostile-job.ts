import type { BodyRecipe, HostilePath } from "./body-recipe.ts";

/** What hostile clients are asked to do, until they are told to stop. It can be cloned into another process. */
export interface HostileJob {
  /** `http://host:port`. */
  readonly url: string;
  readonly groups: readonly HostileGroup[];
}

/** Clients who do the same over and over, each with one request at a time. */
export interface HostileGroup {
  /** What the tally calls it. */
  readonly name: string;
  readonly key: string;
  readonly path: HostilePath;
  readonly body: BodyRecipe;
  readonly clients: number;
  /** How much of the body is sent: `half`, and the connection is reset; `most`, and then a byte a second. */
  readonly sends: "all" | "half" | "most";
  /** How much of a reply is read. Of `nothing` the first twelve bytes are, which say whether it is a refusal. */
  readonly reads: "everything" | "nothing";
  /** How long a request is held on to that is not sent to its end, or not read. Then another takes its place. */
  readonly holdMs: number;
  /** From the end of a request to the next one, refusals among them. */
  readonly pauseMs: number;
}

/**
 * How a request ended: `finished` its reply was read to its end, `held` until the client gave it up, `reset` in the middle
 * of its body, `cut` by the server; or it was refused with that status.
 */
export type Outcome = "finished" | "held" | "reset" | "cut" | `status ${number}`;

/** What became of the requests of the groups, by name, and what it took to make them. */
export interface HostileTally {
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Share of one core that the clients took: near 1 they are what limits the load. */
  readonly cpuShare: number;
}
