import { isRecord } from "../core/is-record.ts";
import { languageCode, languageCodeOfName } from "../core/languages.ts";
import type { TranscribedWord, Transcript, TranscriptSegment } from "../core/recogniser.ts";
import { NotATranscriptError } from "./endpoint-call.ts";

/** Nobody says more than so many characters a second; an endpoint that writes on has lost its way. */
const MAX_CHARS_PER_S = 100;
const SPARE_CHARS = 1_000;
/** As Whisper does it: what it thinks is no speech, and is not sure of either. */
const NO_SPEECH_PROBABILITY = 0.6;
const UNSURE_LOG_PROBABILITY = -1;

/**
 * Makes a transcript of an answer of which nothing is known but that it was JSON: `verbose_json` or `json`. Times are kept
 * within the sound. Throws {@link NotATranscriptError} where it is neither.
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

/** Some endpoints tell words by themselves, some in their segments. */
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

/** Each word in the last segment that begins before its middle. */
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

/** Of the segment that is likeliest to be speech. */
function speechProbability(segments: readonly Record<string, unknown>[]): number | null {
  const probabilities = segments.flatMap(({ no_speech_prob: none }) =>
    isNumber(none) ? [1 - clamp(none, 0, 1)] : [],
  );
  return probabilities.length === 0 ? null : probabilities.reduce((max, value) => Math.max(max, value));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A number from 0 to `most`, or what stands for what is none. */
function clamp(value: unknown, otherwise: number, max: number): number {
  return isNumber(value) ? Math.max(0, Math.min(max, value)) : otherwise;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * The code of a language that an endpoint names: by its code, as `en` or `en-US`, or by its English name, as `english`.
 * Besides those that a client may ask for it may be any of ISO 639-1. `null` for what is neither.
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

/** Codes of ISO 639-1 by the English names that Unicode has for their languages today, in lower case. */
let otherCodes: ReadonlyMap<string, string> | null = null;

function codesByName(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const found = new Map<string, string>();
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = names.of(code)?.toLowerCase();
    // A code that was replaced has the name of the one that did.
    if (name !== undefined && !found.has(name)) found.set(name, languageCode(code) ?? code);
  }
  return found;
}
