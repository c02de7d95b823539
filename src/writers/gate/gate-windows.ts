/** How a turn is cut for an encoder that reads a few sentences at once. */
export interface WindowLimits {
  /** Tokens of one window. */
  readonly size: number;
  /** From the beginning of one window to that of the next; what is between is read twice. */
  readonly step: number;
  /** Tokens of a turn that are looked at, from its end. */
  readonly most: number;
}

/** Overlapping windows over the end of `tokens`; the last one ends where they end. None for no tokens. */
export function windowsOf<T>(tokens: readonly T[], { size, step, most }: WindowLimits): T[][] {
  const end = tokens.slice(-most);
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
 * quotation marks straight, and spaces single.
 */
export function plainText(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFKC")
    .replaceAll(/[\u2018\u2019\u02bc\u0060\u00b4]/g, "'")
    .replaceAll(/[\u201c\u201d]/g, '"')
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .replaceAll(/\p{Cf}+/gu, "")
    .trim();
}
