import type { LanguageTag } from "../../text/languages/language.ts";
import type { PlannedSpeaker, Register } from "../prosody/delivery.ts";
import {
  interpolateOverFrequency,
  REMOVE_RUMBLE_AND_BUZZ,
  softenConsonants,
  type TransformFactory,
  trebleTiltDb,
  UNCHANGED_SPECTRUM,
  warpSpectralEnvelope,
} from "./spectral-envelope.ts";
import { createThumpLimiter } from "./thump-limiter.ts";

export interface EmbeddedSpeaker extends PlannedSpeaker {
  /** Absent for English. */
  readonly language?: LanguageTag;
  /** Label of the network's adapter (`voices/heart/cast`); `null` for the voice as trained. */
  readonly adapter: string | null;
  readonly spectrumTransform: TransformFactory;
  /** Factor on the pitch that the decoder gets: its filters are cleaner near the pitch of its training. */
  readonly decoderPitch: number;
  readonly gain: number;
}

export interface Physique {
  readonly level: number;
  readonly range: number;
  /** Factor on formant frequencies: 0.84, a longer vocal tract, moves what was at 1000 Hz to 840 Hz. */
  readonly warp: number;
}

export interface StartingForm extends Physique {
  transformFor(warp: number): TransformFactory;
  readonly decoderPitch: number;
}

export interface EmbeddedVoice extends EmbeddedSpeaker, Physique {
  /** Loudness (ITU-R BS.1770; measured on the Harvard sentences). */
  readonly loudnessLufs: number;
  readonly unlimitedTransform: TransformFactory;
  /** Forms to start following from, if any: the voice's own, to follow itself unchanged, and one for others. */
  readonly startingForms: readonly StartingForm[];
}

/**
 * Creates the voices. `0` is the voice as trained, a woman's; `5` to `14` have trained adapters ({@link TRAINED});
 * the others are derived from `0` (docs/decisions/0046-five-people.md). `1` is a man's: deeper, with a longer vocal
 * tract, more treble where men's voices carry, slower and more even. `2` (a low woman's), `3` (a light man's) and `4`
 * (a bright woman's) move formants by factors that differ by frequency; following starts from none of them.
 */
export function createVoices(): ReadonlyMap<string, EmbeddedVoice> {
  return new Map([
    ["0", woman()],
    ["1", man()],
    ...Object.entries(DERIVED).map(([label, figures]) => [label, derived(figures)] as const),
    ...Object.entries(TRAINED).map(([label, figures]) => [label, trained(label, figures)] as const),
  ]);
}

/** Figures by which a voice is derived from `0`. The range of the pitch stays. */
interface DerivedFigures
  extends Pick<EmbeddedVoice, "level" | "warp" | "decoderPitch" | "tempo" | "loudnessLufs"> {
  /** Factors on formants in addition to `warp`, at {@link LOCAL_WARP_HZ}. */
  readonly localWarp: readonly number[];
  /** At {@link GAIN_HZ}. */
  readonly gainDb: readonly number[];
  /** Usual `pulseExcess` of the voice, in nepers of power: the base of the thump limiter's threshold. */
  readonly usualPulseExcess: number;
}

const LOCAL_WARP_HZ = [600, 1_500, 3_500];
const GAIN_HZ = [250, 800, 2_000, 3_500, 7_000];

/** Found by a search, as were those of `1`. */
const DERIVED: Readonly<Record<string, DerivedFigures>> = {
  "2": {
    level: 0.78,
    warp: 0.89,
    localWarp: [0.9, 1, 1.08],
    gainDb: [-5, 0, 3, 6, 4],
    decoderPitch: 1.19,
    tempo: 0.94,
    usualPulseExcess: -0.66,
    loudnessLufs: -27.6,
  },
  "3": {
    level: 0.68,
    warp: 0.87,
    localWarp: [1.12, 1, 0.95],
    gainDb: [-3, 0, 2.5, 6, 0],
    decoderPitch: 1.23,
    tempo: 0.92,
    usualPulseExcess: 0,
    loudnessLufs: -26.5,
  },
  "4": {
    level: 1.08,
    warp: 1.1,
    localWarp: [1.08, 1, 1.05],
    gainDb: [-5, 0, -1, 2.5, 0.5],
    decoderPitch: 1.05,
    tempo: 0.92,
    usualPulseExcess: -0.45,
    loudnessLufs: -27.9,
  },
};

function derived({ localWarp, gainDb, usualPulseExcess, ...given }: DerivedFigures): EmbeddedVoice {
  const figures = { range: 1, ...given };
  const warped = warpSpectralEnvelope({
    warp: figures.warp,
    localWarp: interpolateOverFrequency(localWarp.map((factor, at) => [LOCAL_WARP_HZ[at]!, factor])),
    gainDb: interpolateOverFrequency(gainDb.map((db, at) => [GAIN_HZ[at]!, db])),
  });
  return {
    ...DEFAULTS,
    ...figures,
    register: registerOf(figures),
    unlimitedTransform: () => warped,
    spectrumTransform: (plan) => createThumpLimiter(warped, plan, usualPulseExcess),
    startingForms: [],
  };
}

function woman(): EmbeddedVoice {
  const physique = { level: 1, range: 1, warp: 1 };
  return {
    ...physique,
    ...DEFAULTS,
    register: registerOf(physique),
    unlimitedTransform: () => UNCHANGED_SPECTRUM,
    spectrumTransform: () => UNCHANGED_SPECTRUM,
    loudnessLufs: -26.1,
    startingForms: [plainForm(physique)],
  };
}

function man(): EmbeddedVoice {
  const own = { level: 0.62, range: 1, warp: 0.75, decoderPitch: 1.2, transformFor: manTransform };
  const unlimitedTransform = own.transformFor(own.warp);
  const { level, range, warp, decoderPitch } = own;
  return {
    ...DEFAULTS,
    ...{ level, range, warp, decoderPitch },
    register: registerOf(own),
    unlimitedTransform,
    spectrumTransform: (plan) => createThumpLimiter(unlimitedTransform(plan), plan),
    tempo: 0.94,
    dynamics: 0.83,
    loudnessLufs: -27.1,
    startingForms: [own, plainForm({ level: 0.6, range: 0.9, warp: 0.84 })],
  };
}

function trained(label: string, { loudnessLufs, ...given }: Trained): EmbeddedVoice {
  const voice = woman();
  return {
    ...voice,
    adapter: label,
    ...given,
    gain: 10 ** ((voice.loudnessLufs - loudnessLufs) / 20),
    unlimitedTransform: () => REMOVE_RUMBLE_AND_BUZZ,
    // An adapter changes the pulses too: the limiter keeps its usual threshold.
    spectrumTransform: (plan) => createThumpLimiter(REMOVE_RUMBLE_AND_BUZZ, plan),
    startingForms: [],
  };
}

interface Trained extends Pick<EmbeddedVoice, "roomEnergy" | "language"> {
  /** Loudness before its gain (training/voice/loudness.mjs). */
  readonly loudnessLufs: number;
}

const TRAINED: Readonly<Record<string, Trained>> = {
  "5": { loudnessLufs: -21.4 },
  "6": { loudnessLufs: -25.2 },
  "7": { loudnessLufs: -23.6, roomEnergy: 1 },
  "8": { loudnessLufs: -22.2 },
  "9": { loudnessLufs: -20.1, roomEnergy: 0 },
  "10": { loudnessLufs: -22.4, roomEnergy: 3 },
  "11": { loudnessLufs: -23.1 },
  "12": { loudnessLufs: -23.3 },
  "13": { loudnessLufs: -25.1, language: "es" },
  "14": { loudnessLufs: -24.9, language: "es" },
};

const DEFAULTS = { adapter: null, tempo: 1, dynamics: 1, decoderPitch: 1, pause: 1, gain: 1 };

function registerOf({ level, range }: Physique): Register {
  return { centreHz: (medianHz) => medianHz * level, spread: (deviation) => deviation * range };
}

function plainForm(physique: Physique): StartingForm {
  return {
    ...physique,
    decoderPitch: 1,
    transformFor(warp) {
      // A longer tract gets its treble back: 2 dB per octave at 0.84.
      const tiltDb = Math.max(0, Math.min(2, ((1 - warp) / 0.16) * 2));
      const warped = warpSpectralEnvelope({ warp, gainDb: trebleTiltDb(tiltDb) });
      return () => warped;
    },
  };
}

function manTransform(warp: number): TransformFactory {
  const warped = warpSpectralEnvelope({ warp, gainDb: interpolateOverFrequency(TREBLE_DB) });
  return (plan) => softenConsonants(warped, plan, CONSONANT_CUT_DB);
}

const TREBLE_DB = [
  [500, 0],
  [3_000, 6],
  [4_000, 6],
  [6_000, 2],
] as const;
const CONSONANT_CUT_DB = 4;
