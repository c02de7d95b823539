/**
 * How a sound is looked at, frame by frame: as the embedded voice's network was trained to describe it (hibari-tts 0.2.1, dsp.py),
 * and clips of others likewise, so that both can be compared.
 */

/** Samples under the analysis window, and points of its Fourier transform: 50 ms. */
export const WINDOW_SAMPLES = 1_200;

/** Spectral bins, 20 Hz apart, from 0 Hz to 12 kHz. */
export const BINS = 601;

/** Width of one bin in hertz. */
export const BIN_HZ = 20;
