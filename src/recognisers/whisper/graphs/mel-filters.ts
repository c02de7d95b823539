/** Bins of the spectrum of 400 samples at 16 kHz: 40 Hz apart. */
export const SPECTRUM_BINS = 201;
const BIN_HZ = 40;
const NYQUIST_HZ = 8_000;

/**
 * Triangular filters on the mel scale of Slaney's "Auditory Toolbox" (1998), each with an area of one: the filters of
 * `librosa.filters.mel(sr=16000, n_fft=400)`, which Whisper was trained with. [mels, 201], row-major.
 */
export function melFilters(mels: number): Float32Array {
  const edgesHz = Array.from({ length: mels + 2 }, (_, at) => toHz((toMel(NYQUIST_HZ) * at) / (mels + 1)));
  const filters = new Float32Array(mels * SPECTRUM_BINS);
  for (let mel = 0; mel < mels; mel++) {
    const [low, peak, high] = [edgesHz[mel]!, edgesHz[mel + 1]!, edgesHz[mel + 2]!];
    for (let bin = 0; bin < SPECTRUM_BINS; bin++) {
      const hz = bin * BIN_HZ;
      const height = Math.min((hz - low) / (peak - low), (high - hz) / (high - peak));
      filters[mel * SPECTRUM_BINS + bin] = (Math.max(0, height) * 2) / (high - low);
    }
  }
  return filters;
}

/** Linear to 1000 Hz, then logarithmic: 27 steps to 6400 Hz. */
const LINEAR_HZ = 200 / 3;
const CORNER_HZ = 1_000;
const CORNER_MEL = CORNER_HZ / LINEAR_HZ;
const LOG_STEP = Math.log(6.4) / 27;

function toMel(hz: number): number {
  return hz < CORNER_HZ ? hz / LINEAR_HZ : CORNER_MEL + Math.log(hz / CORNER_HZ) / LOG_STEP;
}

function toHz(mel: number): number {
  return mel < CORNER_MEL ? mel * LINEAR_HZ : CORNER_HZ * Math.exp(LOG_STEP * (mel - CORNER_MEL));
}
