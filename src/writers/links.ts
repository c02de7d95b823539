/** Brackets and parentheses of a text: where the one that is opened at a place is closed. */
interface Pairs {
  readonly closedAt: ReadonlyMap<number, number>;
  /** Brackets that have a letter between them. */
  readonly worded: ReadonlySet<number>;
}

/**
 * Links and pictures as their words: `[words](address)`, `![words](address)`, `[words][1]`. Brackets may stand in the words
 * and parentheses in the address. In one pass, however many are open.
 */
export function withoutLinks(text: string): string {
  if (!/\]\s?[([]/.test(text)) return text;
  const { closedAt, worded } = pairsOf(text);
  const ends = new Map<number, number>();
  const starts = new Set<number>();
  for (const [open, close] of closedAt) {
    if (text[open] !== "[") continue;
    const isReference = text[close + 1] === "[" && worded.has(open) && !/\w/.test(text[open - 1] ?? "");
    const end = text[close + 1] === "(" || isReference ? closedAt.get(close + 1) : undefined;
    if (end === undefined) continue;
    starts.add(open);
    ends.set(close, end + 1);
  }
  let words = "";
  for (let i = 0; i < text.length; ) {
    if (starts.has(i) || (text[i] === "!" && starts.has(i + 1))) i++;
    else if (ends.has(i)) i = ends.get(i) ?? i + 1;
    else words += text[i++];
  }
  return words;
}

function pairsOf(text: string): Pairs {
  const closedAt = new Map<number, number>();
  const worded = new Set<number>();
  const brackets: number[] = [];
  const parentheses: number[] = [];
  let lastLetter = -1;
  for (const { 0: sign, index } of text.matchAll(/[()[\]]|\p{L}/gu)) {
    if (sign === "[") brackets.push(index);
    else if (sign === "(") parentheses.push(index);
    else if (sign === "]" || sign === ")") {
      const open = (sign === "]" ? brackets : parentheses).pop();
      if (open === undefined) continue;
      closedAt.set(open, index);
      if (lastLetter > open) worded.add(open);
    } else lastLetter = index;
  }
  return { closedAt, worded };
}
