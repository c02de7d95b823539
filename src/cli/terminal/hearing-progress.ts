import type { Screen } from "./command-io.ts";
import { progressBar } from "./progress-bar.ts";

/** Shows how much of a recording has been heard. */
export interface HearingProgress {
  readonly onProgress: (heardS: number) => void;
  /** Leaves the terminal as it was. */
  close(): void;
}

/** What takes no longer than a few seconds needs no bar. */
const MIN_S = 60;

/** A bar on a terminal, for a recording of that length; nothing elsewhere, and none where it is short. */
export async function hearingProgress(durationS: number, stream: Screen): Promise<HearingProgress> {
  if (stream.isTTY !== true || durationS < MIN_S) return { onProgress: () => {}, close: () => {} };
  const bar = await progressBar(stream, "{bar} {percentage} % | {heard} of {length} | {eta_formatted} left");
  const length = clock(durationS);
  bar.start(durationS, 0, { heard: clock(0), length });
  return {
    onProgress: (heardS) => bar.update(Math.min(heardS, durationS), { heard: clock(heardS), length }),
    close: () => bar.stop(),
  };
}

/** `1:02:03` */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number): string => `${value}`.padStart(2, "0");
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor(whole / 60) % 60;
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
}
