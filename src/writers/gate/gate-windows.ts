import { foldHomoglyphs } from "./homoglyphs.ts";

/** How a turn is cut for an encoder that reads a few sentences at once. */
interface WindowLimits {
  /** Tokens of one window. */
  readonly size: number;
  /** From the beginning of one window to that of the next; what is between is read twice. */
  readonly step: number;
  /** Tokens of a turn that are looked at, from its end. */
  readonly max: number;
}

/** Overlapping windows over the end of `tokens`; the last one ends where they end. None for no tokens. */
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
 * Text as the encoder was taught it: look-alike letters and invisible ones, with which words are hidden, become plain,
 * quotation marks straight, and spaces single. Other languages stay as they are.
 */
export function plainText(text: string): string {
  const composed = text
    .toWellFormed()
    .replaceAll(/[\u2018\u2019\u02bc\u0060\u00b4]/g, "'")
    .replaceAll(/[\u201c\u201d]/g, '"')
    .replaceAll(INVISIBLE, "")
    .normalize("NFKC")
    .replaceAll(INVISIBLE, "")
    .replaceAll(STRAY_MARKS, "$1");
  return foldHomoglyphs(composed)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** Fillers and selectors among them, which are letters and marks to Unicode. */
const INVISIBLE = /(?!\s)[\p{Default_Ignorable_Code_Point}\p{Cf}]+/gu;
/** Marks that make no letter with what they stand on: it is struck through, or grown over. */
const STRAY_MARKS =
  /([\p{N}\u{1f150}-\u{1f1ff}\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\p{Script=Canadian_Aboriginal}])\p{M}+/gu;
