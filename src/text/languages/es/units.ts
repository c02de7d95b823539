import { LETTER } from "../../characters.ts";
import type { PhonemeUnit, WordSources } from "../language.ts";
import { loanWord } from "./loan-words.ts";
import { inSpanishLetters, type Sound } from "./spelling.ts";
import { wordSounds } from "./word-sounds.ts";

const TOKENS = new RegExp(`[${LETTER}\\p{M}]+|[\\ue000-\\uf8ff]`, "gu");
const PAUSE = /[;:,.!?—…()"“”¿¡]/;
const BEFORE_PAUSE = /\s*(?:[;:,.!?—…()"“”¿¡]|$)/y;
const UNSPOKEN = /[^;:,.!?—…()"“”¿¡'’]+/g;

/** A sound in its sentence. */
interface Placed extends Sound {
  readonly unit: number;
  readonly beginsWord: boolean;
  /** A mark or nothing is before. */
  readonly isAfterPause: boolean;
}

/** Reads Spanish words and marks: spelling → sounds → sounds beside others, also across words. */
export function spanishUnits(sentence: string, words: WordSources): readonly PhonemeUnit[] {
  const units: { phonemes: string; from: number; to: number }[] = [];
  const placed: Placed[] = [];
  let gapFrom = 0;
  for (const { 0: word, index } of sentence.matchAll(TOKENS)) {
    const end = index + word.length;
    BEFORE_PAUSE.lastIndex = end;
    const sounds = soundsIn(word, words, BEFORE_PAUSE.test(sentence));
    if (sounds.length === 0) continue;
    const gap = sentence.slice(gapFrom, index);
    const said = markPhonemes(gap);
    if (said !== "") units.push({ phonemes: said, from: gapFrom, to: index });
    const isAfterPause = placed.length === 0 || PAUSE.test(gap);
    const unit = units.length;
    for (const [at, sound] of sounds.entries())
      placed.push({ ...sound, unit, beginsWord: at === 0, isAfterPause: at === 0 && isAfterPause });
    units.push({ phonemes: "", from: index, to: end });
    gapFrom = end;
  }
  for (const [at, { unit, stress = "" }] of placed.entries())
    units[unit]!.phonemes += stress + symbolBeside(placed, at);
  const rest = markPhonemes(sentence.slice(gapFrom));
  if (rest !== "") units.push({ phonemes: rest, from: gapFrom, to: sentence.length });
  return units;
}

function soundsIn(word: string, words: WordSources, isBeforePause: boolean): Sound[] {
  if (/^[\ue000-\uf8ff]/.test(word)) {
    const given = words.given(word);
    return given === null || given === "" ? [] : [{ symbol: given, isVowel: true }];
  }
  const lower = inSpanishLetters(word);
  return lower === "" ? [] : (loanWord(lower, words) ?? wordSounds(lower, isBeforePause));
}

/** Keeps marks, and a space for anything else but the apostrophe of "O'Donnell". */
function markPhonemes(gap: string): string {
  return gap.replace(/«/g, "“").replace(/»/g, "”").replace(UNSPOKEN, " ").replace(/['’]/g, "");
}

const SOFTENED: Readonly<Record<string, string>> = { b: "β", d: "ð", ɡ: "ɣ" };

/**
 * Returns what a sound becomes beside others: b, d and g are stops after a pause and a nasal, n becomes like what
 * follows, and e opens before n and a consonant.
 */
function symbolBeside(list: readonly Placed[], at: number): string {
  const sound = list[at]!;
  const last = sound.isAfterPause ? undefined : list[at - 1];
  const after = list[at + 1];
  const next = after?.isAfterPause ? undefined : after;
  const isInside = after !== undefined && !after.beginsWord;
  const soft = SOFTENED[sound.symbol];
  if (soft !== undefined && last !== undefined && next !== undefined && !"nmɲŋ".includes(last.symbol)) {
    const isInitialDue = sound.symbol === "d" && sound.beginsWord && next.symbol === "w";
    if (isInside ? isOpen(sound, next) && !isInitialDue : next.isVowel) return soft;
  }
  if (sound.symbol === "ʝ" && last?.symbol === "n" && sound.beginsWord) return "ʤ";
  const second = list[at + 2];
  if (sound.symbol === "n" && next !== undefined)
    return next.symbol === "f" && second !== undefined && "ɾl".includes(second.symbol)
      ? "m"
      : nasalBefore(next.symbol, isInside);
  const mayOpen = sound.symbol === "e" && sound.stress === "ˈ" && !sound.isClosed && !sound.isAccented;
  if (mayOpen && next?.symbol === "n" && second !== undefined && !second.beginsWord)
    return second.isVowel || "jwf".includes(second.symbol) ? "e" : "ɛ";
  return sound.symbol;
}

function isOpen({ symbol }: Sound, next: Sound): boolean {
  if (next.isVowel || "jwɾrl".includes(next.symbol)) return true;
  return (symbol === "d" && next.symbol === "b") || (symbol === "b" && "xs".includes(next.symbol));
}

function nasalBefore(next: string, isInside: boolean): string {
  if (next === "b" || (next === "p" && !isInside)) return "m";
  if (next === "ɡ" || (next === "x" && isInside)) return "ŋ";
  return next === "ʝ" && isInside ? "ɲ" : "n";
}
