import { noise } from "./signals.ts";

export interface SyntheticVoice {
  readonly sampleRateHz?: number;
  readonly durationS?: number;
  readonly pitchHz?: number;
  /** Formant scale relative to a woman; 0.84 is a man's. */
  readonly tract?: number;
  /** Selects vowels and pauses. */
  readonly seed?: number;
  /** Room noise in dBFS. */
  readonly roomDb?: number;
}

/**
 * A speech-like sound: harmonics of a falling, trembling pitch, four vowels a second, a hiss before every third, a
 * pause of 0.3 s after five of them. About −23 dBFS.
 */
export function syntheticVoice({
  sampleRateHz = 24_000,
  durationS = 3,
  pitchHz = 190,
  tract = 1,
  seed = 0,
  roomDb = -70,
}: SyntheticVoice = {}): Float32Array {
  const samples = new Float32Array(Math.round(durationS * sampleRateHz));
  const [hiss, room] = [noise(samples.length, seed + 1), noise(samples.length, seed + 2)];
  const roomPeak = 10 ** (roomDb / 20);
  const block = Math.round(0.005 * sampleRateHz);
  const highest = Math.floor((0.45 * sampleRateHz) / pitchHz);
  const amplitudes = new Float64Array(highest + 1);
  let phase = 0;
  for (let n = 0; n < samples.length; n++) {
    const place = placeAt(n / sampleRateHz + 0.13 * seed);
    const hz = pitchHz * 2 ** ((2.5 - 5 * place.inPhrase + 0.3 * Math.sin(place.timeS * 34)) / 12);
    phase += (2 * Math.PI * hz) / sampleRateHz;
    if (n % block === 0) {
      for (let h = 1; h <= highest; h++) amplitudes[h] = envelope((h * hz) / tract, place.vowel + seed) / h;
    }
    samples[n] = roomPeak * room[n]! + 0.05 * place.hiss * hiss[n]!;
    if (place.level === 0) continue;
    let sum = 0;
    for (let h = 1; h <= highest; h++) sum += amplitudes[h]! * Math.sin(h * phase + h * h);
    samples[n]! += 0.35 * place.level * sum;
  }
  return samples;
}

const SYLLABLE_S = 0.25;
const PHRASE_SYLLABLES = 5;
const PHRASE_S = PHRASE_SYLLABLES * SYLLABLE_S + 0.3;

/** The phase of the utterance at a time. */
function placeAt(timeS: number) {
  const phrase = Math.floor(timeS / PHRASE_S);
  const inPhraseS = timeS - phrase * PHRASE_S;
  const syllable = Math.floor(inPhraseS / SYLLABLE_S);
  const part = inPhraseS / SYLLABLE_S - syllable;
  const isPause = syllable >= PHRASE_SYLLABLES;
  const isHiss = !isPause && syllable % 3 === 0 && part < 0.3;
  return {
    timeS,
    inPhrase: Math.min(1, inPhraseS / (PHRASE_SYLLABLES * SYLLABLE_S)),
    vowel: phrase * PHRASE_SYLLABLES + syllable,
    hiss: isHiss ? 1 : 0,
    level: isPause || isHiss ? 0 : 10 ** ((-18 * (2 * part - 1) ** 2) / 20),
  };
}

/** Formants of five vowels, in hertz (about Peterson and Barney's women, 1952). */
const VOWELS: readonly (readonly number[])[] = [
  [850, 1_220, 2_810, 4_000],
  [310, 2_790, 3_310, 4_300],
  [370, 950, 2_670, 3_900],
  [610, 2_330, 2_990, 4_200],
  [590, 920, 2_710, 3_800],
];

function envelope(hz: number, vowel: number): number {
  const formants = VOWELS[vowel % VOWELS.length]!;
  return (
    0.01 + formants.reduce((sum, at, i) => sum + 0.6 ** i / (1 + ((hz - at) / (60 + 0.05 * at)) ** 2), 0)
  );
}
