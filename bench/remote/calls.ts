/** Requests for speech that are sent to an endpoint, all at once. */
export interface Calls {
  /** `http://host:port`. */
  readonly url: string;
  readonly key: string;
  /** A client that only reads, or our model of either kind. */
  readonly how: "bare" | "openai" | "antiphon";
  readonly streams: number;
  readonly text: string;
}

/** What they took. */
export interface Called {
  readonly cpuS: number;
  readonly audioS: number;
  /** From before the request until its first frame, of each. */
  readonly firstMs: readonly number[];
}
