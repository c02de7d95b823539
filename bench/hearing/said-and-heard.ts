import type { Clip } from "../../src/core/conversation.ts";
import { wordErrors } from "../word-errors.ts";
import type { Hears } from "./recogniser.ts";

/** What was said in a clip, and what was heard. */
export interface SaidAndHeard {
  readonly name: string;
  readonly heard: string;
  readonly errors: number;
  readonly words: number;
}

export async function saidAndHeard(
  hears: Hears,
  clips: readonly { readonly name: string; readonly said: string; readonly clip: Clip }[],
): Promise<readonly SaidAndHeard[]> {
  const found: SaidAndHeard[] = [];
  for (const { name, said, clip } of clips) {
    const heard = (await hears(clip)).text;
    found.push({ name, heard, ...wordErrors(said, heard) });
  }
  return found;
}

/** Errors, words and the share of the errors, over several clips. */
export function together(clips: readonly SaidAndHeard[]): {
  readonly errors: number;
  readonly words: number;
  readonly rate: number;
} {
  const errors = clips.reduce((sum, each) => sum + each.errors, 0);
  const words = clips.reduce((sum, each) => sum + each.words, 0);
  return { errors, words, rate: errors / Math.max(1, words) };
}

export function shownRate(clips: readonly SaidAndHeard[]): string {
  const { errors, words, rate } = together(clips);
  return `${rate.toFixed(3)} (${errors} of ${words})`;
}
