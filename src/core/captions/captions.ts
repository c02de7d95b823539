import type { Cue } from "./cues-of.ts";

export type { Cue, SpokenLine, TimedWord } from "./cues-of.ts";
export { type CueOptions, cuesOf, dialogueCues } from "./cues-of.ts";

/** Formats cues as SubRip, numbered from `first`. */
export function toSrt(cues: readonly Cue[], first = 1): string {
  return cues
    .map(
      ({ start, end, text, speaker }, index) =>
        `${index + first}\n${timeStamp(start, ",")} --> ${timeStamp(end, ",")}\n${linesOf(speaker === undefined ? text : `${speaker}: ${text}`)}\n\n`,
    )
    .join("");
}

/** Formats cues as WebVTT (W3C, 2019), escaped. */
export function toVtt(cues: readonly Cue[]): string {
  const blocks = cues.map((cue) => {
    const { start, end, speaker } = cue;
    const voice = speaker === undefined ? "" : `<v ${escaped(speaker).replaceAll(/\s+/g, " ")}>`;
    return `${timeStamp(start, ".")} --> ${timeStamp(end, ".")}\n${voice}${timedText(cue)}\n\n`;
  });
  return `WEBVTT\n\n${blocks.join("")}`;
}

/**
 * Returns the text with a time tag before each word but the first, whose time is the cue's own and may not be
 * repeated.
 */
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

/** Formats seconds as `hh:mm:ss,mmm`; hours may take more than two digits, and negative times become 0. */
export function timeStamp(seconds: number, sign: "," | "."): string {
  const ms = Math.max(0, Math.round(seconds * 1_000));
  const two = (value: number): string => `${Math.floor(value)}`.padStart(2, "0");
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}`;
  return `${clock}${sign}${`${ms % 1_000}`.padStart(3, "0")}`;
}

/** Removes empty lines, which would end the caption. An empty caption becomes one space. */
function linesOf(text: string): string {
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return lines.filter((line) => line !== "").join("\n") || " ";
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
