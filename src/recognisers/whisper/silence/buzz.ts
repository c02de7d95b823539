import { WHISPER_RATE_HZ } from "../listening/rate.ts";

/**
 * Two seconds that are as loud as speech, to be followed by silence: what the encoder makes of the silence depends on
 * the loudest sound before it, because Whisper cuts its spectrogram off below that. A buzz of 120 Hz through two
 * resonances, in syllables of 0.25 s, whose spectrum and level are near those of a vowel at conversational level.
 */
export function buzz(): Float32Array {
  const samples = new Float32Array(2 * WHISPER_RATE_HZ);
  for (let harmonic = 1; harmonic * PITCH_HZ < 4_000; harmonic++) {
    const hz = harmonic * PITCH_HZ;
    const gain = RESONANCES_HZ.reduce((sum, peak) => sum + 1 / (1 + ((hz - peak) / 90) ** 2), 0.02);
    for (let at = 0; at < samples.length; at++) {
      samples[at]! += (gain / harmonic) * Math.sin((2 * Math.PI * hz * at) / WHISPER_RATE_HZ + harmonic ** 2);
    }
  }
  const peak = samples.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return samples.map((value, at) => (PEAK / peak) * value * Math.sin((Math.PI * at) / SYLLABLE) ** 2);
}

const PITCH_HZ = 120;
const RESONANCES_HZ = [600, 1_200];
const SYLLABLE = WHISPER_RATE_HZ / 4;
const PEAK = 0.3;
