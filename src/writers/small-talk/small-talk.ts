import { createHash } from "node:crypto";
import { join } from "node:path";
import { LruCache } from "../../audio/lru-cache.ts";
import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../../core/writer.ts";
import { sentencesOf } from "../../text/sentences/sentence-cutter.ts";
import { openLlama } from "../llama/llama-runtime.ts";
import { SentenceEncoder, spokenKey } from "../llama/sentence-encoder.ts";
import { checkPackaged } from "../packaged-file.ts";
import { answerSum } from "./answer-sum.ts";
import {
  type Act,
  ENCODER_FILE,
  type FoundReply,
  nearestReplies,
  neutralLines,
  REPLIES_DIR,
  type ReplyBook,
  readReplyBook,
  repliesError,
} from "./canned-replies.ts";
import { actByForm, guessOf, isAsked, isPhrasedAs, type TurnGuess } from "./classify-turn.ts";
import {
  alreadySaid,
  asksWhatWasSaid,
  contentWords,
  datesAndNumbers,
  namesUnheard,
  plainWords,
  speaksOfYou,
  tellsWhatWasSaid,
} from "./content-words.ts";
import {
  allowsPolarity,
  fittestTone,
  isCondoling,
  isContrary,
  isGlad,
  isGrave,
  isJoyful,
  isOutOfTone,
  isSurelyBad,
  isSurelyGood,
} from "./tone.ts";

/** Embeds a text as a unit vector. */
export type Embed = (text: string, signal: AbortSignal) => Promise<Float32Array>;

/**
 * English small talk from packaged replies. Returns the first that exists: a sum of the newest turn, a line for its form or
 * for a kind answered "form" (unless a reply to nearly the same turn is found), a found reply, a line for its kind, "I don't
 * know" to a question, a line for its tone, a neutral line.
 */
export class SmallTalk implements Writer {
  readonly name = "small-talk";
  readonly #book: ReplyBook;
  readonly #embed: Embed;
  readonly #free: () => Promise<void>;
  readonly #acts: ReadonlyMap<string, Act>;
  /** By {@link spokenKey}: every later request repeats earlier turns. */
  readonly #vectors = new LruCache<Float32Array>(MAX_VECTORS);
  #isClosed = false;

  constructor(book: ReplyBook, embed: Embed, free: () => Promise<void> = async () => {}) {
    this.#book = book;
    this.#embed = embed;
    this.#free = free;
    this.#acts = new Map(book.acts.map((act) => [act.name, act]));
  }

  async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart, void, void> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new WriterError("the writer was closed");
    const { text, layer } = await this.#replyTo(dialogue, signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new WriterError("the embedded writer failed: retry", { cause, retryAfterMs: 1_000 });
    });
    for (const sentence of sentencesOf(text)) {
      signal.throwIfAborted();
      yield { text: sentence, tokens: null, gate: null, layer };
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#free();
  }

  async #replyTo(dialogue: Dialogue, signal: AbortSignal): Promise<Reply> {
    const { tones, unknown } = this.#book;
    const { history, speaker } = dialogue;
    const choice = new Choice(dialogue);
    const neutral = neutralLines(this.#book);
    const linesOf = (act: string) => this.#acts.get(act)?.lines ?? neutral;
    const others = history.filter((turn) => turn.speaker !== speaker && turn.text !== null);
    const last = history.at(-1);
    if (last === undefined) return choice.always(linesOf("greeting"));
    if (last.speaker === speaker) return choice.always(neutral);
    const newest = onOneLine(last.text);
    if (newest === "") return choice.always(linesOf("unheard"));

    const sum = answerSum(newest);
    if (sum !== null) return { layer: "exact", text: sum };
    const form = actByForm(newest);
    // Even in a role-play, admit to being a machine.
    if (form === "identity" || form === "garbled") return choice.always(linesOf(form));

    const vector = await this.#vectorOf(newest, signal);
    const end = sentencesOf(newest).at(-1) ?? newest;
    const guess = guessOf(
      this.#book,
      end === newest ? [vector] : [vector, await this.#vectorOf(end, signal)],
    );
    const formAct = this.#acts.get(form ?? "");
    const act = formAct ?? guess.act;
    const turn: ReadTurn = {
      newest,
      vector,
      guess,
      asks: isAsked(newest),
      isScene: SCENES.has(act.name) || (others.length > 1 && (await this.#opensScene(others[0]!, signal))),
      isAfterSorrow: !isSurelyGood(guess, tones) && (await this.#isAfter(isGrave, others, signal)),
      isAfterJoy: !isSurelyBad(newest, guess, tones) && (await this.#isAfter(isJoyful, others, signal)),
    };
    const kindLine = this.#fitsKind(act, formAct !== undefined, turn) ? choice.ofNew(act.lines) : null;
    const found = (await this.#isRuledOut(turn, others, signal))
      ? null
      : await this.#found(dialogue, turn, signal);
    const isTheSame = found !== null && found.likeness >= SAME_TURN;
    if (kindLine !== null && act.answered === "form" && (formAct !== undefined || !isTheSame))
      return kindLine;
    if (found !== null) return { layer: "found", text: found.entry.reply };
    if (kindLine !== null) return kindLine;
    if (turn.asks) return choice.always(unknown);
    const tone = fittestTone(guess, tones);
    const fitsTone = !turn.isScene && this.#mayHave(tone.polarity, turn);
    return (fitsTone ? choice.ofNew(tone.lines) : null) ?? choice.always(neutral);
  }

  /** Whether a line of this kind may be said to a turn. */
  #fitsKind(act: Act, isToldByForm: boolean, turn: ReadTurn): boolean {
    const minProbability = act.answered === "form" ? act.least : MIN_KIND_PROBABILITY;
    return (
      !turn.isScene &&
      (isToldByForm || turn.guess.probability >= minProbability) &&
      isPhrasedAs(act, turn.newest) &&
      this.#mayHave(act.polarity, turn)
    );
  }

  /** Returns whether a reply of this polarity fits: no congratulations soon after bad news, nor condolences after good. */
  #mayHave(polarity: Act["polarity"], { newest, guess, isAfterSorrow, isAfterJoy }: ReadTurn): boolean {
    return (
      allowsPolarity(polarity, newest) &&
      !isContrary(polarity, guess, this.#book.tones) &&
      !(polarity === "good" ? isAfterSorrow : polarity === "bad" && isAfterJoy)
    );
  }

  /** The best reply of another conversation that fits this one; `null` if there is none. */
  async #found(
    { history, speaker }: Dialogue,
    turn: ReadTurn,
    signal: AbortSignal,
  ): Promise<FoundReply | null> {
    const { bank, numbers, tones } = this.#book;
    const { newest, vector, guess, asks } = turn;
    const last = history.at(-2);
    const before =
      last?.speaker === speaker && last.text !== null ? await this.#vectorOf(last.text, signal) : null;
    const texts = history.map(({ text }) => text ?? "").join(" ");
    const words = contentWords(texts.slice(-MAX_CHARS));
    const said = alreadySaid(history, speaker);
    // "Why?" and "Blue." depend on the turn before: accept only replies that opened their own conversation.
    const leans = (!asks && !newest.includes(" ")) || (before !== null && contentWords(newest).size === 0);
    // Turns that differ in their numbers alone are nearly the same to the encoder.
    const isSum = asks && guess.act.name === "sum";
    if (isSum && datesAndNumbers(newest).length > 0) return null;
    const minLikeness = leans || isSum ? SAME_TURN : before === null ? MIN_LIKENESS : MIN_LIKENESS_LATER;
    const suits = ({ entry: { reply, tone, isAnswer }, likeness, isOpening }: FoundReply) =>
      likeness >= minLikeness &&
      (isOpening || !leans) &&
      (isAnswer === asks || (turn.isScene && !asks) || likeness >= SAME_TURN) &&
      // An answer must not assert facts about the user; a reply to a statement must match its tone.
      (asks
        ? !speaksOfYou(reply, words)
        : !namesUnheard(reply, words) && !isOutOfTone(reply, tone, newest, guess, tones));
    const best = nearestReplies(bank, numbers, vector, before).find(
      (found) =>
        suits(found) &&
        (!isCondoling(found.entry.reply, found.entry.tone, tones) || this.#mayHave("bad", turn)) &&
        !tellsWhatWasSaid(found.entry.reply) &&
        !asksWhatWasSaid(found.entry.reply, words) &&
        found.entry.borrowed.every((word) => words.has(word)) &&
        (turn.isScene || !found.entry.isInRole) &&
        !(turn.isAfterSorrow && isGlad(found.entry.reply, found.entry.tone, tones)) &&
        !said.has(plainWords(found.entry.reply)),
    );
    return best ?? null;
  }

  /**
   * Returns whether a found reply may recommend exactly what was ruled out: to any question after or beside a diet or a
   * refusal, and to one for food or ideas after anything that they told.
   */
  async #isRuledOut(
    { asks, guess }: ReadTurn,
    others: readonly Said[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!asks) return false;
    if (others.some(({ text }) => rulesOut(text ?? ""))) return true;
    if (!RECOMMENDING.has(guess.act.name)) return false;
    for (const text of others.slice(0, -1).map((turn) => onOneLine(turn.text))) {
      if (text === "" || (isAsked(text) && !OF_THEMSELVES.test(text))) continue;
      const { act, probability } = guessOf(this.#book, [await this.#vectorOf(text, signal)]);
      if (act.answered !== "form" || probability < MIN_KIND_PROBABILITY) return true;
    }
    return false;
  }

  async #vectorOf(text: string, signal: AbortSignal): Promise<Float32Array> {
    const key = spokenKey(text);
    const vector = this.#vectors.get(key) ?? (await this.#embed(text, signal));
    this.#vectors.set(key, vector);
    return vector;
  }

  /** Returns whether one of the turns shortly before the newest tells such news. */
  async #isAfter(tells: typeof isGrave, others: readonly Said[], signal: AbortSignal): Promise<boolean> {
    for (const { text } of others.slice(-1 - NEWS_TURNS, -1)) {
      const line = onOneLine(text);
      if (line === "") continue;
      const guess = guessOf(this.#book, [await this.#vectorOf(line, signal)]);
      if (tells(line, guess, this.#book.tones)) return true;
    }
    return false;
  }

  /** Returns whether a conversation began with a request for role-play. */
  async #opensScene({ text }: Said, signal: AbortSignal): Promise<boolean> {
    const { act, probability } = guessOf(this.#book, [await this.#vectorOf(text ?? "", signal)]);
    return SCENES.has(act.name) && probability >= MIN_KIND_PROBABILITY;
  }
}

interface Reply {
  readonly layer: "exact" | "line" | "found";
  readonly text: string;
}

/** Another speaker's turn; `text` is null if it was not transcribed. */
interface Said {
  readonly text: string | null;
}

/** The newest turn, and what a reply to it depends on. */
interface ReadTurn {
  readonly newest: string;
  readonly vector: Float32Array;
  readonly guess: TurnGuess;
  readonly asks: boolean;
  /** Whether a character is being played, who may have a body and a past. */
  readonly isScene: boolean;
  readonly isAfterSorrow: boolean;
  readonly isAfterJoy: boolean;
}

/** Picks a line by a hash of the conversation and, above temperature 0, the seed. */
class Choice {
  readonly #chance: number;
  readonly #said: ReadonlySet<string>;

  constructor({ history, speaker, temperature, seed }: Dialogue) {
    const hash = createHash("sha256").update(history.map(({ text }) => text ?? "").join("\n"));
    if (temperature > 0) hash.update(`\n${seed}`);
    this.#chance = hash.digest().readUInt32LE(0);
    this.#said = alreadySaid(history, speaker);
  }

  /** Returns an unsaid line, or null. */
  ofNew(lines: readonly string[]): Reply | null {
    const fresh = lines.filter((line) => !this.#said.has(plainWords(line)));
    return fresh.length === 0 ? null : this.#lineOf(fresh);
  }

  /** Returns an unsaid line, else a repeated one. */
  always(lines: readonly string[]): Reply {
    return this.ofNew(lines) ?? this.#lineOf(lines);
  }

  #lineOf(lines: readonly string[]): Reply {
    return { layer: "line", text: lines[this.#chance % lines.length]! };
  }
}

function onOneLine(text: string | null): string {
  return (text ?? "").replaceAll(/\s+/g, " ").trim();
}

function rulesOut(text: string): boolean {
  const plain = text.replaceAll("’", "'");
  return DIETS.test(plain) || REFUSALS.test(plain);
}

/** Incomplete on purpose: a miss only allows a found reply. */
const DIETS =
  /\b(?:allerg|intoleran|anaphyla|coeliac|celiac|diabet|vegan|vegetarian|pregnan|kosher|halal|sober|nothing to eat)/i;
const REFUSALS =
  /\b(?:can't|cannot|don't|doesn't|won't|never|stopped|no) (?:really |ever )?(?:eat|have|drink|touch|stand|do|like|swim|fly|drive|see|walk)(?:ing)?\b/i;
const OF_THEMSELVES = /\b(?:i|my|me|we|our|us)\b/i;
/** Kinds of question whose answer depends most on who asks. */
const RECOMMENDING: ReadonlySet<string> = new Set(["cook", "recommend"]);
/** Minimum cosine for a found reply: first reply, later replies. */
const MIN_LIKENESS = 0.7;
const MIN_LIKENESS_LATER = 0.8;
/** Cosine from which two turns count as the same. */
const SAME_TURN = 0.88;
const MIN_KIND_PROBABILITY = 0.5;
/** Newest characters searched for content words (30 minutes of speech). */
const MAX_CHARS = 24_000;
/** Turns for which bad news is not followed by congratulations, nor good news by condolences. */
const NEWS_TURNS = 4;
const MAX_VECTORS = 300;
/** Kinds of turns that ask for a character to be played. */
const SCENES: ReadonlySet<string> = new Set(["roleplay", "service", "staff"]);

/**
 * Opens the small talk that comes with the package.
 *
 * @throws WriterError, with the remedy, if a file is missing or damaged or llama.cpp is not there
 */
export async function openSmallTalk(dir: string = REPLIES_DIR): Promise<SmallTalk> {
  const book = await readReplyBook(dir);
  const path = join(dir, ENCODER_FILE);
  await checkPackaged(path, book.encoder.sha256, (what, cause) => repliesError(ENCODER_FILE, what, cause));
  const runtime = await openLlama().catch((cause: Error) => {
    throw new WriterError(cause.message, { cause });
  });
  const encoder = await SentenceEncoder.open(runtime, path).catch((cause) => {
    throw repliesError(ENCODER_FILE, "cannot be loaded", cause);
  });
  return new SmallTalk(
    book,
    (text, signal) => encoder.unitVectorOf(text, signal),
    () => encoder.close(),
  );
}
