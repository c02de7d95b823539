import type { Word } from "./word.ts";

export type { Word } from "./word.ts";

/** One caption. */
export interface Cue {
  /** Seconds. */
  readonly start: number;
  /** Seconds. */
  readonly end: number;
  /** What is shown: at most two lines. */
  readonly text: string;
}

const LINE_CHARS = 42;
const LONGEST_S = 6;

/** A word as it is written, with what stands before and after it. */
interface Written {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Captions of a reply: one a sentence, and more where one has over 84 characters or 6 s, cut at a comma if there is one.
 *
 * @param text the reply's text, which the words' offsets count in
 */
export function cuesOf(words: readonly Word[], text: string): Cue[] {
  const characters = Array.from(text);
  let cue: Written[] = [];
  const cues: Written[][] = [];
  let after = 0;
  const close = (count: number) => {
    cues.push(cue.slice(0, count));
    cue = cue.slice(count);
  };
  words.forEach(({ start, end, offset, length }, index) => {
    const next = words[index + 1]?.offset ?? characters.length;
    const from = index === 0 ? 0 : after;
    after = next;
    // What stands between two words belongs to the first one up to the space, as a full stop does.
    for (let at = offset + length; at < next && after === next; at++) {
      if (/\s/.test(characters[at]!)) after = at;
    }
    const written = { start, end, text: characters.slice(from, after).join("") };
    if (cue.length > 0 && !fits([...cue, written])) {
      const comma = cue.findLastIndex((each) => /[,;:–—]\W*$/.test(each.text));
      close(comma < 0 ? cue.length : comma + 1);
    }
    cue.push(written);
    if (/[.!?…]["'”’)\]]*$/.test(written.text)) close(cue.length);
  });
  if (cue.length > 0) close(cue.length);
  return cues.map((each) => ({
    start: each[0]!.start,
    end: each.at(-1)!.end,
    text: linesOf(each).join("\n"),
  }));
}

/** A WebVTT file. */
export function toVtt(cues: readonly Cue[]): string {
  const escaped = (text: string) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const blocks = cues.map(
    ({ start, end, text }) => `${clock(start, ".")} --> ${clock(end, ".")}\n${escaped(text)}\n`,
  );
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** A SubRip file. */
export function toSrt(cues: readonly Cue[]): string {
  return cues
    .map(
      ({ start, end, text }, index) => `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${text}\n`,
    )
    .join("\n");
}

function fits(cue: readonly Written[]): boolean {
  return linesOf(cue).length <= 2 && cue.at(-1)!.end - cue[0]!.start <= LONGEST_S;
}

function linesOf(cue: readonly Written[]): string[] {
  const lines: string[] = [];
  const words = cue
    .map(({ text }) => text)
    .join("")
    .trim()
    .split(/\s+/);
  for (const word of words) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || longer.length > LINE_CHARS) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function clock(seconds: number, point: string): string {
  const ms = Math.round(1_000 * seconds);
  const two = (value: number) => `${Math.floor(value) % 60}`.padStart(2, "0");
  const hours = `${Math.floor(ms / 3_600_000)}`.padStart(2, "0");
  return `${hours}:${two(ms / 60_000)}:${two(ms / 1_000)}${point}${`${ms % 1_000}`.padStart(3, "0")}`;
}
