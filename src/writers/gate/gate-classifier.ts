import { LruCache } from "../../audio/lru-cache.ts";
import { abortable } from "../../core/abortable.ts";
import { stopWith } from "../../core/stop-with.ts";
import { WriterError } from "../../core/writer.ts";
import { sentencesOf } from "../../text/sentences/sentence-cutter.ts";
import { openLlama } from "../llama/llama-runtime.ts";
import { cacheKey, SentenceEncoder } from "../llama/sentence-encoder.ts";
import {
  GATE_CATEGORIES,
  GATE_DIR,
  type GateCategory,
  type GateClass,
  type GateHead,
  type GateScores,
  type GateThresholds,
  gateError,
  readGateHead,
} from "./gate-head.ts";
import { plainText } from "./plain-text.ts";

export interface GateVerdict {
  /** `null` if no fixed reply is needed. */
  readonly category: GateCategory | null;
  /** Scores of the text that decided; those of the newest turn without a category. */
  readonly scores: GateScores;
}

/** A classifier of turns that a language model must not answer. */
export interface GateClassifier {
  /**
   * Classifies the partner's lines, oldest first; only the newest three count. Calls are queued by windows of about
   * sixty words, so a long line delays none. Stops between windows when the signal aborts and throws its reason.
   * Stores no text.
   *
   * @throws WriterError when the classifier fails or is closed
   */
  classify(lines: readonly string[], signal: AbortSignal): Promise<GateVerdict>;
  mayBeEnglish(line: string): boolean;
  close(): Promise<void>;
}

/**
 * Loads the classifier: a sentence encoder and a linear head, trained in `training/gate`.
 *
 * @throws WriterError naming the file and the remedy when a file is missing or damaged, or llama.cpp is missing
 */
export async function openGateClassifier(dir: string = GATE_DIR): Promise<GateClassifier> {
  const head = await readGateHead(dir);
  const runtime = await openLlama().catch((cause: Error) => {
    throw new WriterError(
      `the safety gate needs llama.cpp: ${cause.message}; or set writer.gate to false where something better takes its place`,
      { cause },
    );
  });
  try {
    return new EncoderGateClassifier(head, await SentenceEncoder.open(runtime, head.encoderPath));
  } catch (cause) {
    throw gateError(head.encoderPath)("cannot be loaded", cause);
  }
}

class EncoderGateClassifier implements GateClassifier {
  readonly #head: GateHead;
  readonly #encoder: SentenceEncoder;
  /** Scores by {@link cacheKey}: turns recur. */
  readonly #known = new LruCache<readonly GateScores[]>(KNOWN_LINES);
  readonly #closed = new AbortController();

  constructor(head: GateHead, encoder: SentenceEncoder) {
    this.#head = head;
    this.#encoder = encoder;
  }

  async classify(lines: readonly string[], signal: AbortSignal): Promise<GateVerdict> {
    signal.throwIfAborted();
    const work = stopWith([signal, this.#closed.signal]);
    try {
      return await abortable(this.#judge(lines, work.signal), work.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (this.#closed.signal.aborted) throw new WriterError("the safety gate was closed");
      throw new WriterError("the safety gate failed, so nothing was written: retry", {
        cause: error,
        retryAfterMs: 1_000,
      });
    } finally {
      work.end();
    }
  }

  mayBeEnglish(line: string): boolean {
    return mayBeEnglish(line, this.#head.words);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#encoder.close();
  }

  async #judge(lines: readonly string[], stop: AbortSignal): Promise<GateVerdict> {
    const { newest, joined, older } = this.#head.thresholds;
    const [third, second, first] = [...Array<string>(3).fill(""), ...lines.slice(-3)]
      .slice(-3)
      .map(plainText);
    const own = await this.#scoresOf(first ?? "", NEWEST_TOKENS, stop);
    const found = gravest(own, newest);
    if (found !== null && found.category !== "injection") return found;

    const before = await this.#scoresOf(second ?? "", OLDER_TOKENS, stop);
    // An injection must not hide a disclosure in the same turn.
    if (found !== null)
      return (
        (await this.#withInjection(first ?? "", stop)) ?? gravestExceptInjection(before, newest) ?? found
      );
    if (first && second) {
      // A turn that got its fixed reply is not joined again, except with a mere nod.
      const isAnswered = gravest(before, newest) !== null && first.split(" ").length > MAX_NOD_WORDS;
      if (!isAnswered) {
        const both = `${lastWords(second)}${/[.!?]$/.test(second) ? "" : "."} ${first.slice(0, JOINED_CHARS)}`;
        const together = gravest(await this.#scoresOf(both, OLDER_TOKENS, stop), joined);
        if (together !== null) return together;
      }
    }
    const earlier = gravest([...(await this.#scoresOf(third ?? "", OLDER_TOKENS, stop)), ...before], older);
    const [leastBenign = BENIGN] = own.toSorted((a, b) => a.benign - b.benign);
    return earlier ?? { category: null, scores: leastBenign };
  }

  /** Returns the gravest sentence, scored separately, that is no injection. */
  async #withInjection(line: string, stop: AbortSignal): Promise<GateVerdict | null> {
    const sentences = line.split(/(?<=[.!?])\s+/).slice(-MAX_SENTENCES);
    const scores: GateScores[] = [];
    for (const sentence of sentences) scores.push(...(await this.#scoresOf(sentence, OLDER_TOKENS, stop)));
    return gravestExceptInjection(scores, this.#head.thresholds.newest);
  }

  /** Scores each window of a line. */
  async #scoresOf(line: string, max: number, stop: AbortSignal): Promise<readonly GateScores[]> {
    stop.throwIfAborted();
    const key = cacheKey(`${max} ${line}`);
    const scores = this.#known.get(key) ?? (await this.#encode(line, max, stop));
    this.#known.set(key, scores);
    return scores;
  }

  async #encode(line: string, max: number, stop: AbortSignal): Promise<readonly GateScores[]> {
    // The encoder knows no emoji or other signs.
    if (!/[\p{L}\p{N}]/u.test(line)) return [];
    const tokens = this.#encoder.tokensOf(line);
    const scores: GateScores[] = [];
    for (const window of windowsOf(tokens, { size: 96, step: 64, max })) {
      const vector = await this.#encoder.vectorOf(window, stop);
      if (vector.length !== this.#head.width) throw new Error("the encoder gave a vector of another width");
      scores.push(this.#head.scores(vector));
    }
    return scores;
  }
}

/** Returns the gravest scores over their threshold; self-harm comes first. */
function gravest(scores: readonly GateScores[], thresholds: GateThresholds): GateVerdict | null {
  let found: GateVerdict | null = null;
  for (const each of scores) {
    const category = categoryOf(each);
    if (!(1 - each.benign >= thresholds[category])) continue;
    const isGraver =
      found === null ||
      (category === "self-harm" && found.category !== "self-harm") ||
      (each.benign < found.scores.benign && (found.category !== "self-harm" || category === "self-harm"));
    if (isGraver) found = { category, scores: each };
  }
  return found;
}

function gravestExceptInjection(
  scores: readonly GateScores[],
  thresholds: GateThresholds,
): GateVerdict | null {
  return gravest(
    scores.filter((each) => categoryOf(each) !== "injection"),
    thresholds,
  );
}

function categoryOf(scores: GateScores): GateCategory {
  return GATE_CATEGORIES.reduce((best, name) => (scores[name] > scores[best] ? name : best));
}

/** Returns the last whole words of a turn, to precede the next turn in a window. */
function lastWords(text: string): string {
  if (text.length <= JOINED_CHARS) return text;
  const end = text.slice(-JOINED_CHARS);
  return end.slice(end.indexOf(" ") + 1);
}

/** About 1,500 words: longer than any English turn. */
const NEWEST_TOKENS = 2_000;
const OLDER_TOKENS = 500;
const JOINED_CHARS = 200;
const MAX_NOD_WORDS = 3;
/** Sentences scored separately next to an injection. */
const MAX_SENTENCES = 24;
const KNOWN_LINES = 256;
const BENIGN = Object.fromEntries(
  (["benign", ...GATE_CATEGORIES] satisfies GateClass[]).map((name) => [name, name === "benign" ? 1 : 0]),
) as GateScores;

/** Limits of splitting a turn for the encoder. */
interface WindowLimits {
  /** Tokens per window. */
  readonly size: number;
  /** Distance between window starts; the overlap is read twice. */
  readonly step: number;
  /** Tokens from the end of a turn. */
  readonly max: number;
}

/** Returns overlapping windows over the end of `tokens`, aligned at the end. */
export function windowsOf<T>(tokens: readonly T[], { size, step, max }: WindowLimits): T[][] {
  const end = tokens.slice(-max);
  if (end.length === 0) return [];
  const windows: T[][] = [];
  for (let start = 0; ; start += step) {
    const isLast = start + size >= end.length;
    windows.push(end.slice(isLast ? Math.max(0, end.length - size) : start, start + size));
    if (isLast) return windows;
  }
}

/**
 * Returns whether a line or one of its sentences may be English, the only language of the gate's training data. Folds
 * homoglyphs first; accepts any single plain word.
 *
 * @param known words of the gate's training data
 */
export function mayBeEnglish(line: string, known: ReadonlySet<string>): boolean {
  const text = plainText(line);
  const words = wordsOf(text);
  if (new Set(words).size <= 1) return words.every(isPlain);
  return (
    isEnglish(words, known, 1) || sentencesOf(text).some((each) => isEnglish(wordsOf(each), known, MIN_KNOWN))
  );
}

function isEnglish(words: readonly string[], known: ReadonlySet<string>, minKnown: number): boolean {
  const distinct = [...new Set(words)];
  const found = distinct.filter((word) => known.has(word)).length;
  // Accented words count against English.
  const others = distinct.filter((word) => !isPlain(word)).length;
  return (found >= minKnown && found >= MIN_SHARE * (distinct.length + others)) || hasRun(words, known);
}

/** Returns whether enough known words follow one another. */
function hasRun(words: readonly string[], known: ReadonlySet<string>): boolean {
  let length = 0;
  return words.some((word) => {
    length = known.has(word) ? length + 1 : 0;
    return length === MIN_RUN;
  });
}

/** Returns words in lower case, without those with digits ("y0ur"). */
function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+(?:'\p{L}+)?/gu) ?? []).filter(
    (word) => !/\p{N}/u.test(word),
  );
}

function isPlain(word: string): boolean {
  return /^[a-z']+$/.test(word);
}

const MIN_SHARE = 1 / 3;
const MIN_KNOWN = 2;
const MIN_RUN = 4;
