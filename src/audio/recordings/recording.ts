/** Samples that a decoder gives at a time. They are the decoder's own, and good until the next ones are asked for. */
export interface DecodedBlock {
  /** One array a channel, all as long. */
  readonly channels: readonly (Float32Array | Int32Array)[];
  /** Which samples count: from `from`, inclusive, to `to`, exclusive. */
  readonly from: number;
  readonly to: number;
  /** What makes them lie in [-1, 1]; `null` where they are one channel of finite numbers in that range already. */
  readonly scale: number | null;
}

/** A file that was looked over, and not decoded yet. */
export interface RecordingDecoder {
  readonly sampleRateHz: number;
  /** An upper bound of its length in seconds: exact, but in MP3, and in FLAC that does not say its length. */
  readonly boundS: number;
  /** Decodes it, as far as blocks are asked for. Once. Whoever leaves it early ends it, which frees what it took. */
  blocks(): AsyncGenerator<DecodedBlock, void, void>;
}

/** A recording that is longer than what is taken. */
export class RecordingTooLongError extends Error {
  override readonly name = "RecordingTooLongError";
  readonly maxS: number;

  constructor(maxS: number) {
    super(`the recording is longer than ${maxS} s`);
    this.maxS = maxS;
  }
}
