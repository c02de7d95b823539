import type { Span } from "../../text/traced.ts";
import { FRAMES_PER_STEP } from "./geometry.ts";
import type { Plan } from "./plan.ts";
import { AUDIBLE_ENERGY } from "./speech-span.ts";
import { wordSpans } from "./spoken-words.ts";

/** A word as it is written, which may be several as they are spoken ("$5"), and the plan's frames that it takes. */
export interface TimedWord {
  /** In the whole text. */
  readonly source: Span;
  readonly fromFrame: number;
  readonly toFrame: number;
}

/**
 * The written words of a passage, one after the other, none over another. A word begins where its first phoneme does, and
 * ends with its last phoneme's sound: what silence the network leaves at a word's end belongs to the pause.
 */
export function timedWords(
  plan: Pick<Plan, "ids" | "steps" | "energy">,
  sources: readonly Span[],
): TimedWord[] {
  const starts = frameStarts(plan.steps);
  const words: TimedWord[] = [];
  for (const [index, { from, to }] of wordSpans(plan.ids).entries()) {
    const source = sources[index];
    if (source === undefined || source.to <= source.from) continue;
    const fromFrame = starts[from]!;
    const toFrame = soundEnd(plan.energy, fromFrame, starts[to]!);
    const last = words.at(-1);
    if (last === undefined || source.from >= last.source.to) words.push({ source, fromFrame, toFrame });
    else {
      const joined = { from: last.source.from, to: Math.max(last.source.to, source.to) };
      words[words.length - 1] = { source: joined, fromFrame: last.fromFrame, toFrame };
    }
  }
  return words;
}

/** The frame that each phoneme begins at, and the one behind the last. */
export function frameStarts(steps: Int32Array): number[] {
  const starts = [0];
  for (const length of steps) starts.push(starts.at(-1)! + length * FRAMES_PER_STEP);
  return starts;
}

/** The end of the last frame in [from, to) that is heard; with none, that of the first. */
export function soundEnd(energy: Float32Array, from: number, to: number): number {
  let end = to;
  while (end > from + 1 && energy[end - 1]! < AUDIBLE_ENERGY) end--;
  return end;
}
