/** Samples per frame: 12.5 ms at 24 kHz. Kokoro-82M plans in these frames, and the embedded voice learned from it. */
export const HOP_SAMPLES = 300;

/** Durations count steps of 25 ms. */
export const FRAMES_PER_STEP = 2;

export const FRAME_S = 0.0125;

/** Highest pitch of unvoiced frames. */
export const VOICED_ABOVE_HZ = 40;

/** Samples under the analysis window, 50 ms, for clips as in the network's training (hibari-tts 0.2.1, dsp.py). */
export const WINDOW_SAMPLES = 1_200;

/** Spectral bins, 20 Hz apart, from 0 Hz to 12 kHz. */
export const BINS = 601;

export const BIN_HZ = 20;
