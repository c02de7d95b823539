/** What is said from when to when, in seconds. */
export interface Caption {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  /** Where in the text words begin, in UTF-16 units, and when: WebVTT shows them as they come. */
  readonly wordTimes?: readonly { readonly at: number; readonly startS: number }[];
}

/** SubRip: numbered captions, commas in the times. */
export function subRip(captions: readonly Caption[]): string {
  return captions
    .map(
      ({ startS, endS, text }, index) =>
        `${index + 1}\n${timeStamp(startS, ",")} --> ${timeStamp(endS, ",")}\n${inLines(text)}\n\n`,
    )
    .join("");
}

/** WebVTT (W3C, 2019): captions after a header, full stops in the times, and its own signs written as references. */
export function webVtt(captions: readonly Caption[]): string {
  const cues = captions.map(
    (caption) =>
      `${timeStamp(caption.startS, ".")} --> ${timeStamp(caption.endS, ".")}\n${cueText(caption)}\n\n`,
  );
  return `WEBVTT\n\n${cues.join("")}`;
}

/** The text with the time of each word before it; the first has the cue's own, which may not stand there again. */
function cueText({ text, wordTimes = [], startS, endS }: Caption): string {
  if (wordTimes.length === 0) return escaped(inLines(text));
  let timed = "";
  let copied = 0;
  for (const word of wordTimes) {
    if (word.startS <= startS || word.startS >= endS) continue;
    timed += `${escaped(text.slice(copied, word.at))}<${timeStamp(word.startS, ".")}>`;
    copied = word.at;
  }
  return timed + escaped(text.slice(copied));
}

/** `hh:mm:ss,mmm`, with as many digits of hours as there are. Before 0 is 0. */
export function timeStamp(seconds: number, sign: "," | "."): string {
  const ms = Math.max(0, Math.round(seconds * 1_000));
  const two = (value: number): string => `${value}`.padStart(2, "0");
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const whole = Math.floor(ms / 1_000) % 60;
  return `${two(hours)}:${two(minutes)}:${two(whole)}${sign}${`${ms % 1_000}`.padStart(3, "0")}`;
}

/** A caption ends at an empty line, so its text has none; and where it holds nothing, a space stands for it. */
function inLines(text: string): string {
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return lines.filter((line) => line !== "").join("\n") || " ";
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
