import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { languageName } from "../core/languages.ts";

/** Scores of byte n-grams by language, a part of ELD's (see THIRD_PARTY.md). */
interface NgramTable {
  /** ISO 639-1 codes. */
  readonly languages: readonly string[];
  /** N-gram, a character per byte of UTF-8 → per language, 512 times its index plus its score. */
  readonly scores: Readonly<Record<string, string>>;
}

/** Returns the language of a text that uses the Latin alphabet (ISO 639-1); `null` if it is not clear. */
export function detectLanguage(text: string): string | null {
  const [best, next] = rankedLanguages(text);
  return best!.score < MIN_SCORE || best!.score - next!.score < MIN_LEAD ? null : best!.code;
}

/**
 * Names the language or script of a text that is clearly not in `own` ("German", "Cyrillic letters"). Returns `null`
 * for `own` and for texts too short to judge. Looks at the beginning.
 *
 * @param own ISO 639-1. Default: English
 */
export function detectOtherLanguage(text: string, own = "en"): string | null {
  const beginning = text.slice(0, MAX_CHARS);
  const script = otherScriptOf(beginning);
  if (script !== null || (beginning.match(LONG_WORDS)?.length ?? 0) < MIN_WORDS) return script;
  const ranked = rankedLanguages(beginning);
  const [best] = ranked;
  const lead = best!.score - (ranked.find(({ code }) => code === own)?.score ?? 0);
  if (best!.score < MIN_CLEAR_SCORE || lead < MIN_CLEAR_LEAD) return null;
  const name = languageName(best!.code);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function otherScriptOf(text: string): string | null {
  const letters = text.match(LETTERS)?.length ?? 0;
  for (const [name, pattern] of SCRIPTS) {
    const found = text.match(pattern)?.length ?? 0;
    if (found >= MIN_LETTERS && 2 * found > letters) return name;
  }
  const foreign = letters - (text.match(LATIN)?.length ?? 0);
  return foreign >= MIN_LETTERS && 2 * foreign > letters ? "letters of another script" : null;
}

/**
 * Returns the languages by how well the text fits them, 0 to 1: sums the scores of its n-grams, as ELD does
 * (github.com/nitotm/efficient-language-detector-js).
 */
function rankedLanguages(text: string): readonly { readonly code: string; readonly score: number }[] {
  table ??= JSON.parse(gunzipSync(readFileSync(FILE)).toString("utf8")) as NgramTable;
  const { languages, scores } = table;
  const ngrams = ngramsIn(text.slice(0, MAX_CHARS));
  const sums = languages.map(() => 0);
  for (const ngram of ngrams) {
    const found = scores[ngram] ?? "";
    for (let at = 0; at < found.length; at++) sums[found.charCodeAt(at) >> 9]! += found.charCodeAt(at) & 511;
  }
  const scoreOf = (sum: number) => (sum === 0 ? 0 : sum / (sum + SCALE * ngrams.size));
  return languages.map((code, at) => ({ code, score: scoreOf(sums[at]!) })).sort((a, b) => b.score - a.score);
}

let table: NgramTable | undefined;

const FILE = new URL("../../../lexicon/language-ngrams.json.gz", import.meta.url);

/** Returns the n-grams of each word: 4 bytes at every third, with a space before the first and after the last. */
function ngramsIn(text: string): ReadonlySet<string> {
  const ngrams = new Set<string>();
  for (const [written] of text.toLowerCase().matchAll(WORDS)) {
    const word = Buffer.from(written).toString("latin1").slice(0, MAX_WORD_BYTES);
    let at = 0;
    for (; at + 4 < word.length; at += 3) ngrams.add(`${at === 0 ? " " : ""}${word.slice(at, at + 4)}`);
    ngrams.add(`${at === 0 ? " " : ""}${word.length === 3 ? word : word.slice(-4)} `);
  }
  return ngrams;
}

const MAX_CHARS = 1_000;
const MAX_WORD_BYTES = 70;
const LONG_WORDS = /\p{L}{2,}/gu;
const WORDS = /\p{L}+(?:['’`]\p{L}+)*/gu;
/** Maps an n-gram's mean score to 0…1; a text in its language has 0.77 on average. */
const SCALE = 25;
const MIN_SCORE = 0.5;
const MIN_LEAD = 0.01;
/** Below these, English names, lists and codes pass for other languages. Counts words of two letters and more. */
const MIN_WORDS = 4;
const MIN_CLEAR_SCORE = 0.7;
const MIN_CLEAR_LEAD = 0.25;
const MIN_LETTERS = 2;
const LATIN = /\p{Script=Latin}/gu;
const LETTERS = /\p{L}/gu;

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ["Cyrillic letters", /\p{Script=Cyrillic}/gu],
  ["Greek letters", /\p{Script=Greek}/gu],
  ["Arabic letters", /\p{Script=Arabic}/gu],
  ["Hebrew letters", /\p{Script=Hebrew}/gu],
  ["Devanagari letters", /\p{Script=Devanagari}/gu],
  ["Thai letters", /\p{Script=Thai}/gu],
  ["Korean letters", /\p{Script=Hangul}/gu],
  ["Japanese letters", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["Chinese characters", /\p{Script=Han}/gu],
];
