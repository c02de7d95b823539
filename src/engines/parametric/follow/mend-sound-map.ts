import { BAND_HZ, BANDS } from "../listen/bands.ts";
import type { Heard } from "./learn-sound-map.ts";
import { edgeShare, levelled } from "./levelled.ts";
import { meanSpectrum } from "./sound-kinds.ts";
import type { SoundMap } from "./sound-map.ts";

/**
 * The same map, corrected by what a rehearsal gave: what all gains were to do to the mean of our sound, and what they
 * did (a frame's kind is seen in its description, not in its sound, and neighbouring frames sound together); and by some
 * of what lacks still in the spectrum of the loud sounds. The loudness stays.
 */
export function mendedMap(map: SoundMap, bare: Float32Array, mapped: Float32Array, heard: Heard): SoundMap {
  const { bandLimit } = map.frame;
  const [before, after] = [meanSpectrum(bare), meanSpectrum(mapped)];
  const [ours, theirs] = [powerSpectrum(mapped), powerSpectrum(heard.sound)];
  const lacking = map.meant.map((gain, band) => gain - (after[band]! - before[band]!));
  const loud = levelled(
    theirs.map((value, band) => value - ours[band]!),
    bandLimit,
  );
  const correction = lacking.map((value, band) => {
    const inLoud = LOUD_SHARE * heard.strength * loud[band]!;
    const lacks = within(MENDED * value, MAX_MENDED) + within(inLoud, MAX_MENDED);
    return edgeShare(band, bandLimit) * lacks;
  });
  const level = loudnessChange(ours, correction);
  return { ...map, gains: map.gains.map((gain, at) => gain + correction[at % BANDS]! - level) };
}

/** Logarithm of the mean power. */
function powerSpectrum(sound: Float32Array): Float64Array {
  return meanSpectrum(sound.map(Math.exp)).map(Math.log);
}

/** By how much gains change the loudness of a spectrum: everything in natural logarithms of power. */
function loudnessChange(spectrum: Float64Array, gains: Float64Array): number {
  let [before, after] = [0, 0];
  spectrum.forEach((power, band) => {
    const hz = BAND_HZ[band]!;
    // Bands are as wide as mel steps are; ITU-R BS.1770 raises what is above 1.5 kHz by 4 dB and more below.
    const heard = (700 + hz) * (1 + 1.5 / (1 + (1_500 / hz) ** 2)) * Math.exp(power);
    before += heard;
    after += heard * Math.exp(gains[band]!);
  });
  return Math.log(after / before);
}

function within(value: number, max: number): number {
  return Math.max(-max, Math.min(max, value));
}

/** Share of what lacks that is made up for; of what lacks in the loud sounds; and most of either. */
const MENDED = 0.8;
const LOUD_SHARE = 0.5;
const MAX_MENDED = (5 * Math.LN10) / 10;
