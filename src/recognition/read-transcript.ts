import { isRecord } from "../core/is-record.ts";
import { languageCode, languageCodeOfName } from "../core/languages.ts";
import type { TranscribedWord, Transcript, TranscriptSegment } from "../core/recogniser.ts";
import { NotATranscriptError } from "./endpoint-call.ts";

/** Speech rate beyond which an endpoint's text is taken for runaway output. */
const MAX_CHARS_PER_S = 100;
const SPARE_CHARS = 1_000;
/** Whisper's rule: at least this probability of no speech, and at most this mean log-probability. */
const NO_SPEECH_PROBABILITY = 0.6;
const UNSURE_LOG_PROBABILITY = -1;

/**
 * Reads a transcript from a JSON answer, `verbose_json` or `json`. Clamps times to the sound. Throws {@link
 * NotATranscriptError} for anything else.
 *
 * @param durationS seconds of sound that were sent
 */
export function readTranscript(answer: unknown, durationS: number, wantsWords: boolean): Transcript {
  if (!isRecord(answer) || typeof answer.text !== "string") throw new NotATranscriptError();
  if (answer.text.length > durationS * MAX_CHARS_PER_S + SPARE_CHARS) throw new NotATranscriptError();
  const given = Array.isArray(answer.segments) ? answer.segments.filter(isRecord) : [];
  const speech = given.filter((segment) => !isNoise(segment));
  const used = given.length === 0 ? [{ text: answer.text, start: 0, end: durationS }] : speech;
  const segments = used
    .map((segment) => readSegment(segment, durationS))
    .filter(({ text }) => text !== "")
    .sort((a, b) => a.startS - b.startS);
  const words = wantsWords ? readWords(answer, speech, durationS) : [];
  const logProbabilities = segments.flatMap(({ meanLogProbability: mean }) => (mean === null ? [] : [mean]));
  return {
    text: segments.map(({ text }) => text).join(" "),
    language: typeof answer.language === "string" ? languageCodeOf(answer.language) : null,
    languageProbability: null,
    speechProbability: speechProbability(given),
    meanLogProbability: logProbabilities.length === 0 ? null : mean(logProbabilities),
    segments: wantsWords ? assignWords(segments, words) : segments,
    transcribedS: durationS,
  };
}

function readSegment(segment: Record<string, unknown>, durationS: number): TranscriptSegment {
  const startS = clamp(segment.start, 0, durationS);
  return {
    startS,
    endS: Math.max(startS, clamp(segment.end, durationS, durationS)),
    text: typeof segment.text === "string" ? segment.text.trim() : "",
    words: null,
    meanLogProbability: isNumber(segment.avg_logprob) ? Math.min(0, segment.avg_logprob) : null,
  };
}

/** Reads words, which some endpoints return on their own and others within segments. */
function readWords(
  answer: Record<string, unknown>,
  segments: readonly Record<string, unknown>[],
  durationS: number,
): TranscribedWord[] {
  const inSegments = segments.flatMap(({ words }) => (Array.isArray(words) ? words : []));
  const words: unknown[] = Array.isArray(answer.words) ? answer.words : inSegments;
  return words.filter(isRecord).flatMap(({ word, start, end, probability }) => {
    const text = typeof word === "string" ? word.trim() : "";
    if (text === "") return [];
    const startS = clamp(start, 0, durationS);
    const endS = Math.max(startS, clamp(end, startS, durationS));
    return [{ text, startS, endS, probability: clamp(probability, 1, 1) }];
  });
}

/** Assigns each word to the last segment that begins before its middle. */
function assignWords(
  segments: readonly TranscriptSegment[],
  words: readonly TranscribedWord[],
): TranscriptSegment[] {
  const buckets = segments.map((): TranscribedWord[] => []);
  for (const word of words) {
    const middleS = (word.startS + word.endS) / 2;
    const at = segments.findLastIndex(({ startS }) => startS <= middleS);
    buckets[Math.max(0, at)]?.push(word);
  }
  return segments.map((segment, index) => ({ ...segment, words: buckets[index]! }));
}

function isNoise({ no_speech_prob: none, avg_logprob: mean }: Record<string, unknown>): boolean {
  return isNumber(none) && none > NO_SPEECH_PROBABILITY && isNumber(mean) && mean < UNSURE_LOG_PROBABILITY;
}

/** Returns the speech probability of the likeliest segment. */
function speechProbability(segments: readonly Record<string, unknown>[]): number | null {
  const probabilities = segments.flatMap(({ no_speech_prob: none }) =>
    isNumber(none) ? [1 - clamp(none, 0, 1)] : [],
  );
  return probabilities.length === 0 ? null : probabilities.reduce((max, value) => Math.max(max, value));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Clamps a number to [0, max]; returns `otherwise` for anything else. */
function clamp(value: unknown, otherwise: number, max: number): number {
  return isNumber(value) ? Math.max(0, Math.min(max, value)) : otherwise;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * Returns the ISO 639-1 code of a language named by code (`en`, `en-US`) or English name (`english`), including
 * languages that clients cannot ask for; otherwise `null`.
 */
export function languageCodeOf(named: string): string | null {
  const lower = named.trim().toLowerCase();
  const byName = languageCodeOfName(lower);
  if (byName !== null) return byName;
  otherCodes ??= codesByName();
  const code = /^([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*$/.exec(lower)?.[1];
  const known = code === undefined ? null : languageCode(code);
  if (known !== null) return known;
  if (code !== undefined && [...otherCodes.values()].includes(code)) return code;
  return otherCodes.get(lower) ?? null;
}

/** ISO 639-1 codes by Unicode's English names, in lower case. */
let otherCodes: ReadonlyMap<string, string> | null = null;

function codesByName(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const found = new Map<string, string>();
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = names.of(code)?.toLowerCase();
    // A replaced code has the name of its replacement, which comes first.
    if (name !== undefined && !found.has(name)) found.set(name, languageCode(code) ?? code);
  }
  return found;
}
