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
