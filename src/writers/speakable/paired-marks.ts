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

/** One to three underscores that can begin or end what is stressed. */
interface Run {
  readonly start: number;
  readonly marks: string;
  readonly opens: boolean;
  readonly closes: boolean;
}

/**
 * What `spoken` makes of each phrase between underscores: from a run of one to three that begins a word to the next of as
 * many that ends one. In one pass, however many are never closed.
 */
export function withoutUnderscores(
  text: string,
  spoken: (whole: string, marks: string, inside: string, offset: number) => string,
): string {
  if (!text.includes("_")) return text;
  const runs = runsOf(text);
  const closing = nextClosing(runs);
  let plain = "";
  let end = 0;
  for (const [i, { start, marks, opens }] of runs.entries()) {
    const close = closing[i];
    if (!opens || start < end || close === undefined) continue;
    const after = close.start + marks.length;
    const inside = text.slice(start + marks.length, close.start);
    plain += `${text.slice(end, start)}${spoken(text.slice(start, after), marks, inside, start)}`;
    end = after;
  }
  return `${plain}${text.slice(end)}`;
}

function runsOf(text: string): Run[] {
  return [...text.matchAll(/_+/g)].map(({ 0: marks, index: start }) => {
    const [before, after] = [text[start - 1] ?? "", text[start + marks.length] ?? ""];
    const isMark = marks.length <= 3;
    return {
      start,
      marks,
      opens: isMark && !/[\w\\]/.test(before) && /\S/.test(after),
      closes: isMark && /[^\s\\]/.test(before) && !/\w/.test(after),
    };
  });
}

/** For each run the next one behind it that closes as many. */
function nextClosing(runs: readonly Run[]): (Run | undefined)[] {
  const next = new Map<number, Run>();
  return runs
    .toReversed()
    .map((run) => {
      const close = next.get(run.marks.length);
      if (run.closes) next.set(run.marks.length, run);
      return close;
    })
    .reverse();
}
