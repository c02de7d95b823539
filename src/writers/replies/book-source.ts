import { createHash } from "node:crypto";
import { LruCache } from "../../collections/lru-cache.ts";
import type { Turn } from "../../model/conversation.ts";
import type { Dialogue } from "../../model/writer.ts";
import { sentencesOf } from "../../text/sentence-cutter.ts";
import { type FoundReply, nearestReplies } from "./bank.ts";
import { guessOf, type TurnGuess } from "./heads.ts";
import { indirectQuestion } from "./indirect-question.ts";
import { sumOverTurns } from "./memory/amounts.ts";
import { ownCorrection } from "./memory/corrections.ts";
import { deskClauses, isOfTheDesk } from "./memory/desk.ts";
import { toldClauses } from "./memory/facts.ts";
import { limitsOf } from "./memory/limits.ts";
import { remembered } from "./memory/remembered.ts";
import type { ReadyReply, ReplyLayer, ReplySource } from "./ready-or-written.ts";
import { type Offer, type Origin, worthOf } from "./reckoning.ts";
import { type Act, type FormName, filled, type ReplyBook, type Tone } from "./reply-book.ts";
import { ALL_SOURCES, answers, guesses, mayOffer, type Sources } from "./sources.ts";
import { answerSum } from "./sums.ts";
import { plainWords, type Talk, talkOf } from "./talk.ts";
import { fitOf, isContrary, isGlad, isGrave, isOutOfTone, isSurelyGood, mayBe } from "./tone.ts";
import { actByForm, asksView, doubtsUs, isAsked, isPhrasedAs } from "./turn-form.ts";

/** Makes a text a vector of length 1. */
type Embeds = (text: string, stop: AbortSignal) => Promise<Float32Array>;

/** Replies out of a book. */
export class BookSource implements ReplySource {
  readonly #book: ReplyBook;
  readonly #embed: Embeds;
  readonly #free: () => Promise<void>;
  readonly #sourcesFor: (dialogue: Dialogue) => Sources;
  readonly #acts: ReadonlyMap<string, Act>;
  /** What may be said to anything that is told. */
  readonly #neutral: readonly string[];

  /** What was found for a dialogue while it is replied to. */
  readonly #known = new WeakMap<Dialogue, readonly Judged[]>();
  /** By digest, since the turns of a conversation come again with each that follows. */
  readonly #vectors = new LruCache<Float32Array>(MAX_VECTORS);

  constructor(
    book: ReplyBook,
    embed: Embeds,
    free: () => Promise<void>,
    sourcesFor: (dialogue: Dialogue) => Sources = () => ALL_SOURCES,
  ) {
    this.#book = book;
    this.#embed = embed;
    this.#free = free;
    this.#sourcesFor = sourcesFor;
    this.#acts = new Map(book.acts.map((act) => [act.name, act]));
    this.#neutral = book.tones.find(({ name }) => name === NEUTRAL)?.lines ?? [];
  }

  async reply(dialogue: Dialogue, signal: AbortSignal): Promise<ReadyReply | null> {
    signal.throwIfAborted();
    const talk = talkOf(dialogue);
    if (talk === null) return null;
    const sources = this.#sourcesFor(dialogue);
    if (talk.newest === null) {
      if (!answers(sources, "unheard")) return null;
      return this.#line("unheard", talk) ?? this.#again("unheard", talk);
    }
    const exact =
      [talk.newest, ...talk.whole].map(answerSum).find((answer) => answer !== null) ??
      sumOverTurns(dialogue.history, dialogue.speaker) ??
      remembered(dialogue.history, dialogue.speaker, talk);
    // What is worked out is as right the second time.
    if (exact !== null && sources.exact) return { layer: "exact", text: exact };
    const form = actByForm(talk.newest);
    // Whether this is a machine is always told, in a scene, too.
    if (form === "identity" || form === "garbled")
      return answers(sources, form) ? this.#line(form, talk) : null;
    if (!guesses(sources)) return null;

    const all = await this.#judged(dialogue, talk, signal);
    const judged = all.filter((one) => mayOffer(sources, one, talk));
    // What a turn's form asks for is answered by a line, whatever else there is.
    const best = judged.find(({ origin }) => origin === "form") ?? judged[0];
    if (best === undefined) return null;
    // The small model follows no instructions, and would promise what a desk has not got.
    const isReady =
      best.origin === "form" ||
      dialogue.instructions !== undefined ||
      best.worth >= worthOf(writtenOffer("", talk), talk, this.#book.reckoning);
    return isReady ? best : null;
  }

  /** All that may be said to the newest turn, for teaching how to reckon with them. */
  async candidates(dialogue: Dialogue, signal: AbortSignal): Promise<readonly Offer[]> {
    const talk = talkOf(dialogue);
    return talk === null || talk.newest === null
      ? []
      : await this.#candidates(talk, dialogue, TEACHING_WIDTH, signal);
  }

  async #candidates(
    talk: Talk,
    { history, speaker, instructions }: Dialogue,
    width: CandidateWidth,
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    const newest = talk.newest ?? "";
    const vector = await this.#vectorOf(newest, signal);
    const sentences = sentencesOf(newest);
    const tail = sentences.length > 1 ? await this.#vectorOf(sentences.at(-1) ?? "", signal) : null;
    const vectors = tail === null ? [vector] : [vector, tail];
    const guess = guessOf(this.#book, vectors);
    const form = actByForm(newest);
    const act = this.#acts.get(form ?? "") ?? guess.act;
    const asks = isAsked(newest);
    const isScene = SCENES.has(act.name) || (await this.#beganAsScene(talk, signal));
    const { bank, numbers, tones } = this.#book;
    const before = talk.previous === null ? null : await this.#vectorOf(talk.previous, signal);
    const near = nearestReplies(bank, numbers, vector, before).filter(
      ({ entry, likeness }) =>
        likeness >= MIN_LIKENESS &&
        entry.borrowed.every((word) => talk.words.has(word)) &&
        (isScene || !entry.isInRole) &&
        (instructions === undefined || isOfTheDesk(entry.reply, instructions, talk.words)) &&
        (entry.isAnswer || !asks) &&
        (asks || !isOutOfTone(entry.reply, entry.tone, newest, guess, tones)),
    );
    const wholeVectors: Float32Array[] = [];
    for (const whole of talk.whole) wholeVectors.push(await this.#vectorOf(whole, signal));
    const nearWhole = wholeVectors
      .flatMap((each) => nearestReplies(bank, numbers, each, null))
      .filter(
        ({ entry, likeness }) =>
          likeness >= MIN_WHOLE_LIKENESS &&
          entry.borrowed.every((word) => talk.words.has(word)) &&
          !entry.isInRole &&
          entry.isAnswer &&
          (instructions === undefined || isOfTheDesk(entry.reply, instructions, talk.words)),
      )
      .toSorted((a, b) => b.likeness - a.likeness);
    const isJoyful = ({ entry }: FoundReply) => isGlad(entry.reply, entry.tone, tones);
    const isGladless =
      !isScene && !isSurelyGood(guess, tones) && (await this.#isAfterSorrow(talk.earlier, signal));
    const found = isGladless ? near.filter((one) => !isJoyful(one)) : near;
    const kindLines =
      !isScene &&
      (form !== null || guess.probability >= MIN_PROBABILITY) &&
      isPhrasedAs(act, newest) &&
      mayBe(act.polarity, newest) &&
      !isContrary(act.polarity, guess, tones) &&
      !(isGladless && act.polarity === "good")
        ? act.lines
        : [];
    const tone = this.#fittest(guess);
    const isFit = mayBe(tone.polarity, newest) && !(isGladless && tone.polarity === "good");
    const toneLines = asks || isScene ? [] : isFit ? tone.lines : this.#neutral;
    const clauses = asks ? await this.#saidBack(vector, history, signal) : [];
    const desk = instructions === undefined ? [] : deskClauses(instructions, newest);
    const lines = (name: FormName, words: string | null = "") =>
      words === null ? [] : shifted(this.#book.forms[name], talk.chance).map((line) => filled(line, words));
    const honest =
      instructions === undefined
        ? lines("honest", indirectQuestion(talk.whole[0] ?? newest) ?? indirectQuestion(newest))
        : lines("desk");
    const limits = limitsOf(history, speaker);
    const sayings = (origin: Origin, texts: readonly string[], nearness = 0) =>
      texts.map((text) => ({ origin, text, nearness, context: 0 }));
    const replies = (origin: Origin, from: readonly FoundReply[]) =>
      from.map(({ entry, likeness, context }) => ({
        origin,
        text: entry.reply,
        nearness: likeness,
        context: context ?? 0,
      }));
    const certainty = form === null ? guess.probability : 1;
    const isForm =
      act.answered === "form" &&
      certainty >= act.least &&
      (form !== null || (found[0]?.likeness ?? 0) < THE_SAME);
    const each: readonly (readonly [readonly Offer[], number])[] = [
      [sayings("corrected", lines("corrected", ownCorrection(newest))), 1],
      [sayings("desk", desk), 2],
      [
        clauses.map(({ saidBack, likeness }) => ({
          origin: "told",
          text: saidBack,
          nearness: likeness,
          context: 0,
        })),
        width.clauses,
      ],
      [replies("whole", nearWhole), 2],
      [replies("found", found), width.found],
      // A kind that its form tells, and is not surely told, is mostly another one.
      [
        isForm || act.answered !== "form"
          ? sayings(isForm ? "form" : "kind", shifted(kindLines, talk.chance), certainty)
          : [],
        width.lines,
      ],
      [sayings("tone", shifted(toneLines, talk.chance), this.#fitOf(tone, guess)), width.lines],
      [sayings("view", asksView(newest) ? lines("view") : []), width.lines],
      [sayings("doubt", doubtsUs(newest) && talk.previous !== null ? lines("doubt") : []), width.lines],
      [sayings("honest", asks && !isScene ? honest : []), 1],
      [asks ? sayings("asked", lines("asked")) : sayings("neutral", shifted(this.#neutral, talk.chance)), 1],
    ];
    const seen = new Set<string>();
    return each.flatMap(([offers, most]) =>
      offers
        .filter(({ text }) => {
          const words = plainWords(text);
          if (talk.heard.has(words) || seen.has(words) || limits.areBrokenBy(text)) return false;
          seen.add(words);
          return true;
        })
        .slice(0, most)
        .map((offer) => ({
          ...offer,
          layer: LAYERS[offer.origin],
          act: act.name,
          isScene,
          ...(offer.origin === "desk" && { hasReadInstructions: true }),
        })),
    );
  }

  forModel(dialogue: Dialogue): Dialogue {
    // A larger model understands what a turn leans on.
    if (this.#sourcesFor(dialogue) !== ALL_SOURCES) return dialogue;
    const [whole] = talkOf(dialogue)?.filled ?? [];
    return whole === undefined
      ? dialogue
      : {
          ...dialogue,
          history: [{ speaker: dialogue.history.at(-1)?.speaker ?? "", text: whole, audio: null }],
        };
  }

  async instead(dialogue: Dialogue, written: string | null, signal: AbortSignal): Promise<ReadyReply | null> {
    const talk = talkOf(dialogue);
    if (talk === null || talk.newest === null) return null;
    const sources = this.#sourcesFor(dialogue);
    // What a larger model wrote is not reckoned with, since what was learnt is how good the small one is.
    if (sources !== ALL_SOURCES && written !== null) return null;
    if (!guesses(sources)) {
      return this.#ready("line", isAsked(talk.newest) ? this.#book.forms.asked : this.#neutral, talk);
    }
    const [best] = await this.#judged(dialogue, talk, signal);
    if (best === undefined || written === null) return best ?? null;
    const worth = worthOf(writtenOffer(written, talk), talk, this.#book.reckoning);
    return best.worth > worth ? best : null;
  }

  close(): Promise<void> {
    return this.#free();
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

  /** What somebody told, said back, what is most like what they ask first. */
  async #saidBack(
    vector: Float32Array,
    history: readonly Turn[],
    signal: AbortSignal,
  ): Promise<readonly { readonly saidBack: string; readonly likeness: number }[]> {
    const clauses: { readonly saidBack: string; readonly likeness: number }[] = [];
    for (const { text, saidBack } of toldClauses(history, history.at(-1)?.speaker ?? ""))
      clauses.push({ saidBack, likeness: dot(vector, await this.#vectorOf(text, signal)) });
    return clauses.toSorted((a, b) => b.likeness - a.likeness);
  }

  /** Whether the other one began by asking for a part to be played, or as somebody who serves or is served. */
  async #beganAsScene({ opening }: Talk, signal: AbortSignal): Promise<boolean> {
    if (opening === null) return false;
    const { act, probability } = guessOf(this.#book, [await this.#vectorOf(opening, signal)]);
    return SCENES.has(act.name) && probability >= 0.5;
  }

  /** What may be said and how good it is, the best first; of equals the one that stands first. */
  async #judged(dialogue: Dialogue, talk: Talk, signal: AbortSignal): Promise<readonly Judged[]> {
    const known = this.#known.get(dialogue);
    if (known !== undefined) return known;
    const candidates = await this.#candidates(talk, dialogue, WIDTH, signal);
    const judged = candidates
      .map((candidate) => ({ ...candidate, worth: worthOf(candidate, talk, this.#book.reckoning) }))
      .toSorted((a, b) => b.worth - a.worth);
    this.#known.set(dialogue, judged);
    return judged;
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

  #line(act: string, talk: Talk): ReadyReply | null {
    const { lines = [], polarity = "plain" } = this.#acts.get(act) ?? {};
    return mayBe(polarity, talk.newest) ? this.#ready("line", lines, talk) : null;
  }

  /** A line of a kind that was heard before: where all were, that is better than anything else. */
  #again(act: string, { chance }: Talk): ReadyReply | null {
    const lines = this.#acts.get(act)?.lines ?? [];
    const text = lines[chance % lines.length];
    return text === undefined ? null : { layer: "line", text };
  }

  /** One of these that was not heard yet. */
  #ready(layer: ReplyLayer, among: readonly string[], { heard, chance }: Talk): ReadyReply | null {
    const fresh = among.filter((text) => !heard.has(plainWords(text)));
    const text = fresh[chance % fresh.length];
    return text === undefined ? null : { layer, text };
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0);
}

/** These from another one on. */
function shifted(texts: readonly string[], chance: number): readonly string[] {
  const start = texts.length === 0 ? 0 : chance % texts.length;
  return [...texts.slice(start), ...texts.slice(0, start)];
}

/** A reply that may be said. */
type Candidate = ReadyReply & Offer & { readonly act: string; readonly isScene: boolean };

/** One, and how likely somebody would be content with it, 0 to 1. */
interface Judged extends Candidate {
  readonly worth: number;
}

/** What the language model writes, or whatever it may write. */
function writtenOffer(text: string, { filled }: Talk): Offer {
  return { origin: "model", text, nearness: filled.length > 0 ? 1 : 0, context: 0 };
}

const LAYERS: Readonly<Record<Origin, ReplyLayer>> = {
  corrected: "exact",
  desk: "exact",
  told: "exact",
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
  model: "line",
};

/** How many of each sort are looked at. */
interface CandidateWidth {
  readonly clauses: number;
  readonly lines: number;
  readonly found: number;
}

const WIDTH: CandidateWidth = { clauses: 1, lines: 1, found: 3 };
const TEACHING_WIDTH: CandidateWidth = { clauses: 2, lines: 2, found: 4 };
/** From which likeness a reply of another conversation is looked at, and from which probability a kind's lines. */
const MIN_LIKENESS = 0.6;
const MIN_WHOLE_LIKENESS = 0.75;
/** From which likeness a turn is the same as one that was answered. */
const THE_SAME = 0.88;
const MIN_PROBABILITY = 0.2;
/** Half a megabyte of them. */
const MAX_VECTORS = 300;
/** The tone whose lines ask to hear more, whatever is told. */
const NEUTRAL = "plain";
const SCENES: ReadonlySet<string> = new Set(["roleplay", "service", "staff"]);
