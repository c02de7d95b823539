import { createHash } from "node:crypto";
import { LruCache } from "../../collections/lru-cache.ts";
import type { Turn } from "../../model/conversation.ts";
import type { Dialogue } from "../../model/writer.ts";
import { sentencesOf } from "../../text/sentence-cutter.ts";
import { type FoundReply, nearestReplies } from "./bank.ts";
import { asksWhatWasSaid, datesAndNumbers, speaksOfYou } from "./content-words.ts";
import { guessOf, type TurnGuess } from "./heads.ts";
import { indirectQuestion } from "./indirect-question.ts";
import { sumOverTurns } from "./memory/amounts.ts";
import { ownCorrection } from "./memory/corrections.ts";
import { asksWhoSpeaks, deskClauses, isOfTheDesk } from "./memory/desk.ts";
import { limitsOf } from "./memory/limits.ts";
import { evidenceOf, recallable } from "./memory/recall.ts";
import { remembered } from "./memory/remembered.ts";
import { statementsOf } from "./memory/statements.ts";
import type { ReadyReply, ReplyLayer, ReplySource } from "./ready-reply.ts";
import { type Offer, type Origin, worthOf } from "./reckoning.ts";
import { type Act, type FormName, filled, type ReplyBook, type Tone } from "./reply-book.ts";
import { ALL_SOURCES, answers, guesses, mayOffer, type Sources } from "./sources.ts";
import { answerSum } from "./sums.ts";
import { plainWords, type Talk, talkOf } from "./talk.ts";
import { fitOf, isContrary, isGlad, isGladOfIt, isGrave, isOutOfTone, isSurelyGood, mayBe } from "./tone.ts";
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
    // What a turn's form asks for is answered by a line, unless it is only guessed and a reply answered all but the same turn.
    const isTheSame = judged.some(({ origin, nearness }) => origin === "found" && nearness >= THE_SAME);
    const isPersona = dialogue.instructions !== undefined && asksWhoSpeaks(talk.newest);
    // A word that they put right themselves is taken up.
    const ofForm =
      judged[0]?.origin === "corrected"
        ? judged[0]
        : ((isPersona ? judged.find(({ origin }) => origin === "desk") : undefined) ??
          judged.find(({ origin }) => origin === "form"));
    const best =
      form === null && isTheSame ? judged.find(({ origin }) => origin !== "form") : (ofForm ?? judged[0]);
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

  /** What may be said, of each origin the best first; nothing that was heard, or that somebody will not have. */
  async #candidates(
    talk: Talk,
    dialogue: Dialogue,
    width: CandidateWidth,
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    const reading = await this.#read(talk, signal);
    const limits = limitsOf(dialogue.history, dialogue.speaker);
    const seen = new Set<string>();
    const told = reading.asks ? await this.#saidBack(talk, reading.vector, dialogue.history, signal) : [];
    const each: readonly (readonly [readonly Offer[], number])[] = [
      [told, width.clauses],
      ...(await this.#foundOffers(talk, reading, dialogue.instructions, width, signal)),
      ...this.#lineOffers(talk, reading, dialogue.instructions, width),
    ];
    return each.flatMap(([offers, most]) =>
      offers
        .filter(({ text, origin }) => {
          const words = plainWords(text);
          // What a desk has is told as often as it is asked for.
          if ((talk.heard.has(words) && origin !== "desk") || seen.has(words)) return false;
          // What they told may be told back.
          if (origin !== "told" && limits.areBrokenBy(text)) return false;
          seen.add(words);
          return true;
        })
        .slice(0, most)
        .map((offer) => ({
          ...offer,
          layer: LAYERS[offer.origin],
          act: reading.act.name,
          isScene: reading.isScene,
          isGladless: reading.isGladless,
          ...(offer.origin === "desk" && { hasReadInstructions: true }),
        })),
    );
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

  /** Replies of other conversations, to the turn made whole and to the turn as it stands. */
  async #foundOffers(
    talk: Talk,
    { newest, vector, guess, asks, isScene, isGladless }: Reading,
    instructions: string | undefined,
    width: CandidateWidth,
    signal: AbortSignal,
  ): Promise<readonly (readonly [readonly Offer[], number])[]> {
    const { bank, numbers, tones } = this.#book;
    // What was reckoned with the numbers of another conversation is wrong in this one.
    const hasNumbers = !asks && datesAndNumbers(newest).length > 0;
    const mayBeSaid = ({ entry }: FoundReply) =>
      !(hasNumbers && datesAndNumbers(entry.reply).some((word) => !talk.words.has(word))) &&
      !(asks && speaksOfYou(entry.reply, talk.words)) &&
      !asksWhatWasSaid(entry.reply, talk.words) &&
      entry.borrowed.every((word) => talk.words.has(word)) &&
      (isScene || !entry.isInRole) &&
      (entry.isAnswer || !asks) &&
      !(isGladless && isGlad(entry.reply, entry.tone, tones)) &&
      (instructions === undefined || isOfTheDesk(entry.reply, instructions, talk.words));
    const whole: FoundReply[] = [];
    for (const turn of talk.whole)
      whole.push(...nearestReplies(bank, numbers, await this.#vectorOf(turn, signal), null));
    const before = talk.previous === null ? null : await this.#vectorOf(talk.previous, signal);
    const near = nearestReplies(bank, numbers, vector, before).filter(
      (one) =>
        one.likeness >= MIN_LIKENESS &&
        (asks || !isOutOfTone(one.entry.reply, one.entry.tone, newest, guess, tones)),
    );
    const offers = (origin: Origin, from: readonly FoundReply[]) =>
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
    instructions: string | undefined,
    width: CandidateWidth,
  ): readonly (readonly [readonly Offer[], number])[] {
    const { tones, forms } = this.#book;
    const offers = (origin: Origin, texts: readonly string[], nearness = 0) =>
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
    const question =
      instructions === undefined
        ? from("honest", indirectQuestion(talk.whole[0] ?? newest) ?? indirectQuestion(newest))
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
          asks || isScene ? [] : shifted(isFit ? tone.lines : this.#neutral, talk.chance),
          this.#fitOf(tone, guess),
        ),
        width.lines,
      ],
      [offers("view", asksView(newest) ? from("view") : []), width.lines],
      [offers("doubt", doubtsUs(newest) && talk.previous !== null ? from("doubt") : []), width.lines],
      [offers("honest", asks && !isScene ? question : []), 1],
      [asks ? offers("asked", from("asked")) : offers("neutral", shifted(this.#neutral, talk.chance)), 1],
    ];
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
    if (!guesses(sources)) return this.#plainLine(talk);
    const best = (await this.#judged(dialogue, talk, signal)).find((one) => mayOffer(sources, one, talk));
    if (written === null) return best ?? this.#plainLine(talk);
    if (best === undefined) return null;
    const worth = worthOf(writtenOffer(written, talk), talk, this.#book.reckoning);
    // Nobody is glad after a sorrow.
    return best.worth > worth || (best.isGladless && isGladOfIt(written)) ? best : null;
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

  /** What somebody told, said back, what most likely answers first. */
  async #saidBack(
    talk: Talk,
    vector: Float32Array,
    history: readonly Turn[],
    signal: AbortSignal,
  ): Promise<readonly Offer[]> {
    const told = statementsOf(history, history.at(-1)?.speaker ?? "");
    const offers: Offer[] = [];
    for (const { text, saidBack, features } of recallable(talk.newest ?? "", told)) {
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

  /** What may be said to anything. */
  #plainLine(talk: Talk): ReadyReply | null {
    return this.#ready("line", isAsked(talk.newest) ? this.#book.forms.asked : this.#neutral, talk);
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
type Candidate = ReadyReply &
  Offer & { readonly act: string; readonly isScene: boolean; readonly isGladless: boolean };

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
interface CandidateWidth {
  readonly clauses: number;
  readonly lines: number;
  readonly found: number;
  readonly whole: number;
}

const WIDTH: CandidateWidth = { clauses: 2, lines: 1, found: 3, whole: 2 };
const TEACHING_WIDTH: CandidateWidth = { clauses: 2, lines: 2, found: 4, whole: 2 };
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
