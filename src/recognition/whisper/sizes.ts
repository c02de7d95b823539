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

/** Width of a head in every Whisper model. */
export const HEAD_WIDTH = 64;

/** What Whisper hears at. */
export const WHISPER_RATE_HZ = 16_000;
/** Samples of one of the encoder's positions. */
export const POSITION = 320;
export const POSITION_S = POSITION / WHISPER_RATE_HZ;
/** The longest stretch that it hears at once. */
export const WINDOW_S = 30;
