/** What a plan's time is counted in: the frames of Kokoro-82M, whose durations, pitch and energy our own voice learned. */

/** Samples from one frame to the next: 12.5 ms at 24 kHz. */
export const HOP_SAMPLES = 300;

/** Frames in one step of a duration: durations count 25 ms. */
export const FRAMES_PER_STEP = 2;

/** Length of a frame in seconds. */
export const FRAME_S = 0.0125;

/** Pitch at or below which a frame is unvoiced. */
export const VOICED_ABOVE_HZ = 40;
