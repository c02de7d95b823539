/** What is said from when to when, in seconds. */
export interface Caption {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
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
    ({ startS, endS, text }) =>
      `${timeStamp(startS, ".")} --> ${timeStamp(endS, ".")}\n${escaped(inLines(text))}\n\n`,
  );
  return `WEBVTT\n\n${cues.join("")}`;
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
