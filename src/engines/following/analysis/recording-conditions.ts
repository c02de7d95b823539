import type { Activity } from "./activity.ts";
import { BAND_HZ, BANDS, MAX_BAND_HZ } from "./bands.ts";
import type { ClipFrames } from "./clip-frames.ts";

/** What a clip tells of its recording, whoever speaks in it. */
export interface RecordingConditions {
  /** Level of the speech above what is heard between it, in decibels; 60 where nothing is heard. */
  readonly signalToNoiseDb: number;
  /** Above this frequency there is no speech, only silence or noise. At most 7.8 kHz, where the bands end. */
  readonly bandEdgeHz: number;
  /** Share of the samples at which the signal is cut flat. */
  readonly clippedShare: number;
  /** Mean power of the noise in each band, [40]; zeros where too little of it was heard alone. */
  readonly noise: Float64Array;
  /** Mean power of the speech in each band, noise included, [40]. */
  readonly speech: Float64Array;
}

/** @param samples the clip at its own rate: resampling rounds off what was cut flat */
export function recordingConditions(
  samples: Float32Array,
  frames: ClipFrames,
  { isSpeech }: Activity,
): RecordingConditions {
  const speech = meanPowers(frames, (frame) => isSpeech[frame] === 1);
  const noise = meanPowers(
    frames,
    (frame) => isSpeech[frame] === 0 && isApart(isSpeech, frame),
    MIN_NOISE_FRAMES,
  );
  const [spokenPower, noisePower] = [total(speech), total(noise)];
  return {
    signalToNoiseDb:
      noisePower > 0 && spokenPower > 0
        ? Math.max(0, Math.min(CLEAN_DB, 10 * Math.log10(spokenPower / noisePower)))
        : CLEAN_DB,
    bandEdgeHz: edgeHz(speech, noise),
    clippedShare: clippedShare(samples),
    noise,
    speech,
  };
}

const CLEAN_DB = 60;
/** 150 ms: in less there are only the speech's own dips. */
const MIN_NOISE_FRAMES = 12;
/** What is closer to speech than this is its rise or its dying away. */
const APART_FRAMES = 3;

function isApart(isSpeech: Uint8Array, frame: number): boolean {
  for (let at = frame - APART_FRAMES; at <= frame + APART_FRAMES; at++) if (isSpeech[at] === 1) return false;
  return true;
}

/** Mean powers of the frames that are meant; zeros where they are fewer than `minFrames`. */
function meanPowers(frames: ClipFrames, isMeant: (frame: number) => boolean, minFrames = 1): Float64Array {
  const powers = new Float64Array(BANDS);
  let count = 0;
  for (let frame = 0; frame < frames.count; frame++) {
    if (!isMeant(frame)) continue;
    count++;
    for (let band = 0; band < BANDS; band++) powers[band]! += Math.exp(frames.bands[frame * BANDS + band]!);
  }
  return count < minFrames ? new Float64Array(BANDS) : powers.map((power) => power / count);
}

/** Speech is some 40 dB softer at 7 kHz than where it is loudest; a filter's stop band is softer still. */
const BAND_RANGE = 10 ** -5.8;
/** 3 dB: less above the noise is only noise. */
const ABOVE_NOISE = 2;

function edgeHz(speech: Float64Array, noise: Float64Array): number {
  const loudest = speech.reduce((a, b) => Math.max(a, b), 0);
  let band = BANDS - 1;
  while (band > 0 && !(speech[band]! > loudest * BAND_RANGE && speech[band]! > ABOVE_NOISE * noise[band]!)) {
    band--;
  }
  return band === BANDS - 1 ? MAX_BAND_HZ : BAND_HZ[band]!;
}

/** Two samples in a row at the clip's own peak, which is loud: a converter or a limiter that could go no further. */
function clippedShare(samples: Float32Array): number {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  if (peak < LOUD_PEAK) return 0;
  let flat = 0;
  for (let i = 1; i < samples.length; i++) {
    if (Math.abs(samples[i]!) > FLAT * peak && Math.abs(samples[i - 1]!) > FLAT * peak) flat++;
  }
  return flat / samples.length;
}

const LOUD_PEAK = 0.25;
const FLAT = 0.985;

function total(powers: Float64Array): number {
  return powers.reduce((sum, power) => sum + power, 0);
}
