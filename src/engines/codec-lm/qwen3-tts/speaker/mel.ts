import { RealFourier } from "../../../../audio/fourier.ts";
import { melFilters } from "../../../../audio/mel-filters.ts";

/** Bands of the mel spectrum. */
export const MELS = 128;

const RATE_HZ = 24_000;
const SIZE = 1_024;
const HOP = 256;
/** Samples that are reflected at either end. */
const EDGE = (SIZE - HOP) / 2;

/** The filters of a spectrum of 1024 samples at 24 kHz, [128, 513]. */
export const speakerMelFilters = (): Float32Array => melFilters(MELS, SIZE, RATE_HZ);

/**
 * The logarithms of a voice's mel spectrum: frames of 1024 samples, 256 apart, under a periodic Hann window; magnitudes,
 * not powers.
 *
 * @param audio mono at 24 kHz, more than 384 samples; its amplitude is taken as it is
 * @returns [128, floor(samples / 256)]
 */
export function melSpectrum(audio: Float32Array): Float32Array {
  const count = Math.floor(audio.length / HOP);
  const fourier = new RealFourier(SIZE);
  const hann = Float64Array.from(
    { length: SIZE },
    (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / SIZE),
  );
  const filters = speakerMelFilters();
  const frame = new Float64Array(SIZE);
  const magnitudes = new Float64Array(fourier.bins);
  const mels = new Float32Array(MELS * count);
  for (let at = 0; at < count; at++) {
    for (let n = 0; n < SIZE; n++) frame[n] = hann[n]! * reflected(audio, at * HOP + n - EDGE);
    fourier.powers(frame, magnitudes);
    for (let bin = 0; bin < magnitudes.length; bin++) magnitudes[bin] = Math.sqrt(magnitudes[bin]! + 1e-9);
    for (let mel = 0; mel < MELS; mel++) {
      let sum = 0;
      for (let bin = 0; bin < magnitudes.length; bin++) {
        sum += filters[mel * magnitudes.length + bin]! * magnitudes[bin]!;
      }
      mels[mel * count + at] = Math.log(Math.max(sum, 1e-5));
    }
  }
  return mels;
}

/** A sample, also of what lies beyond the ends: mirrored there, without the last sample twice. */
function reflected(audio: Float32Array, at: number): number {
  const last = audio.length - 1;
  return audio[at < 0 ? -at : at > last ? 2 * last - at : at]!;
}
