import type { Script } from "../../../core/script.ts";
import type { Random } from "../random.ts";
import type { Segment } from "../segments.ts";
import { type Lift, liftsOf } from "./lifts.ts";
import { countWords, sentenceKind } from "./sentence-kind.ts";

/** What the text says about how a segment is delivered: what is added to the network's own reading. */
export interface Rhythm {
  /** Above 1 is faster. */
  readonly tempo: number;
  /** Length of the last word, as a factor. */
  readonly lastWord: number;
  /** Pitch as a whole. */
  readonly semitones: number;
  /** Spread of the pitch around its median, as an exponent. */
  readonly range: number;
  /** Added to the network's energy where there is sound. */
  readonly energy: number;
  /** How far the voice rises over its last 300 to 450 ms, in semitones; 0 leaves its end as it is. */
  readonly riseSemitones: number;
  readonly lifts: readonly Lift[];
  /** Length of the silence after it, as a factor. */
  readonly pause: number;
}

/** Where in its reply a segment stands, and the words of its sentence. */
export type SegmentContext = Omit<Segment, "ids" | "sources" | "pauseS"> & {
  /** Spoken words of the segment. */
  readonly wordsInside: number;
};

/**
 * The rhythm of a segment. A yes/no question rises (the network reads it as it reads a statement: it falls by 4 to 8
 * semitones), an exclamation is higher, wider and a touch faster, a paragraph begins higher and its last word is longer
 * (Klatt, 1976: final lengthening), an answer to few words is brisk while it is short itself, and one to many words
 * begins calmly.
 */
export function rhythmOf(place: SegmentContext, precedingTurn: PrecedingTurn): Rhythm {
  const kind = sentenceKind(place.text);
  const isBrisk = precedingTurn === "short-turn" && place.wordsSaid + place.words <= SHORT_REPLY_WORDS;
  const isCalm = precedingTurn === "long-turn" && place.wordsSaid === 0;
  const startsParagraph = place.startsParagraph && place.wordsBefore === 0;
  const endsParagraph = place.endsParagraph && place.endsSentence;
  return {
    tempo: (kind.isExclaimed ? LIVELY.tempo : 1) * (isBrisk ? BRISK_TEMPO : 1) * (isCalm ? CALM_TEMPO : 1),
    lastWord: endsParagraph ? PARAGRAPH_LAST_WORD : 1,
    semitones: (kind.isExclaimed ? LIVELY.semitones : 0) + (startsParagraph ? PARAGRAPH_SEMITONES : 0),
    range: kind.isExclaimed ? LIVELY.range : 1,
    energy: kind.isExclaimed ? LIVELY.energy : 0,
    riseSemitones: kind.question === "yes-no" && place.endsSentence ? RISE_SEMITONES : 0,
    lifts: liftsOf(place, kind),
    pause: isBrisk && place.endsSentence && !endsParagraph ? BRISK_PAUSE : 1,
  };
}

const RISE_SEMITONES = 4;
const LIVELY = { tempo: 1.03, semitones: 0.6, range: 1.15, energy: 0.24 };
const SHORT_REPLY_WORDS = 8;
const BRISK_TEMPO = 1.05;
const BRISK_PAUSE = 0.75;
const CALM_TEMPO = 0.975;
const PARAGRAPH_SEMITONES = 0.5;
const PARAGRAPH_LAST_WORD = 1.1;

/** What the reply answers: few words, many, or neither. */
export type PrecedingTurn = "short-turn" | "long-turn" | "plain";

/** Looks at the turn before the open one. One's own turn is not answered, and of one without text nothing is known. */
export function precedingTurnOf({ history, speaker }: Pick<Script, "history" | "speaker">): PrecedingTurn {
  const before = history.at(-1);
  if (before === undefined || before.speaker === speaker || before.text === null) return "plain";
  const words = countWords(before.text, LONG_TURN_WORDS + 1);
  if (words > LONG_TURN_WORDS) return "long-turn";
  return words > 0 && words <= SHORT_TURN_WORDS ? "short-turn" : "plain";
}

const SHORT_TURN_WORDS = 4;
const LONG_TURN_WORDS = 40;

/** The same rhythm, more or less of it: by a quarter at most, and at strength 0 not at all. */
export function varied(rhythm: Rhythm, strength: number, random: Random): Rhythm {
  const by = VARIATION * strength * random.gentle();
  const share = 1 + Math.max(-MAX_VARIATION, Math.min(MAX_VARIATION, by));
  return {
    tempo: rhythm.tempo ** share,
    lastWord: rhythm.lastWord ** share,
    semitones: rhythm.semitones * share,
    range: rhythm.range ** share,
    energy: rhythm.energy * share,
    riseSemitones: Math.min(MAX_RISE, rhythm.riseSemitones * share),
    lifts: rhythm.lifts.map((lift) => ({ ...lift, maxSemitones: lift.maxSemitones * share })),
    pause: rhythm.pause,
  };
}

const VARIATION = 0.12;
const MAX_VARIATION = 0.25;
const MAX_RISE = 5;
