import { light } from "./light.ts";

/** What a part of a text is said as, in plain words, and where that part ends. */
export interface Spoken {
  readonly words: string;
  readonly end: number;
}

/**
 * One kind of token (a date, a sum of money, a web address …): its spoken form where one begins at a place of the text,
 * else null. Patterns are bounded, and so is the context looked at, so that no text takes long.
 */
export type Kind = (text: string, at: number) => Spoken | null;

/** How far back the words around a token are looked at. */
const REACH = 60;
const WORD_AFTER = light(/^ ([\p{L}']+)/u);
const CHARACTER = light(/[\p{L}\p{N}_]/u);

/** A pattern that is tried at one place only, and must not end within a word or number. */
export function pattern(source: string, flags = ""): RegExp {
  return light(new RegExp(`(?:${source})(?![\\p{L}\\p{N}_])`, `yu${flags}`));
}

/** What a pattern finds at a place; groups that took no part are undefined. */
export function matchAt(regex: RegExp, text: string, at: number): RegExpExecArray | null {
  regex.lastIndex = at;
  return regex.exec(text);
}

/** The text before a place, as far as context reaches. */
export function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - REACH), at);
}

/** The text from a place on, as far as context reaches. */
export function after(text: string, end: number): string {
  return text.slice(end, end + REACH);
}

/** The word that begins after a place and a space; "" where anything else does. */
export function wordAfter(text: string, end: number): string {
  return WORD_AFTER.exec(after(text, end))?.[1] ?? "";
}

/** Whether a character is part of a word or number; "" is none. */
export function isWordCharacter(character: string): boolean {
  return CHARACTER.test(character);
}

/** Where an abbreviation's full stop ends: behind it, or before it where it ends the sentence too. */
export function behindStop(text: string, end: number): number {
  if (text.charAt(end) !== ".") return end;
  return /^\.["”’')\]]*$/u.test(text.slice(end, end + 4)) ? end : end + 1;
}

/** Whether a quotation is open at a place, which a sign of inches there would close. */
export function isQuoted(text: string, at: number): boolean {
  const quotes = text.slice(Math.max(0, at - 200), at).match(/(?<!\d)["“]/gu)?.length ?? 0;
  return quotes % 2 === 1;
}
