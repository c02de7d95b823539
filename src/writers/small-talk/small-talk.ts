import { join } from "node:path";
import { LruCache } from "../../audio/lru-cache.ts";
import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../../core/writer.ts";
import { sentencesOf } from "../../text/sentences/sentence-cutter.ts";
import { openLlama } from "../llama/llama-runtime.ts";
import { cacheKey, SentenceEncoder } from "../llama/sentence-encoder.ts";
import { checkPackaged } from "../packaged-file.ts";
import { answerSum } from "./answer-sum.ts";
import {
  type CannedReplies,
  type DialogueAct,
  ENCODER_FILE,
  LineChooser,
  nearestReplies,
  neutralLines,
  REPLIES_DIR,
  type Reply,
  type RetrievedReply,
  readCannedReplies,
  repliesError,
} from "./canned-replies.ts";
import {
  classifyTurn,
  hasSentenceTypeOf,
  isQuestion,
  matchAct,
  type TurnClassification,
} from "./classify-turn.ts";
import {
  asksSomethingAnswered,
  claimsAboutUser,
  contentWords,
  datesAndNumbers,
  namesSomethingNew,
  plainWords,
  refersToEarlierTurns,
  spokenTexts,
} from "./content-words.ts";
import { englishOnlyReply } from "./english-only.ts";
import {
  allowsPolarity,
  bestTone,
  contradictsPolarity,
  isCondoling,
  isGlad,
  isGoodNews,
  isGraveNews,
  isOutOfTone,
  isSurelyBad,
  isSurelyGood,
} from "./tone.ts";

/** Embeds a text as a unit vector. */
export type Embed = (text: string, signal: AbortSignal) => Promise<Float32Array>;

/**
 * English small talk from packaged replies; a voice of another language says that it knows English only. Uses the first that exists: the answer to a sum; a line of the act if it
 * has priority over retrieval (unless a nearly equal turn is found); a retrieved reply; a line of the act; "I don't
 * know" for a question; a line of the tone; a neutral line.
 */
export class SmallTalk implements Writer {
  readonly name = "small-talk";
  readonly #replies: CannedReplies;
  readonly #embed: Embed;
  readonly #free: () => Promise<void>;
  readonly #acts: ReadonlyMap<string, DialogueAct>;
  /** Vectors by {@link cacheKey}: every request repeats earlier turns. */
  readonly #vectors = new LruCache<Float32Array>(MAX_VECTORS);
  #isClosed = false;

  constructor(replies: CannedReplies, embed: Embed, free: () => Promise<void> = async () => {}) {
    this.#replies = replies;
    this.#embed = embed;
    this.#free = free;
    this.#acts = new Map(replies.acts.map((act) => [act.name, act]));
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
    const { tones, unknown } = this.#replies;
    const { history, speaker } = dialogue;
    const choice = new LineChooser(dialogue);
    const neutral = neutralLines(this.#replies);
    const linesOf = (act: string) => this.#acts.get(act)?.lines ?? neutral;
    const others = history.filter((turn) => turn.speaker !== speaker && turn.text !== null);
    const last = history.at(-1);
    const text = englishOnlyReply(dialogue);
    if (text !== null) return { layer: "line", text };
    if (last === undefined) return choice.choose(linesOf("greeting"));
    if (last.speaker === speaker) return choice.choose(neutral);
    const newest = onOneLine(last.text);
    if (newest === "") return choice.choose(linesOf("unheard"));

    const sum = answerSum(newest);
    if (sum !== null) return { layer: "exact", text: sum };
    const pattern = matchAct(newest);
    // Admits to being a machine, even in role-play.
    if (pattern === "identity" || pattern === "garbled") return choice.choose(linesOf(pattern));

    const vector = await this.#vectorOf(newest, signal);
    const end = sentencesOf(newest).at(-1) ?? newest;
    const classification = classifyTurn(
      this.#replies,
      end === newest ? [vector] : [vector, await this.#vectorOf(end, signal)],
    );
    const patternAct = this.#acts.get(pattern ?? "");
    const act = patternAct ?? classification.act;
    const turn: AnalysedTurn = {
      newest,
      vector,
      classification,
      asksQuestion: isQuestion(newest),
      isRolePlay:
        ROLE_PLAY_ACTS.has(act.name) ||
        (others.length > 1 && (await this.#opensRolePlay(others[0]!, signal))),
      isAfterSorrow:
        !isSurelyGood(classification, tones) && (await this.#isAfter(isGraveNews, others, signal)),
      isAfterJoy:
        !isSurelyBad(newest, classification, tones) && (await this.#isAfter(isGoodNews, others, signal)),
    };
    const actLine = this.#fitsAct(act, patternAct !== undefined, turn)
      ? choice.chooseUnspoken(act.lines)
      : null;
    const found = (await this.#mayRecommendRuledOut(turn, others, signal))
      ? null
      : await this.#retrieve(dialogue, turn, signal);
    const isSameTurn = found !== null && found.similarity >= SAME_TURN_SIMILARITY;
    if (actLine !== null && act.answered === "form" && (patternAct !== undefined || !isSameTurn))
      return actLine;
    if (found !== null) return { layer: "found", text: found.entry.reply };
    if (actLine !== null) return actLine;
    if (turn.asksQuestion) return choice.choose(unknown);
    const tone = bestTone(classification, tones);
    const fitsTone = !turn.isRolePlay && this.#allowsPolarity(tone.polarity, turn);
    return (fitsTone ? choice.chooseUnspoken(tone.lines) : null) ?? choice.choose(neutral);
  }

  /** Returns whether a line of the act fits the turn. */
  #fitsAct(act: DialogueAct, isMatchedByPattern: boolean, turn: AnalysedTurn): boolean {
    const minProbability = act.answered === "form" ? act.least : MIN_ACT_PROBABILITY;
    return (
      !turn.isRolePlay &&
      (isMatchedByPattern || turn.classification.probability >= minProbability) &&
      hasSentenceTypeOf(act, turn.newest) &&
      this.#allowsPolarity(act.polarity, turn)
    );
  }

  /**
   * Returns whether a reply of this polarity fits: no congratulations soon after bad news, no condolences after good.
   */
  #allowsPolarity(
    polarity: DialogueAct["polarity"],
    { newest, classification, isAfterSorrow, isAfterJoy }: AnalysedTurn,
  ): boolean {
    return (
      allowsPolarity(polarity, newest) &&
      !contradictsPolarity(polarity, classification, this.#replies.tones) &&
      !(polarity === "good" ? isAfterSorrow : polarity === "bad" && isAfterJoy)
    );
  }

  /** Retrieves the best reply from another conversation, or `null`. */
  async #retrieve(
    { history, speaker }: Dialogue,
    turn: AnalysedTurn,
    signal: AbortSignal,
  ): Promise<RetrievedReply | null> {
    const { bank, matrices, tones } = this.#replies;
    const { newest, vector, classification, asksQuestion } = turn;
    const last = history.at(-2);
    const before =
      last?.speaker === speaker && last.text !== null ? await this.#vectorOf(last.text, signal) : null;
    const texts = history.map(({ text }) => text ?? "").join(" ");
    const words = contentWords(texts.slice(-MAX_CHARS));
    const said = spokenTexts(history, speaker);
    // "Why?" and "Blue." depend on the turn before: accept only replies to opening turns.
    const dependsOnContext =
      (!asksQuestion && !newest.includes(" ")) || (before !== null && contentWords(newest).size === 0);
    // Turns that differ only in numbers look nearly equal to the encoder.
    const isSum = asksQuestion && classification.act.name === "sum";
    if (isSum && datesAndNumbers(newest).length > 0) return null;
    const minSimilarity =
      dependsOnContext || isSum
        ? SAME_TURN_SIMILARITY
        : before === null
          ? MIN_SIMILARITY
          : MIN_LATER_SIMILARITY;
    const suits = ({ entry: { reply, tone, isAnswer }, similarity, isOpening }: RetrievedReply) =>
      similarity >= minSimilarity &&
      (isOpening || !dependsOnContext) &&
      (isAnswer === asksQuestion ||
        (turn.isRolePlay && !asksQuestion) ||
        similarity >= SAME_TURN_SIMILARITY) &&
      // An answer must not assert facts about the user; a reply to a statement must match its tone.
      (asksQuestion
        ? !claimsAboutUser(reply, words)
        : !namesSomethingNew(reply, words) && !isOutOfTone(reply, tone, newest, classification, tones));
    const best = nearestReplies(bank, matrices, vector, before).find(
      (found) =>
        suits(found) &&
        (!isCondoling(found.entry.reply, found.entry.tone, tones) || this.#allowsPolarity("bad", turn)) &&
        !refersToEarlierTurns(found.entry.reply) &&
        !asksSomethingAnswered(found.entry.reply, words) &&
        found.entry.contextWords.every((word) => words.has(word)) &&
        (turn.isRolePlay || !found.entry.isInRole) &&
        !(turn.isAfterSorrow && isGlad(found.entry.reply, found.entry.tone, tones)) &&
        !said.has(plainWords(found.entry.reply)),
    );
    return best ?? null;
  }

  /**
   * Returns whether a retrieved reply might recommend what the user ruled out: to any question after a diet or
   * refusal, and to one for food or ideas after any statement.
   */
  async #mayRecommendRuledOut(
    { asksQuestion, classification }: AnalysedTurn,
    others: readonly PartnerTurn[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!asksQuestion) return false;
    if (others.some(({ text }) => rulesOut(text ?? ""))) return true;
    if (!RECOMMENDING.has(classification.act.name)) return false;
    for (const text of others.slice(0, -1).map((turn) => onOneLine(turn.text))) {
      if (text === "" || (isQuestion(text) && !ABOUT_THEMSELVES.test(text))) continue;
      const { act, probability } = classifyTurn(this.#replies, [await this.#vectorOf(text, signal)]);
      if (act.answered !== "form" || probability < MIN_ACT_PROBABILITY) return true;
    }
    return false;
  }

  async #vectorOf(text: string, signal: AbortSignal): Promise<Float32Array> {
    const key = cacheKey(text);
    const vector = this.#vectors.get(key) ?? (await this.#embed(text, signal));
    this.#vectors.set(key, vector);
    return vector;
  }

  /** Returns whether a turn shortly before the newest tells such news. */
  async #isAfter(
    tells: typeof isGraveNews,
    others: readonly PartnerTurn[],
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const { text } of others.slice(-1 - NEWS_TURNS, -1)) {
      const line = onOneLine(text);
      if (line === "") continue;
      const classification = classifyTurn(this.#replies, [await this.#vectorOf(line, signal)]);
      if (tells(line, classification, this.#replies.tones)) return true;
    }
    return false;
  }

  /** Returns whether the conversation began with a request for role-play. */
  async #opensRolePlay({ text }: PartnerTurn, signal: AbortSignal): Promise<boolean> {
    const { act, probability } = classifyTurn(this.#replies, [await this.#vectorOf(text ?? "", signal)]);
    return ROLE_PLAY_ACTS.has(act.name) && probability >= MIN_ACT_PROBABILITY;
  }
}

/** Another speaker's turn; `text` is null without a transcript. */
interface PartnerTurn {
  readonly text: string | null;
}

/** The newest turn and what a reply to it depends on. */
interface AnalysedTurn {
  readonly newest: string;
  readonly vector: Float32Array;
  readonly classification: TurnClassification;
  readonly asksQuestion: boolean;
  /** Whether a character is played, who may have a body and a past. */
  readonly isRolePlay: boolean;
  readonly isAfterSorrow: boolean;
  readonly isAfterJoy: boolean;
}

function onOneLine(text: string | null): string {
  return (text ?? "").replaceAll(/\s+/g, " ").trim();
}

function rulesOut(text: string): boolean {
  const plain = text.replaceAll("’", "'");
  return DIETS.test(plain) || REFUSALS.test(plain);
}

/** Incomplete on purpose: a miss only allows a retrieved reply. */
const DIETS =
  /\b(?:allerg|intoleran|anaphyla|coeliac|celiac|diabet|vegan|vegetarian|pregnan|kosher|halal|sober|nothing to eat)/i;
const REFUSALS =
  /\b(?:can't|cannot|don't|doesn't|won't|never|stopped|no) (?:really |ever )?(?:eat|have|drink|touch|stand|do|like|swim|fly|drive|see|walk)(?:ing)?\b/i;
const ABOUT_THEMSELVES = /\b(?:i|my|me|we|our|us)\b/i;
/** Acts whose answer depends most on who asks. */
const RECOMMENDING: ReadonlySet<string> = new Set(["cook", "recommend"]);
/** Minimum cosine of a retrieved reply, as first and as later reply. */
const MIN_SIMILARITY = 0.7;
const MIN_LATER_SIMILARITY = 0.8;
/** Cosine from which two turns count as equal. */
const SAME_TURN_SIMILARITY = 0.88;
const MIN_ACT_PROBABILITY = 0.5;
/** Newest characters searched for content words (30 minutes of speech). */
const MAX_CHARS = 24_000;
/** Turns during which good and bad news exclude each other's replies. */
const NEWS_TURNS = 4;
const MAX_VECTORS = 300;
/** Acts that request role-play. */
const ROLE_PLAY_ACTS: ReadonlySet<string> = new Set(["roleplay", "service", "staff"]);

/**
 * Opens the packaged small talk.
 *
 * @throws WriterError with the remedy if a file is missing or damaged, or llama.cpp is missing
 */
export async function openSmallTalk(dir: string = REPLIES_DIR): Promise<SmallTalk> {
  const replies = await readCannedReplies(dir);
  const path = join(dir, ENCODER_FILE);
  await checkPackaged(path, replies.encoder.sha256, repliesError(ENCODER_FILE));
  const runtime = await openLlama().catch((cause: Error) => {
    throw new WriterError(cause.message, { cause });
  });
  const encoder = await SentenceEncoder.open(runtime, path).catch((cause) => {
    throw repliesError(ENCODER_FILE)("cannot be loaded", cause);
  });
  return new SmallTalk(
    replies,
    (text, signal) => encoder.unitVectorOf(text, signal),
    () => encoder.close(),
  );
}
