import type { AskedManner, Manner } from "../../core/manner.ts";
import { mannerIn } from "./figures.ts";
import { readSentence } from "./read-sentence.ts";
import { sentencesIn } from "./sentences.ts";
import type { Trait } from "./traits.ts";

/** What was made of instructions how to speak. */
export interface ReadManner {
  readonly manner: Manner;
  /** What of it is done, in our own words: `much slower`, `slightly cheerful`. At most one a trait. */
  readonly followed: readonly string[];
  /** Words that nothing is done for, of letters from a to z: at most {@link MAX_UNFOLLOWED}. */
  readonly unfollowed: readonly string[];
  /** How many more there are. */
  readonly moreUnfollowed: number;
}

/** UTF-16 units that are read: as many as OpenAI's API takes. What follows is not read. */
export const MAX_READ_CHARS = 4_096;
export const MAX_UNFOLLOWED = 8;

/**
 * Reads how something is to be said: English words for what a voice can do, more or less of it ("slightly", "very"), and
 * what is not wanted ("not too fast" is not fast, "don't whisper" is no wish to be quiet). Nothing else is understood.
 * Linear in the text, of which no more than {@link MAX_READ_CHARS} is read.
 */
export function mannerOf(instructions: string): ReadManner {
  const asked = new Map<Trait, number>();
  const unfollowed = new Set<string>();
  if (instructions.length > MAX_READ_CHARS) unfollowed.add("the rest");
  for (const sentence of sentencesIn(instructions.slice(0, MAX_READ_CHARS)))
    readSentence(sentence, asked, unfollowed);
  const all = [...unfollowed];
  return {
    manner: mannerIn(asked),
    followed: [...asked].map(([trait, strength]) => told(trait, strength)),
    unfollowed: all.slice(0, MAX_UNFOLLOWED),
    moreUnfollowed: Math.max(0, all.length - MAX_UNFOLLOWED),
  };
}

/** Instructions as an engine is given them, and what was made of them; `null` where nothing is asked. */
export function readInstructions(
  instructions = "",
): { readonly asked: AskedManner; readonly read: ReadManner } | null {
  const words = instructions.trim();
  if (words === "") return null;
  const read = mannerOf(words);
  return { asked: { words, figures: read.manner }, read };
}

function told(trait: Trait, strength: number): string {
  if (strength < 0.75) return `slightly ${trait}`;
  if (strength > 1.25) return `${/er\b/.test(trait) ? "much" : "very"} ${trait}`;
  return trait;
}
