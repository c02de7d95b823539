import type { Register } from "../prosody/delivery.ts";
import type { Plan } from "../prosody/plan.ts";
import type { PlannedSpeaker } from "../prosody/plan-sentence.ts";
import { CLEANED, createTimbre, shelved, tilted, withSofterConsonants } from "./colour.ts";
import { createHold } from "./hold.ts";
import { type Colouring, PLAIN } from "./waveform.ts";

/** Somebody who speaks with the network. */
export interface Speaker extends PlannedSpeaker {
  /** Label of the adapter that changes the network's weights (`voices/heart/cast`); `null`: those of the voice itself. */
  readonly adapter: string | null;
  /** How one sentence's spectra are coloured: made anew for each, since a colouring may remember the frame before. */
  colour(plan: Plan): Colouring;
  /**
   * The pitch that the decoder is told, as a factor on the one that is sung: its filters are cleaner the nearer that is to
   * what it was trained with.
   */
  readonly decoderPitch: number;
  /** Factor on every sample. */
  readonly gain: number;
}

/** Pitch and vocal tract against the voice as it was trained. */
export interface Physique {
  /** Factors on the pitch and on its range. */
  readonly level: number;
  readonly range: number;
  /** Where formants go: 0.84 moves what was at 1000 Hz to 840 Hz, a longer throat. */
  readonly warp: number;
}

/** Where following begins that learns tract and colours for itself. */
export interface Form extends Physique {
  /** What is done to a sentence's spectra at any pitch, given a vocal tract. */
  colourOf(warp: number): (plan: Plan) => Colouring;
  readonly decoderPitch: number;
}

/** A voice that the network's weights give without having heard anybody. */
export interface Voice extends Speaker, Physique {
  /** How loud it speaks (ITU-R BS.1770; measured on the Harvard sentences). */
  readonly loudnessLufs: number;
  /** What it does to a sentence's spectra at any pitch. */
  unheldColour(plan: Plan): Colouring;
  /** Its own, so that it stays itself when it hears itself; and one to begin from on the way to others. May be none. */
  readonly forms: readonly Form[];
}

/**
 * `0` is the voice as it was trained, a woman's. `5` to `12` have been trained further ({@link TRAINED}). The others are derived
 * from `0`. `1` is a man's: deeper, with a longer
 * vocal tract, more treble where men's voices carry, slower and more even (docs/decisions/0015). The formants of `2`, a low
 * woman's, `3`, a light man's, and `4`, a bright woman's, are moved by a factor that differs by frequency (docs/decisions/0046);
 * following begins with none of them.
 */
export function createVoices(): ReadonlyMap<string, Voice> {
  return new Map([
    ["0", woman()],
    ["1", man()],
    ...Object.entries(COMPANY).map(([label, figures]) => [label, derived(figures)] as const),
    ...Object.entries(TRAINED).map(([label, figures]) => [label, trained(label, figures)] as const),
  ]);
}

/** What somebody is derived from the voice as it was trained by; the range of the pitch stays. */
interface Figures extends Pick<Voice, "level" | "warp" | "decoderPitch" | "tempo" | "loudnessLufs"> {
  /** Factors on formants beside `warp`, at {@link BEND_HZ}. */
  readonly bend: readonly number[];
  /** At {@link GAIN_HZ}. */
  readonly gainDb: readonly number[];
  /** Of its pulses as a rule, in nepers of power: see `createHold`. */
  readonly pulses: number;
}

const BEND_HZ = [600, 1_500, 3_500];
const GAIN_HZ = [250, 800, 2_000, 3_500, 7_000];

/** Found by a search, as those of `1` were. */
const COMPANY: Readonly<Record<string, Figures>> = {
  "2": {
    level: 0.78,
    warp: 0.89,
    bend: [0.9, 1, 1.08],
    gainDb: [-5, 0, 3, 6, 4],
    decoderPitch: 1.19,
    tempo: 0.94,
    pulses: -0.66,
    loudnessLufs: -27.6,
  },
  "3": {
    level: 0.68,
    warp: 0.87,
    bend: [1.12, 1, 0.95],
    gainDb: [-3, 0, 2.5, 6, 0],
    decoderPitch: 1.23,
    tempo: 0.92,
    pulses: 0,
    loudnessLufs: -26.5,
  },
  "4": {
    level: 1.08,
    warp: 1.1,
    bend: [1.08, 1, 1.05],
    gainDb: [-5, 0, -1, 2.5, 0.5],
    decoderPitch: 1.05,
    tempo: 0.92,
    pulses: -0.45,
    loudnessLufs: -27.9,
  },
};

function derived({ bend, gainDb, pulses, ...given }: Figures): Voice {
  const figures = { range: 1, ...given };
  const stretched = createTimbre({
    warp: figures.warp,
    bend: shelved(bend.map((factor, at) => [BEND_HZ[at]!, factor])),
    gainDb: shelved(gainDb.map((db, at) => [GAIN_HZ[at]!, db])),
  });
  return {
    ...AVERAGE,
    ...figures,
    register: registerOf(figures),
    unheldColour: () => stretched,
    colour: (plan) => createHold(stretched, plan, pulses),
    forms: [],
  };
}

function woman(): Voice {
  const physique = { level: 1, range: 1, warp: 1 };
  return {
    ...physique,
    ...AVERAGE,
    register: registerOf(physique),
    unheldColour: () => PLAIN,
    colour: () => PLAIN,
    loudnessLufs: -26.1,
    forms: [plainForm(physique)],
  };
}

function man(): Voice {
  const own = { level: 0.62, range: 1, warp: 0.75, decoderPitch: 1.2, colourOf: mansColour };
  const unheldColour = own.colourOf(own.warp);
  const { level, range, warp, decoderPitch } = own;
  return {
    ...AVERAGE,
    ...{ level, range, warp, decoderPitch },
    register: registerOf(own),
    unheldColour,
    colour: (plan) => createHold(unheldColour(plan), plan),
    tempo: 0.94,
    dynamics: 0.83,
    loudnessLufs: -27.1,
    forms: [own, plainForm({ level: 0.6, range: 0.9, warp: 0.84 })],
  };
}

/** Somebody with a trained adapter, made as loud as `0`. */
function trained(label: string, { loudnessLufs, ...room }: Trained): Voice {
  const voice = woman();
  return {
    ...voice,
    adapter: label,
    ...room,
    gain: 10 ** ((voice.loudnessLufs - loudnessLufs) / 20),
    unheldColour: () => CLEANED,
    // Its pulses are another's: what is far above them is held down by the same rule.
    colour: (plan) => createHold(CLEANED, plan),
    forms: [],
  };
}

/** Of somebody with a trained adapter, whose room is their teacher's. */
interface Trained extends Pick<Voice, "roomEnergy"> {
  /** How loud it is before its gain (training/voice/loudness.mjs). */
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
};

const AVERAGE = { adapter: null, tempo: 1, dynamics: 1, decoderPitch: 1, pause: 1, gain: 1 };

function registerOf({ level, range }: Physique): Register {
  return { centreHz: (medianHz) => medianHz * level, spread: (deviation) => deviation * range };
}

function plainForm(physique: Physique): Form {
  return {
    ...physique,
    decoderPitch: 1,
    colourOf(warp) {
      const stretched = createTimbre({ warp, gainDb: tilted(tiltFor(warp)) });
      return () => stretched;
    },
  };
}

/** The treble that a longer tract costs is put back: 2 dB an octave for one of 0.84. */
function tiltFor(warp: number): number {
  return Math.max(0, Math.min(2, ((1 - warp) / 0.16) * 2));
}

function mansColour(warp: number): (plan: Plan) => Colouring {
  const stretched = createTimbre({ warp, gainDb: shelved(TREBLE_DB) });
  return (plan) => withSofterConsonants(stretched, plan, SOFTER_DB);
}

/** Decibels at frequencies in hertz. */
const TREBLE_DB = [
  [500, 0],
  [3_000, 6],
  [4_000, 6],
  [6_000, 2],
] as const;
const SOFTER_DB = 4;
