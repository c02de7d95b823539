import type { RunManner } from "../../core/marked-text.ts";
import type { Accent } from "../phonemes/accent.ts";
import { MAX_PAUSE_S, MarkupError, secondsOf, type VoiceLanguages } from "./markup.ts";
import type { Tag } from "./xml.ts";

/** A parsed value (`isClamped` if it exceeded the voice's range), or what is wrong with it and what to write. */
export type AttributeValue<T> =
  | { readonly value: T; readonly isClamped?: boolean }
  | { readonly problem: string };

/** Seconds of silence. A sentence ends with a medium break, a paragraph with a strong one. */
const STRENGTHS: ReadonlyMap<string, number> = new Map(
  Object.entries({ none: 0, "x-weak": 0.1, weak: 0.22, medium: 0.4, strong: 0.7, "x-strong": 1 }),
);

/** Seconds of silence for a `break`: its time, else its strength, else a medium one. */
export function breakS(time: string | undefined, strength: string | undefined): AttributeValue<number> {
  const named = STRENGTHS.get(strength?.trim() ?? "medium");
  if (named === undefined)
    return { problem: `strength is none of ${[...STRENGTHS.keys()].join(", ")}: write one of these` };
  if (time === undefined) return { value: named };
  const seconds = secondsOf(time.trim());
  if (seconds === null)
    return { problem: "time cannot be read: write seconds or milliseconds, as in 0.8s or 800ms" };
  if (seconds > MAX_PAUSE_S)
    return { problem: `time may be at most ${MAX_PAUSE_S}s: make it shorter, or write several` };
  return { value: seconds };
}

/** Parses a rate relative to the voice's own. @param around the rate of the parent element */
export function rateOf(written: string, around: number): AttributeValue<number> {
  const named = RATES.get(written);
  if (named !== undefined) return { value: named };
  const [, sign, number, unit] = /^([+-]?)(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(%?)$/.exec(written) ?? [];
  if (number === undefined)
    return {
      problem: `rate is none of ${[...RATES.keys()].join(", ")} and no percentage: write one, as in 80%`,
    };
  const amount = Number(number) / (unit === "%" ? 100 : 1);
  const factor = sign === "" ? amount : around * Math.max(0, 1 + (sign === "-" ? -amount : amount));
  return clamp(factor, BOUNDS.rate);
}

type Pitch = Pick<RunManner, "pitch" | "pitchHz" | "addedHz">;

/** Parses a pitch. @param around the pitch of the parent element */
export function pitchOf(written: string, { pitch, pitchHz, addedHz }: Pitch): AttributeValue<Pitch> {
  const around = { pitch, pitchHz, addedHz };
  const named = PITCHES.get(written);
  if (named !== undefined) return { value: { pitch: 2 ** (named / 12), pitchHz: null, addedHz: 0 } };
  const [, sign, number, unit] = /^([+-]?)(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(%|st|hz)$/i.exec(written) ?? [];
  const isRelative = sign !== "";
  if (number === undefined || (!isRelative && unit?.toLowerCase() !== "hz"))
    return {
      problem: `pitch is none of ${[...PITCHES.keys()].join(", ")}, no number with Hz and no change: write one, as in +2st or -10%`,
    };
  const amount = Number(number) * (sign === "-" ? -1 : 1);
  if (unit?.toLowerCase() === "hz") {
    if (!isRelative) {
      const { value, isClamped } = clamp(amount, BOUNDS.hz);
      return { value: { pitch: 1, pitchHz: value, addedHz: 0 }, isClamped };
    }
    const { value, isClamped } = clamp(around.addedHz + amount, BOUNDS.addedHz);
    return { value: { ...around, addedHz: value }, isClamped };
  }
  const { value, isClamped } = clamp(
    around.pitch * (unit === "%" ? Math.max(0, 1 + amount / 100) : 2 ** (amount / 12)),
    BOUNDS.pitch,
  );
  return { value: { ...around, pitch: value }, isClamped };
}

/** Parses a volume as a factor on samples. @param around the factor of the parent element */
export function gainOf(written: string, around: number): AttributeValue<number> {
  if (written === "silent") return { value: 0 };
  const named = VOLUMES.get(written);
  if (named !== undefined) return { value: 10 ** (named / 20) };
  const [, sign, number, unit] = /^([+-]?)(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(db|%)?$/i.exec(written) ?? [];
  if (number === undefined)
    return {
      problem: `volume is not silent, ${[...VOLUMES.keys()].join(", ")} or decibels: write one of these, as in -6dB`,
    };
  const amount = Number(number) * (sign === "-" ? -1 : 1);
  if (unit?.toLowerCase() === "db") return clamp(around * 10 ** (amount / 20), BOUNDS.gain);
  // SSML 1.0: an absolute value out of 100, or a relative change.
  return clamp(sign === "" ? amount / 100 : around * Math.max(0, 1 + amount / 100), BOUNDS.gain);
}

export function emphasised(level: string, around: RunManner): AttributeValue<RunManner> {
  const figures = EMPHASES.get(level);
  if (figures === undefined)
    return { problem: `level is none of ${[...EMPHASES.keys()].join(", ")}: write one of these` };
  const { rate, semitones, levelDb } = figures;
  if (rate === 1) return { value: around };
  return {
    value: {
      ...around,
      rate: clamp(around.rate * rate, BOUNDS.rate).value,
      pitch: clamp(around.pitch * 2 ** (semitones / 12), BOUNDS.pitch).value,
      gain: clamp(around.gain * 10 ** (levelDb / 20), BOUNDS.gain).value,
    },
  };
}

const EMPHASES = new Map([
  ["strong", { rate: 0.85, semitones: 2.5, levelDb: 3 }],
  ["moderate", { rate: 0.92, semitones: 1.5, levelDb: 1.5 }],
  ["none", { rate: 1, semitones: 0, levelDb: 0 }],
  ["reduced", { rate: 1.1, semitones: -1, levelDb: -2 }],
]);

const RATES: ReadonlyMap<string, number> = new Map(
  Object.entries({ "x-slow": 0.6, slow: 0.8, medium: 1, default: 1, fast: 1.25, "x-fast": 1.6 }),
);
/** Semitones. */
const PITCHES: ReadonlyMap<string, number> = new Map(
  Object.entries({ "x-low": -6, low: -3, medium: 0, default: 0, high: 3, "x-high": 6 }),
);
/** Decibels. */
const VOLUMES: ReadonlyMap<string, number> = new Map(
  Object.entries({ "x-soft": -12, soft: -6, medium: 0, default: 0, loud: 3, "x-loud": 6 }),
);

const BOUNDS = {
  rate: [0.5, 2],
  pitch: [0.5, 2],
  hz: [60, 400],
  addedHz: [-200, 200],
  /** Up to 6 dB. Louder peaks are limited rather than clipped. */
  gain: [0, 2],
} as const;

function clamp(value: number, [min, max]: readonly [number, number]): { value: number; isClamped: boolean } {
  const within = Math.min(max, Math.max(min, value));
  return { value: within, isClamped: within !== value };
}

/** Reads attributes, and collects cautions about what is ignored. */
export class TagReader {
  readonly #text: string;
  readonly #cautions = new Set<string>();

  /** In which phonemes are written here. Default: American. */
  accent: Accent | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Each caution once, at most {@link MAX_CAUTIONS}, in ASCII. */
  get cautions(): readonly string[] {
    return [...this.#cautions];
  }

  /** @throws MarkupError if the attribute is missing or too long */
  required({ name: element, attributes, from }: Tag, name: string): string {
    const value = attributes[name];
    if (value === undefined || value.trim() === "")
      throw new MarkupError(this.#text, from, `<${element}> has no ${name}: give it one`);
    if (value.length <= MAX_VALUE_CHARS) return value;
    const problem = `${name} of <${element}> has more than ${MAX_VALUE_CHARS} characters: make it shorter`;
    throw new MarkupError(this.#text, from, problem);
  }

  /** Returns the value within the voice's range. @throws MarkupError if it cannot be parsed */
  value<T>(tag: Tag, read: AttributeValue<T>, name = ""): T {
    if ("problem" in read) throw this.refused(tag, `<${tag.name}>: ${read.problem}`);
    if (read.isClamped === true) this.caution(tag, `${name} is limited to what the voice can do`);
    return read.value;
  }

  refused({ from }: Tag, problem: string): MarkupError {
    return new MarkupError(this.#text, from, problem);
  }

  /** @param what continues the element's name: "is ignored" */
  caution({ name }: Tag, what: string): void {
    const shown = name.replaceAll(/[^\w:.-]/g, "?").slice(0, 40);
    if (this.#cautions.size < MAX_CAUTIONS) this.#cautions.add(`<${shown}> ${what}`);
  }

  /** Returns the voice for the language of an element within `voice`. */
  voiceFor(tag: Tag, voice: string | null, languages: VoiceLanguages): string | null {
    const language = tag.attributes["xml:lang"]?.trim() ?? "";
    const found = language === "" ? voice : languages.voiceFor(language, voice);
    if (found !== undefined) return found;
    const shown = /^[A-Za-z0-9-]{1,20}$/.test(language) ? language : "here";
    this.caution(tag, `xml:lang ${shown} is ignored`);
    return voice;
  }
}

const MAX_CAUTIONS = 16;
const MAX_VALUE_CHARS = 1_000;
