/**
 * Triangular filters on the mel scale of Slaney's "Auditory Toolbox" (1998), from 0 Hz to half the rate, each with an area
 * of one: `librosa.filters.mel(sr=rateHz, n_fft=size, n_mels=mels)`.
 *
 * @param size samples of the spectrum's frame
 * @returns [mels, size / 2 + 1], row-major
 */
export function melFilters(mels: number, size: number, rateHz: number): Float32Array {
  const top = toMel(rateHz / 2);
  const edgesHz = Array.from({ length: mels + 2 }, (_, at) => toHz((top * at) / (mels + 1)));
  const bins = size / 2 + 1;
  const filters = new Float32Array(mels * bins);
  for (let mel = 0; mel < mels; mel++) {
    const [low, peak, high] = [edgesHz[mel]!, edgesHz[mel + 1]!, edgesHz[mel + 2]!];
    for (let bin = 0; bin < bins; bin++) {
      const hz = (bin * rateHz) / size;
      const height = Math.min((hz - low) / (peak - low), (high - hz) / (high - peak));
      filters[mel * bins + bin] = (Math.max(0, height) * 2) / (high - low);
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
