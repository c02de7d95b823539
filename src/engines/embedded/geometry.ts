import { BINS } from "../prosody/spectral-frame.ts";

/**
 * The numbers that the voice's network was trained with (voices/heart/split/README.md; hibari-tts 0.2.1, dsp.py).
 */

/** Spectral frames that the decoder sees before and after the one it describes: nine convolutions of width 7. */
export const CONTEXT_FRAMES = 27;

/**
 * The five parts that the decoder gives of each frame, each of {@link BINS} values, in this order: log magnitude and
 * phase (as a hyperbolic tangent's argument) of the filter on the pulse train; log magnitude of the noise; log
 * magnitude and phase of the free part, which carries what is unvoiced.
 */
export const PART = {
  pulseGain: 0,
  pulsePhase: BINS,
  noiseGain: 2 * BINS,
  freeGain: 3 * BINS,
  freePhase: 4 * BINS,
};

/** Values in one frame of the decoder's output. */
export const SPECTRUM_VALUES = 5 * BINS;
