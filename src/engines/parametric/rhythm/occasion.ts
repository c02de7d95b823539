import type { Script } from "../../../model/script.ts";
import { countWords } from "./words-in.ts";

/** What the reply answers: few words, many, or neither. */
export type Occasion = "short-turn" | "long-turn" | "plain";

/** Looks at the turn before the open one. One's own turn is not answered, and of one without text nothing is known. */
export function occasionOf({ history, speaker }: Pick<Script, "history" | "speaker">): Occasion {
  const before = history.at(-1);
  if (before === undefined || before.speaker === speaker || before.text === null) return "plain";
  const words = countWords(before.text, LONG_TURN_WORDS + 1);
  if (words > LONG_TURN_WORDS) return "long-turn";
  return words > 0 && words <= SHORT_TURN_WORDS ? "short-turn" : "plain";
}

const SHORT_TURN_WORDS = 4;
const LONG_TURN_WORDS = 40;
