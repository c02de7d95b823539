import type { Script } from "../../../core/script.ts";
import { MAX_STRETCH, MIN_STRETCH } from "../delivery.ts";
import { type Timing, wholeSteps } from "../plan.ts";
import type { Random } from "../random.ts";
import type { SpokenSegment } from "../segments.ts";
import { wordSpans } from "../spoken-words.ts";
import { type ContinuationRise, continuationRises } from "./list-intonation.ts";
import { countWords, sentenceKind } from "./sentence-kind.ts";

/** Edits of a segment's delivery that its text asks for, in addition to the network's reading. */
export interface Rhythm {
  /** Above 1 is faster. */
  readonly tempo: number;
  readonly lastWord: number;
  readonly semitones: number;
  /** Exponent on the pitch's distance from its median. */
  readonly range: number;
  /** Added to the network's energy where there is sound. */
  readonly energy: number;
  /** Rise over the last 300 to 450 ms, in semitones; 0 for none. */
  readonly riseSemitones: number;
  readonly continuationRises: readonly ContinuationRise[];
  readonly pause: number;
}

export type SegmentContext = Omit<SpokenSegment, "ids" | "sources" | "pauseS"> & {
  readonly wordsInside: number;
};

/**
 * Returns the rhythm of a segment. A yes/no question rises (the network lets it fall by 4 to 8 semitones, as a
 * statement); an exclamation is higher, wider and slightly faster; a paragraph begins higher and lengthens its last
 * word (final lengthening: Klatt, 1976); a short answer to a short turn is brisk, and an answer to a long one begins
 * calmly.
 */
export function rhythmOf(place: SegmentContext, precedingTurn: PrecedingTurn): Rhythm {
  const kind = sentenceKind(place.text, place.questions?.question);
  const isBrisk =
    precedingTurn === "short-turn" && place.wordsInEarlierSentences + place.words <= SHORT_REPLY_WORDS;
  const isCalm = precedingTurn === "long-turn" && place.wordsInEarlierSentences === 0;
  const startsParagraph = place.startsParagraph && place.wordsBefore === 0;
  const endsParagraph = place.endsParagraph && place.endsSentence;
  return {
    tempo: (kind.isExclaimed ? LIVELY.tempo : 1) * (isBrisk ? BRISK_TEMPO : 1) * (isCalm ? CALM_TEMPO : 1),
    lastWord: endsParagraph ? PARAGRAPH_LAST_WORD : 1,
    semitones: (kind.isExclaimed ? LIVELY.semitones : 0) + (startsParagraph ? PARAGRAPH_SEMITONES : 0),
    range: kind.isExclaimed ? LIVELY.range : 1,
    energy: kind.isExclaimed ? LIVELY.energy : 0,
    riseSemitones: kind.question === "yes-no" && place.endsSentence ? RISE_SEMITONES : 0,
    continuationRises: continuationRises(place, kind),
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

export type PrecedingTurn = "short-turn" | "long-turn" | "plain";

/** Classifies the turn before the open one. A speaker's own turn, or one without text, is `plain`. */
export function precedingTurnOf({ history, speaker }: Pick<Script, "history" | "speaker">): PrecedingTurn {
  const before = history.at(-1);
  if (before === undefined || before.speaker === speaker || before.text === null) return "plain";
  const words = countWords(before.text, LONG_TURN_WORDS + 1);
  if (words > LONG_TURN_WORDS) return "long-turn";
  return words > 0 && words <= SHORT_TURN_WORDS ? "short-turn" : "plain";
}

const SHORT_TURN_WORDS = 4;
const LONG_TURN_WORDS = 40;

/** Scales a rhythm at random, by at most a quarter; at strength 0 not at all. */
export function varyRhythm(rhythm: Rhythm, strength: number, random: Random): Rhythm {
  const by = VARIATION * strength * random.nearNormal();
  const share = 1 + Math.max(-MAX_VARIATION, Math.min(MAX_VARIATION, by));
  return {
    tempo: rhythm.tempo ** share,
    lastWord: rhythm.lastWord ** share,
    semitones: rhythm.semitones * share,
    range: rhythm.range ** share,
    energy: rhythm.energy * share,
    riseSemitones: Math.min(MAX_RISE, rhythm.riseSemitones * share),
    continuationRises: rhythm.continuationRises.map((lift) => ({
      ...lift,
      maxSemitones: lift.maxSemitones * share,
    })),
    pause: rhythm.pause,
  };
}

const VARIATION = 0.12;
const MAX_VARIATION = 0.25;
const MAX_RISE = 5;

export interface GivenPace {
  /** Factor that was already applied to each phoneme's length. */
  readonly stretch: readonly number[];
  readonly rate: number;
}

/**
 * Changes the tempo by a few per cent and lengthens the last word. Most phonemes last two or three steps of 25 ms, so
 * small changes would be lost in rounding: the error is carried to the next long sound, as vowels give way more than
 * consonants in quick speech (Gay, 1978). Lengths stay within the limits of intelligibility.
 */
export function applyPace({ ids, steps }: Timing, rhythm: Rhythm, given: GivenPace): void {
  const tempo = Math.max(
    Math.min(1, MIN_RATE / given.rate),
    Math.min(Math.max(1, MAX_RATE / given.rate), rhythm.tempo),
  );
  if (tempo === 1 && rhythm.lastWord === 1) return;
  const last = wordSpans(ids).at(-1) ?? { from: 0, to: 0 };
  const { longSteps, max } = tempo < 1 ? SLOWER : FASTER;
  let owed = 0;
  for (let i = 0; i < steps.length; i++) {
    const own = wholeSteps(steps[i]!);
    const isLast = i >= last.from && i < last.to;
    const factor = within(given.stretch[i]!, (isLast ? rhythm.lastWord : 1) / tempo);
    if (ids[i] === SILENCE_ID) continue;
    owed += own * (factor - 1);
    if (own < longSteps) continue;
    const change = Math.max(-max * own, Math.min(max * own, owed));
    steps[i] = wholeSteps(own + change);
    owed -= steps[i]! - own;
  }
}

/** Reduces a factor so that `stretch` stays within its limits. */
function within(stretch: number, factor: number): number {
  const wanted = stretch * factor;
  if (factor < 1) return Math.min(1, Math.max(MIN_STRETCH, wanted) / stretch);
  return Math.max(1, Math.min(MAX_STRETCH, wanted) / stretch);
}

/** Rates beyond which words are lost. */
const MIN_RATE = 0.72;
const MAX_RATE = 1.25;
const SILENCE_ID = 0;
/** Minimum length of a sound that may change, and the maximum change: lengthening harms less. */
const FASTER = { longSteps: 3, max: 0.34 };
const SLOWER = { longSteps: 2, max: 0.5 };
