import { createHash } from "node:crypto";
import type { Dialogue } from "../../model/writer.ts";
import { sentencesOf } from "../../text/sentence-cutter.ts";
import { type FoundReply, nearestReplies } from "./bank.ts";
import { guessOf, type TurnGuess } from "./heads.ts";
import { remembered } from "./memory/remembered.ts";
import type { ReadyReply, ReplyLayer, ReplySource } from "./ready-or-written.ts";
import type { Act, ReplyBook, Tone } from "./reply-book.ts";
import { ALL_SOURCES, answers, finds, guesses, type Sources } from "./sources.ts";
import { answerSum } from "./sums.ts";
import { plainWords, type Talk, talkOf } from "./talk.ts";
import { fitOf, isContrary, isGlad, isGrave, isOutOfTone, isSurelyGood, mayBe } from "./tone.ts";
import { actByForm, isAsked, isPhrasedAs } from "./turn-form.ts";

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

  /** By digest whether a turn is grave: each is asked about with several after it. */
  readonly #grave = new Map<string, boolean>();

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
    const talk = talkOf(dialogue);
    if (talk === null) return null;
    const sources = this.#sourcesFor(dialogue);
    if (talk.newest === null) {
      if (!answers(sources, "unheard")) return null;
      return this.#line("unheard", talk) ?? this.#again("unheard", talk);
    }
    const exact = sources.exact
      ? (answerSum(talk.newest) ?? remembered(dialogue.history, dialogue.speaker, talk))
      : null;
    // What is worked out is as right the second time.
    if (exact !== null) return { layer: "exact", text: exact };
    const form = actByForm(talk.newest);
    // Whether this is a machine is always told, in a scene, too.
    if (form === "identity" || form === "garbled")
      return answers(sources, form) ? this.#line(form, talk) : null;
    if (!guesses(sources)) return null;

    const vector = await this.#embed(talk.newest, signal);
    const sentences = sentencesOf(talk.newest);
    const tail = sentences.length > 1 ? await this.#embed(sentences.at(-1) ?? "", signal) : null;
    const vectors = tail === null ? [vector] : [vector, tail];
    const guess = guessOf(this.#book, vectors);
    const byForm = this.#acts.get(form ?? "");
    const act = byForm ?? guess.act;
    const isScene = SCENES.has(act.name) || (await this.#beganAsScene(talk, signal));
    const { bank, numbers, tones } = this.#book;
    const isSure =
      !isScene &&
      (byForm !== undefined ||
        (guess.probability >= act.least &&
          isPhrasedAs(act, talk.newest) &&
          !isContrary(act.polarity, guess, tones)));

    const before = talk.previous === null ? null : await this.#embed(talk.previous, signal);
    const asks = isAsked(talk.newest);
    const isNod = this.#tone(guess)?.name === NOD;
    const near = nearestReplies(bank, numbers, vector, before).filter(
      (one) =>
        (isScene || !one.entry.isInRole) &&
        (one.entry.isAnswer || !asks) &&
        isNear(one, talk, isNod) &&
        (asks || !isOutOfTone(one.entry.reply, one.entry.tone, talk.newest, guess, tones)),
    );
    const isJoyful = ({ entry }: FoundReply) => isGlad(entry.reply, entry.tone, tones);
    const mayRejoice =
      act.polarity === "good" || this.#fittest(guess).polarity === "good" || near.some(isJoyful);
    this.#keepGrave(talk.newest, guess);
    const isGladless =
      mayRejoice &&
      !isScene &&
      !isSurelyGood(guess, tones) &&
      (await this.#isAfterSorrow(talk.earlier, signal));
    const found = isGladless ? near.filter((one) => !isJoyful(one)) : near;
    const isBarred = isGladless && act.polarity === "good";
    const mayAnswer = isSure && !isBarred && act.answered !== "none" && answers(sources, act.name);
    const line = mayAnswer ? this.#line(act.name, talk) : null;
    const isFirst = act.answered === "form" && (byForm !== undefined || (found[0]?.likeness ?? 0) < THE_SAME);
    if (line !== null && isFirst) return line;
    const ready = (finds(sources, talk, isScene) ? this.#found(found, talk) : null) ?? line;
    const mayBeAny = sources.lines === null && !isScene;
    return ready ?? (mayBeAny ? this.#anyLine(guess, talk, isGladless) : null);
  }

  fallback(dialogue: Dialogue): string | null {
    const talk = talkOf(dialogue);
    if (talk === null) return null;
    const among = isAsked(talk.newest) ? this.#book.asked : this.#neutral;
    return this.#ready("line", among, talk)?.text ?? null;
  }

  close(): Promise<void> {
    return this.#free();
  }

  /** Whether one of these turns told something grave. */
  async #isAfterSorrow(turns: readonly string[], signal: AbortSignal): Promise<boolean> {
    for (const turn of turns) {
      const known = this.#grave.get(digestOf(turn));
      if (known ?? this.#keepGrave(turn, guessOf(this.#book, [await this.#embed(turn, signal)]))) return true;
    }
    return false;
  }

  /** Keeps whether a turn is grave, since it is asked again with each of the next few. */
  #keepGrave(turn: string, guess: TurnGuess): boolean {
    const grave = isGrave(turn, guess, this.#book.tones);
    if (this.#grave.size >= MAX_KEPT) this.#grave.clear();
    this.#grave.set(digestOf(turn), grave);
    return grave;
  }

  /** Whether the other one began by asking for a part to be played, or as somebody who serves or is served. */
  async #beganAsScene({ opening }: Talk, signal: AbortSignal): Promise<boolean> {
    if (opening === null) return false;
    const { act, probability } = guessOf(this.#book, [await this.#embed(opening, signal)]);
    return SCENES.has(act.name) && probability >= 0.5;
  }

  /** The nearest that was not heard; of those that are hardly less near, any. */
  #found(found: readonly FoundReply[], talk: Talk): ReadyReply | null {
    const best = found[0]?.likeness ?? 0;
    const near = found.filter(({ likeness }) => likeness >= best - NEARLY);
    for (const among of [near, found]) {
      const ready = this.#ready(
        "found",
        among.map(({ entry }) => entry.reply),
        talk,
      );
      if (ready !== null) return ready;
    }
    return null;
  }

  /**
   * What may be said to anything that is told in its tone, or to a nod; to anything at all, where that is uncertain. A
   * question, a request or a farewell has no such line.
   */
  #anyLine(guess: TurnGuess, talk: Talk, isGladless: boolean): ReadyReply | null {
    const { tones } = this.#book;
    const answerable = tones.reduce(
      (sum, { lines }, n) => sum + (lines.length > 0 ? (guess.tones[n] ?? 0) : 0),
      0,
    );
    if (isAsked(talk.newest) || answerable < MIN_TOLD) return null;
    const tone = this.#fittest(guess);
    const isFit = mayBe(tone.polarity, talk.newest) && !(isGladless && tone.polarity === "good");
    return (isFit ? this.#ready("line", tone.lines, talk) : null) ?? this.#ready("line", this.#neutral, talk);
  }

  /** The tone whose lines fit best over all that it may be. */
  #fittest(guess: TurnGuess): Tone {
    const { tones } = this.#book;
    const fits = tones.map((tone, n) => ({ tone, fit: fitOf(n, guess, tones) }));
    return fits.reduce((best, one) => (one.fit > best.fit ? one : best)).tone;
  }

  /** The likeliest tone. */
  #tone({ tones }: TurnGuess): Tone | undefined {
    return this.#book.tones[tones.indexOf(Math.max(...tones))];
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

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

/** Whether a reply answers much the same, and names nothing that was not said here. */
function isNear({ entry, likeness, context }: FoundReply, talk: Talk, isNod: boolean): boolean {
  const { isSelfContained, previous, words } = talk;
  if (likeness < MIN_LIKENESS || !entry.borrowed.every((word) => words.has(word))) return false;
  // "Like what?" means what was said before it, and so does "That's not bad, actually".
  return previous === null || (isSelfContained && !isNod) || (context !== null && context >= MIN_CONTEXT);
}

/** From which likeness a reply of another conversation may answer this one, and from which it surely does. */
const MIN_LIKENESS = 0.76;
const THE_SAME = 0.88;
/** From which likeness what was said before is about the same. */
const MIN_CONTEXT = 0.55;
const MAX_KEPT = 1000;
/** What is this much less like is as good. */
const NEARLY = 0.02;
/** How sure it must be that something is told. */
const MIN_TOLD = 0.5;
/** The tone whose lines ask to hear more, whatever is told. */
const NEUTRAL = "plain";
/** The tone of what only answers to what was said before. */
const NOD = "reacts";
const SCENES: ReadonlySet<string> = new Set(["roleplay", "service", "staff"]);
