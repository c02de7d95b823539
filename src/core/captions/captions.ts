import type { Cue } from "./cues-of.ts";

export type { Cue, TimedWord } from "./cues-of.ts";
export { type CueOptions, cuesOf } from "./cues-of.ts";

/** A SubRip file: captions that are numbered from `first` on, commas in the times. */
export function toSrt(cues: readonly Cue[], first = 1): string {
  return cues
    .map(
      ({ start, end, text }, index) =>
        `${index + first}\n${timeStamp(start, ",")} --> ${timeStamp(end, ",")}\n${linesOf(text)}\n\n`,
    )
    .join("");
}

/** A WebVTT file (W3C, 2019): captions after a header, full stops in the times, and its own signs as references. */
export function toVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(
    (cue) => `${timeStamp(cue.start, ".")} --> ${timeStamp(cue.end, ".")}\n${timedText(cue)}\n\n`,
  );
  return `WEBVTT\n\n${blocks.join("")}`;
}

/** The text with the time of each word before it; the first has the cue's own, which may not stand there again. */
function timedText({ text, words, start, end }: Cue): string {
  if (words === undefined) return escaped(linesOf(text));
  let timed = "";
  let copied = 0;
  for (const word of words) {
    if (word.start <= start || word.start >= end) continue;
    timed += `${escaped(text.slice(copied, word.at))}<${timeStamp(word.start, ".")}>`;
    copied = word.at;
  }
  return timed + escaped(text.slice(copied));
}

/** `hh:mm:ss,mmm`, with as many digits of hours as there are. Before 0 is 0. */
export function timeStamp(seconds: number, sign: "," | "."): string {
  const ms = Math.max(0, Math.round(seconds * 1_000));
  const two = (value: number): string => `${Math.floor(value)}`.padStart(2, "0");
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}`;
  return `${clock}${sign}${`${ms % 1_000}`.padStart(3, "0")}`;
}

/** A caption ends at an empty line, so its text has none; and where it holds nothing, a space stands for it. */
function linesOf(text: string): string {
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return lines.filter((line) => line !== "").join("\n") || " ";
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
