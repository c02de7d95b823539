/** Sizes of a Whisper model (Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022). */
export interface WhisperSizes {
  readonly mels: number;
  /** Of the residual stream; each head has 64 of it. */
  readonly width: number;
  readonly heads: number;
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  /** Positions of the encoder, 20 ms each: 1500. */
  readonly audioPositions: number;
  /** Tokens that the decoder can read and write: 448. */
  readonly textPositions: number;
  readonly vocabulary: number;
}

/**
 * The numbers of a Whisper model, by the names that Hugging Face gives them, without `model.` in front:
 * `encoder.layers.0.self_attn.q_proj.weight`, [out, in].
 */
export interface WhisperWeights {
  readonly sizes: WhisperSizes;
  /** @throws WeightsError when there is none, or it has another shape. */
  read(name: string, shape: readonly number[]): Promise<Float32Array>;
  close(): Promise<void>;
}

/** Width of a head in every Whisper model. */
export const HEAD_WIDTH = 64;
