/** What a file of recorded speech holds. */
export interface Recording {
  /** Mono, in [-1, 1]. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRateHz: number;
  readonly durationS: number;
}

/** A recording that is longer than what is taken. */
export class RecordingTooLongError extends Error {
  override readonly name = "RecordingTooLongError";
  readonly mostS: number;

  constructor(mostS: number) {
    super(`the recording is longer than ${mostS} s`);
    this.mostS = mostS;
  }
}
