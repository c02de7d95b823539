/** Block of decoded samples, owned by the decoder and valid until the next block. */
export interface DecodedBlock {
  /** One array per channel, of equal length. */
  readonly channels: readonly (Float32Array | Int32Array)[];
  /** Valid samples: from `from` (inclusive) to `to` (exclusive). */
  readonly from: number;
  readonly to: number;
  /** Factor that scales the samples to [-1, 1]; `null` for one channel of finite numbers already in that range. */
  readonly scale: number | null;
}

/** File that was checked but not decoded yet. */
export interface RecordingDecoder {
  readonly sampleRateHz: number;
  /** Upper bound of the length in seconds: exact, except for MP3 and for FLAC of undeclared length. */
  readonly boundS: number;
  /** Decodes lazily, once. Returning early frees the decoder. */
  blocks(): AsyncGenerator<DecodedBlock, void, void>;
}

export class RecordingTooLongError extends Error {
  override readonly name = "RecordingTooLongError";
  readonly maxS: number;

  constructor(maxS: number) {
    super(`the recording is longer than ${maxS} s`);
    this.maxS = maxS;
  }
}
