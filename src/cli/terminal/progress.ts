import type { SingleBar } from "cli-progress";
import { megabytes } from "../../models/download/disk.ts";
import {
  type PullEvent,
  type PullObserver,
  type PullProgress,
  waitingMessage,
} from "../../models/download/options.ts";
import { printLine, type Screen } from "./command-io.ts";

/** Shows a pull: a bar on a terminal; elsewhere lines at the start, at every tenth and for problems. */
export async function pullProgress(stream: Screen): Promise<PullProgress> {
  return stream.isTTY === true ? barOn(stream) : linesOn(stream);
}

/** Shows a pull in plain lines, for logs and pipes. */
export function linesOn(stream: Screen): PullProgress {
  let tenths = 0;
  let isOpen = true;
  const observe: PullObserver = (event) => {
    if (!isOpen) return;
    const line = lineOf(event);
    if (line !== null) printLine(stream, line);
    if (event.kind === "source") tenths = tenthsOf(event);
    if (event.kind !== "progress" || tenthsOf(event) === tenths) return;
    tenths = tenthsOf(event);
    if (tenths > 0 && tenths < 10) {
      stream.write(`${tenths * 10} % (${megabytes(event.doneBytes)} of ${megabytes(event.totalBytes)})\n`);
    }
  };
  return { observe, close: () => (isOpen = false) };
}

async function barOn(stream: Screen): Promise<PullProgress> {
  const bar = await progressBar(
    stream,
    "{bar} {percentage} % | {done} of {total_size} | {eta_formatted} left",
  );
  let isOpen = true;
  const observe: PullObserver = (event) => {
    if (!isOpen) return;
    if (event.kind === "progress") {
      const { doneBytes, totalBytes } = event;
      const payload = { done: megabytes(doneBytes), total_size: megabytes(totalBytes) };
      if (bar.isActive) bar.update(doneBytes, payload);
      else bar.start(totalBytes, doneBytes, payload);
      return;
    }
    bar.stop();
    const line = lineOf(event);
    if (line !== null) printLine(stream, line);
  };
  return {
    observe,
    close() {
      isOpen = false;
      bar.stop();
    },
  };
}

function lineOf(event: PullEvent): string | null {
  switch (event.kind) {
    case "waiting":
      return waitingMessage(event.checkpoint);
    case "damaged":
      return `${event.problem}: it is fetched again.`;
    case "source": {
      const { file, source, doneBytes, totalBytes } = event;
      const begun = doneBytes > 0 ? `, of which ${megabytes(doneBytes)} are here` : "";
      return `Fetching ${file} (${megabytes(totalBytes)}${begun}) from ${source}.`;
    }
    case "retry":
      return `${event.source}: ${event.problem}; trying again in ${event.delayMs / 1_000} s.`;
    case "source-failed":
      return `${event.source}: ${event.problem}.`;
    case "placed":
      return `${event.file} is complete, and its checksum is right.`;
    case "converting":
      return `Converting ${event.checkpoint}, which takes some seconds and is done once.`;
    case "preparing":
      return `Preparing ${event.checkpoint} and measuring two of its voices, which takes up to a minute and is done once.`;
    default:
      return null;
  }
}

function tenthsOf({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }): number {
  return Math.floor((10 * doneBytes) / totalBytes);
}

/** Shorter recordings take a few seconds and need no bar. */
const MIN_SHOWN_S = 60;

/** Shows a bar on a terminal for a long recording; otherwise nothing. */
export async function transcriptionProgress(
  durationS: number,
  stream: Screen,
): Promise<{ readonly onProgress: (transcribedS: number) => void; close(): void }> {
  if (stream.isTTY !== true || durationS < MIN_SHOWN_S) return { onProgress: () => {}, close: () => {} };
  const bar = await progressBar(stream, "{bar} {percentage} % | {done} of {length} | {eta_formatted} left");
  const length = clock(durationS);
  bar.start(durationS, 0, { done: clock(0), length });
  return {
    onProgress: (doneS) => bar.update(Math.min(doneS, durationS), { done: clock(doneS), length }),
    close: () => bar.stop(),
  };
}

/** Makes a bar that clears its line at the end. `format` must hold no text from elsewhere: it is printed unescaped. */
async function progressBar(stream: Screen, format: string): Promise<SingleBar> {
  const { SingleBar: Bar, Presets } = await import("cli-progress");
  const looks = { hideCursor: true, clearOnComplete: true, stopOnComplete: false, gracefulExit: false };
  return new Bar({ stream: stream.raw ?? stream, format, ...looks }, Presets.shades_classic);
}

/** Reports on a terminal what was written. @param beganMs by `performance.now()` */
export function reportSpeech(screen: Screen, files: string, speechS: number, beganMs: number): void {
  const shown = (s: number) => (s < 60 ? `${s.toFixed(1)} s` : clock(s));
  const took = shown((performance.now() - beganMs) / 1_000);
  if (screen.isTTY === true) printLine(screen, `Wrote ${files}: ${shown(speechS)} of speech, in ${took}.`);
}

/** `1:02:03`, `2:03`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number): string => `${value}`.padStart(2, "0");
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor(whole / 60) % 60;
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
}
