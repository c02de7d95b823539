/** The one audio format inside Antiphon and on its wire: mono, 24 kHz, in frames of 80 ms. */
export const SAMPLE_RATE_HZ = 24_000;

/** Samples in one frame: 80 ms at 24 kHz. The last frame of an utterance may be shorter. */
export const FRAME_SAMPLES = 1_920;

/** Length of a full frame in seconds. */
export const FRAME_S = FRAME_SAMPLES / SAMPLE_RATE_HZ;
