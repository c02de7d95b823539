/** How patient a pull is. */
export interface PullTimes {
  /** Until a server has taken the connection. Short: whoever has no way to one source should soon be at the next. */
  readonly connectTimeoutMs: number;
  /** Until a server has begun its answer, and within which it has to send at least `stallBytes` at every time. */
  readonly stallTimeoutMs: number;
  readonly stallBytes: number;
  /** Before each try that follows one that brought nothing new; after the last, the source is given up. */
  readonly retryDelaysMs: readonly number[];
  /** The longest `Retry-After` that is waited for. */
  readonly longestWaitMs: number;
  /** For all that pip does, and the unpacking. */
  readonly pipTimeoutMs: number;
  /** Between two looks at how much of a wheel pip has. */
  readonly pipLookMs: number;
  /** Between two looks whether another process is done. */
  readonly lockPollMs: number;
  /** After which the lock of a process that no longer renews it counts for nothing; at least 2 s. */
  readonly lockStaleMs: number;
}

/** For people on ordinary networks. */
export const DEFAULT_TIMES: PullTimes = {
  connectTimeoutMs: 5_000,
  stallTimeoutMs: 30_000,
  stallBytes: 16_384,
  retryDelaysMs: [500, 1_000, 2_000, 4_000],
  longestWaitMs: 60_000,
  pipTimeoutMs: 1_800_000,
  pipLookMs: 250,
  lockPollMs: 500,
  lockStaleMs: 10_000,
};
