import { createHash } from "node:crypto";
import { LruCache } from "../../collections/lru-cache.ts";
import type { Turn } from "../../model/conversation.ts";
import type { Dialogue } from "../../model/writer.ts";
import { sentencesOf } from "../../text/sentence-cutter.ts";
import {
  asksWhatWasSaid,
  datesAndNumbers,
  namesUnheard,
  speaksOfYou,
  tellsWhatWasSaid,
} from "../heard/content-words.ts";
import { isAboutFood } from "../heard/foods.ts";
import { type Limit, limitsOf } from "../heard/limits.ts";
import { plainWords } from "../heard/said-before.ts";
import {
  actByForm,
  asksAdvice,
  asksOpenly,
  asksView,
  doubtsUs,
  isAsked,
  isPhrasedAs,
  takesAStance,
} from "../heard/turn-form.ts";
import { type FoundReply, nearestReplies } from "./bank.ts";
import { deskClauses, isOfTheDesk } from "./desk.ts";
import { guessOf, type TurnGuess } from "./heads.ts";
import { indirectQuestion } from "./indirect-question.ts";
import { ownCorrection } from "./memory/corrections.ts";
import { evidenceOf, recallable } from "./memory/recall.ts";
import { statementsOf } from "./memory/statements.ts";
import { type Offer, type ReadyOrigin, worthOf } from "./reckoning.ts";
import { type Act, type FormName, filled, neutralLines, type ReplyBook, type Tone } from "./reply-book.ts";
import type { ReadyReply, ReplyLayer } from "./reply-source.ts";
import type { Talk } from "./talk.ts";
import {
  fitOf,
  isContrary,
  isGlad,
  isGrave,
  isOutOfTone,
  isSurelyGood,
  matterOfFact,
  mayBe,
} from "./tone.ts";

/** Makes a text a vector of length 1. */
export type Embeds = (text: string, stop: AbortSignal) => Promise<Float32Array>;

/** An offer that may be said, and what its turn is taken for. */
export type RankedOffer = ReadyReply &
  Offer<ReadyOrigin> & {
    /** How likely somebody would be content with it, 0 to 1. */
    readonly worth: number;
    /** The kind that the turn is taken for. */
    readonly act: string;
    /** Whether somebody plays a part, or serves. */
    readonly isScene: boolean;
    /** Whether joy is out of place. */
    readonly isGladless: boolean;
  };

/** Makes all that a book has to offer to a turn, but what is worked out or remembered exactly. */
export class Offers {
  readonly #book: ReplyBook;
  readonly #embed: Embeds;
  readonly #acts: ReadonlyMap<string, Act>;
  /** Lines that fit almost anything. */
  readonly #stock: ReadonlySet<string>;
  /** By digest, since the turns of a conversation come again with each that follows. */
  readonly #vectors = new LruCache<Float32Array>(MAX_VECTORS);

  constructor(book: ReplyBook, embed: Embeds) {
    this.#book = book;
    this.#embed = embed;
    this.#acts = new Map(book.acts.map((act) => [act.name, act]));
    this.#stock = new Set([...neutralLines(book), ...book.forms.noted]);
  }

  /**
   * What may be said to the newest turn, the best first, of equals what is listed first here; nothing that was heard, but
   * from a desk, or that somebody will not have.
   */
  async to(
    talk: Talk,
    { history, speaker, instructions }: Dialogue,
    width: OfferWidth,
    signal: AbortSignal,
  ): Promise<readonly RankedOffer[]> {
    const reading = await this.#read(talk, signal);
    const limits = limitsOf(history, speaker);
    const isLimit = limits.told.some(({ turn }) => turn === history.length - 1);
    const limited = await this.#limitedOffers(talk, reading, limits.told, instructions, signal);
    const seen = new Set<string>();
    const told = reading.asks ? await this.#saidBack(talk, reading.vector, history, signal) : [];
    const each: readonly Ranked[] = [
      [told, width.clauses],
      [limited, width.lines],
      // Whoever looks for something that suits in spite of it is told nothing that was said to others.
      ...(limited.length > 0 ? [] : await this.#foundOffers(talk, reading, instructions, width, signal)),
      ...this.#lineOffers(talk, reading, isLimit, instructions, width),
    ];
    // Nobody wants to be told twice in a row that they are listened to.
    const repeats = (text: string) => this.#stock.has(text) && this.#stock.has(talk.previous ?? "");
    const isFresh = ({ text, origin }: Offer<ReadyOrigin>) => {
      const words = plainWords(text);
      // What a desk has is told as often as it is asked for.
      if ((talk.heard.has(words) && origin !== "desk") || seen.has(words)) return false;
      // What they told may be told back.
      if (origin !== "told" && origin !== "limit" && limits.areBrokenBy(text)) return false;
      if ((origin === "found" || origin === "whole") && limits.areRiskedBy(text)) return false;
      seen.add(words);
      return true;
    };
    return each
      .flatMap(([offers, most]) => offers.filter(isFresh).slice(0, most))
      .map((offer) => ({
        ...offer,
        layer: LAYERS[offer.origin],
        worth: worthOf(offer, talk, this.#book.reckoning) * (repeats(offer.text) ? AGAIN : 1),
        act: reading.act.name,
        isScene: reading.isScene,
        isGladless: reading.isGladless,
        ...(offer.origin === "desk" && { hasReadInstructions: true }),
      }))
      .toSorted((a, b) => b.worth - a.worth);
  }

  /** What the newest turn is taken for. */
  async #read(talk: Talk, signal: AbortSignal): Promise<Reading> {
    const newest = talk.newest ?? "";
    const vector = await this.#vectorOf(newest, signal);
    const sentences = sentencesOf(newest);
    const tail = sentences.length > 1 ? await this.#vectorOf(sentences.at(-1) ?? "", signal) : null;
    const guess = guessOf(this.#book, tail === null ? [vector] : [vector, tail]);
    const form = actByForm(newest);
    const act = this.#acts.get(form ?? "") ?? guess.act;
    const isScene = SCENES.has(act.name) || (await this.#beganAsScene(talk, signal));
    const isGladless =
      !isScene && !isSurelyGood(guess, this.#book.tones) && (await this.#isAfterSorrow(talk.earlier, signal));
    return { newest, vector, guess, form, act, asks: isAsked(newest), isScene, isGladless };
  }

  /** Where something is to be suggested, that it must not be what they will not have. */
  async #limitedOffers(
    talk: Talk,
    { newest, vector, isGladless }: Reading,
    limits: readonly Limit[],
    instructions: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly Offer<ReadyOrigin>[]> {
    if (!asksAdvice(newest) || !asksOpenly(newest) || instructions !== undefined || isGladless) return [];
    for (const { what, sentence, isFood } of limits.slice(-MAX_LIMITS).toReversed()) {
      const nearness = dot(vector, await this.#vectorOf(sentence, signal));
      if (isFood ? !isAboutFood(newest) : nearness < MIN_LIMIT_LIKENESS) continue;
      return shifted(this.#book.forms.limited, talk.chance).map((line) => ({
        origin: "limit",
        text: filled(line, what),
        nearness,
        context: 0,
      }));
    }
    return [];
  }

  /** Replies of other conversations, to the turn made whole and to the turn as it stands. */
  async #foundOffers(
    talk: Talk,
    { newest, vector, guess, asks, isScene, isGladless }: Reading,
    instructions: string | undefined,
    width: OfferWidth,
    signal: AbortSignal,
  ): Promise<readonly Ranked[]> {
    const { bank, numbers, tones } = this.#book;
    const mayBeSaid = ({ entry }: FoundReply) =>
      // What was told in another conversation was not told in this one.
      !(!asks && namesUnheard(entry.reply, talk.words)) &&
      !tellsWhatWasSaid(entry.reply) &&
      !(asks && speaksOfYou(entry.reply, talk.words)) &&
      !asksWhatWasSaid(entry.reply, talk.words) &&
      entry.borrowed.every((word) => talk.words.has(word)) &&
      (isScene || !entry.isInRole) &&
      (entry.isAnswer || !asks) &&
      !(isGladless && isGlad(entry.reply, entry.tone, tones)) &&
      (instructions === undefined || isOfTheDesk(entry.reply, instructions, talk.words));
    const whole: FoundReply[] = [];
    for (const turn of talk.whole.turns)
      whole.push(...nearestReplies(bank, numbers, await this.#vectorOf(turn, signal), null));
    const before = talk.previous === null ? null : await this.#vectorOf(talk.previous, signal);
    const near = nearestReplies(bank, numbers, vector, before).filter(
      (one) =>
        one.likeness >= MIN_LIKENESS &&
        (asks || !isOutOfTone(one.entry.reply, one.entry.tone, newest, guess, tones)),
    );
    const offers = (origin: ReadyOrigin, from: readonly FoundReply[]) =>
      from.filter(mayBeSaid).map(({ entry, likeness, context }) => ({
        origin,
        text: entry.reply,
        nearness: likeness,
        context: context ?? 0,
      }));
    // What does for a holiday does not where somebody died.
    const nearWhole = (isGladless ? [] : whole)
      .filter(({ entry, likeness }) => likeness >= MIN_WHOLE_LIKENESS && entry.isAnswer)
      .toSorted((a, b) => b.likeness - a.likeness);
    return [
      [offers("whole", nearWhole), width.whole],
      [offers("found", near), width.found],
    ];
  }

  #lineOffers(
    talk: Talk,
    { newest, guess, form, act, asks, isScene, isGladless }: Reading,
    isLimit: boolean,
    instructions: string | undefined,
    width: OfferWidth,
  ): readonly Ranked[] {
    const { tones, forms } = this.#book;
    const offers = (origin: ReadyOrigin, texts: readonly string[], nearness = 0) =>
      texts.map((text) => ({ origin, text, nearness, context: 0 }));
    const from = (name: FormName, words: string | null = "") =>
      words === null ? [] : shifted(forms[name], talk.chance).map((line) => filled(line, words));
    const certainty = form === null ? guess.probability : 1;
    const isForm = act.answered === "form";
    const hasKind =
      !isScene &&
      // A kind that its form tells, and is not surely told, is mostly another one.
      certainty >= (isForm ? act.least : MIN_PROBABILITY) &&
      isPhrasedAs(act, newest) &&
      mayBe(act.polarity, newest) &&
      !isContrary(act.polarity, guess, tones) &&
      !(isGladless && act.polarity === "good");
    const tone = this.#fittest(guess);
    const isFit = mayBe(tone.polarity, newest) && !(isGladless && tone.polarity === "good");
    const kept = keptOf(newest, isLimit);
    // Whoever tells of a loss or a joy is not told that it is noted.
    const isNoted =
      !asks && !isScene && kept > 0 && matterOfFact(guess, tones) >= (kept === 1 ? LEAST_FACT : SURE_FACT);
    const question =
      instructions === undefined
        ? from("honest", indirectQuestion(talk.whole.turns[0] ?? newest) ?? indirectQuestion(newest))
        : from("desk");
    return [
      [offers("corrected", from("corrected", ownCorrection(newest))), 1],
      [offers("desk", instructions === undefined ? [] : deskClauses(instructions, newest)), width.clauses],
      [
        offers(isForm ? "form" : "kind", hasKind ? shifted(act.lines, talk.chance) : [], certainty),
        width.lines,
      ],
      [
        offers(
          "tone",
          asks || isScene ? [] : shifted(isFit ? tone.lines : neutralLines(this.#book), talk.chance),
          this.#fitOf(tone, guess),
        ),
        width.lines,
      ],
      [offers("noted", isNoted ? from("noted") : [], kept), width.lines],
      [offers("view", asksView(newest) ? from("view") : []), width.lines],
      [offers("doubt", doubtsUs(newest) && talk.previous !== null ? from("doubt") : []), width.lines],
      [offers("honest", asks && !isScene ? question : []), 1],
      [
        asks
          ? offers("asked", from("asked"))
          : offers("neutral", shifted(neutralLines(this.#book), talk.chance)),
        1,
      ],
    ];
  }

  async #vectorOf(text: string, signal: AbortSignal): Promise<Float32Array> {
    const digest = createHash("sha256").update(text).digest("base64");
    const vector = this.#vectors.get(digest) ?? (await this.#embed(text, signal));
    this.#vectors.set(digest, vector);
    return vector;
  }

  /** Whether one of these turns told something grave. */
  async #isAfterSorrow(turns: readonly string[], signal: AbortSignal): Promise<boolean> {
    for (const turn of turns) {
      const guess = guessOf(this.#book, [await this.#vectorOf(turn, signal)]);
      if (isGrave(turn, guess, this.#book.tones)) return true;
    }
    return false;
  }

  /** What somebody told, said back, what most likely answers first. */
  async #saidBack(
    talk: Talk,
    vector: Float32Array,
    history: readonly Turn[],
    signal: AbortSignal,
  ): Promise<readonly Offer<ReadyOrigin>[]> {
    const told = statementsOf(history, history.at(-1)?.speaker ?? "");
    const offers: Offer<"told">[] = [];
    for (const { text, saidBack, features } of recallable(talk.newest ?? "", history.length - 1, told)) {
      const nearness = dot(vector, await this.#vectorOf(text, signal));
      offers.push({
        origin: "told",
        text: saidBack,
        nearness,
        context: 0,
        evidence: evidenceOf(features, nearness),
      });
    }
    const worth = (offer: Offer) => worthOf(offer, talk, this.#book.reckoning);
    return offers.toSorted((a, b) => worth(b) - worth(a));
  }

  /** Whether the other one began by asking for a part to be played, or as somebody who serves or is served. */
  async #beganAsScene({ opening }: Talk, signal: AbortSignal): Promise<boolean> {
    if (opening === null) return false;
    const { act, probability } = guessOf(this.#book, [await this.#vectorOf(opening, signal)]);
    return SCENES.has(act.name) && probability >= 0.5;
  }

  #fitOf(tone: Tone, guess: TurnGuess): number {
    return fitOf(this.#book.tones.indexOf(tone), guess, this.#book.tones);
  }

  /** The tone whose lines fit best over all that it may be. */
  #fittest(guess: TurnGuess): Tone {
    const { tones } = this.#book;
    const fits = tones.map((tone, n) => ({ tone, fit: fitOf(n, guess, tones) }));
    return fits.reduce((best, one) => (one.fit > best.fit ? one : best)).tone;
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0);
}

/**
 * How surely a turn tells something that is to be kept in mind, 0 to 1: what somebody will not have or do, or a number or a day.
 *
 * @param isLimit whether it tells what somebody will not have
 */
function keptOf(newest: string, isLimit: boolean): number {
  if (NOT_NOTED.test(newest)) return 0;
  if (isLimit) return 1;
  if (takesAStance(newest)) return 0.9;
  return datesAndNumbers(newest).length > 0 ? 0.75 : 0;
}

/** A loss, an illness, a joy, a joke or a request, which the tone alone does not always tell. */
const NOT_NOTED =
  /!|\b(?:die[ds]?|dying|dead|death|funeral|buried|cancer|tumou?r|scan|heartbeat|diagnos\p{L}+|terminal|hospice|hospital|ward|operation|ill|sick|pain|hurts?|hungry|starving|doctor|nurse|police|fired|sacked|redundant|laid off|lost|losing|kill\p{L}*|divorc\p{L}+|alone|lonely|cry|cried|crying|sorry|gave me until|months? (?:left|at most)|never (?:walk|see|hear|speak|play|run|dance) again|free|yay|hooray|ha ?ha|lol|knock knock|wonder|help|please|baby|born|won|passed)\b/iu;

/** These from another one on. */
function shifted(texts: readonly string[], chance: number): readonly string[] {
  const start = texts.length === 0 ? 0 : chance % texts.length;
  return [...texts.slice(start), ...texts.slice(0, start)];
}

/** Offers of one origin, the best first, and how many of them are looked at. */
type Ranked = readonly [readonly Offer<ReadyOrigin>[], number];

const LAYERS: Readonly<Record<ReadyOrigin, ReplyLayer>> = {
  corrected: "exact",
  desk: "exact",
  told: "exact",
  limit: "line",
  noted: "line",
  form: "line",
  whole: "found",
  found: "found",
  kind: "line",
  tone: "line",
  view: "line",
  doubt: "line",
  honest: "line",
  asked: "line",
  neutral: "line",
};

/** What a turn is taken for. */
interface Reading {
  readonly newest: string;
  /** Of length 1. */
  readonly vector: Float32Array;
  readonly guess: TurnGuess;
  /** The kind that its form tells, whatever it speaks of; else `null`. */
  readonly form: string | null;
  readonly act: Act;
  readonly asks: boolean;
  /** Whether a part is played, or somebody serves or is served. */
  readonly isScene: boolean;
  /** Whether joy is out of place, since a sorrow was told a little while ago. */
  readonly isGladless: boolean;
}

/** How many of each sort are looked at. */
export interface OfferWidth {
  readonly clauses: number;
  readonly lines: number;
  readonly found: number;
  readonly whole: number;
}

export const WIDTH: OfferWidth = { clauses: 2, lines: 1, found: 3, whole: 2 };
/** For teaching how to reckon with offers. */
export const TEACHING_WIDTH: OfferWidth = { clauses: 2, lines: 2, found: 4, whole: 2 };
/** From which likeness a reply of another conversation is looked at, and from which probability a kind's lines. */
const MIN_LIKENESS = 0.6;
const MIN_WHOLE_LIKENESS = 0.75;
/** From which likeness a question is about what somebody will not have. */
const MIN_LIMIT_LIKENESS = 0.18;
/** Of what was told that somebody will not have, the newest are looked at. */
const MAX_LIMITS = 4;
const MIN_PROBABILITY = 0.2;
/** What a line that fits anything is worth after another one, as a share. */
const AGAIN = 0.85;
/** How probable it must be that something is a matter of fact, if that is to be noted: a limit, and anything else. */
const LEAST_FACT = 0.4;
const SURE_FACT = 0.7;
/** Half a megabyte of them. */
const MAX_VECTORS = 300;
const SCENES: ReadonlySet<string> = new Set(["roleplay", "service", "staff"]);
