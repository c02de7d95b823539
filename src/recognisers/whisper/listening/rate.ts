/** What Whisper hears at. */
export const WHISPER_RATE_HZ = 16_000;
/** Samples of one of the encoder's positions. */
export const POSITION = 320;
export const POSITION_S = POSITION / WHISPER_RATE_HZ;
/** The most that it hears at once. */
export const WINDOW_S = 30;
