import { CONTROLS, type Qwen3TtsConfig } from "./config.ts";

/** Frames that come before the end may. */
const LEAST_FRAMES = 2;

/**
 * The logits by which the first code of a frame is chosen, in the order of the reference's logit processors: what was
 * chosen before is made less likely, the end is not chosen among the first two, and what only controls never is.
 *
 * @param logits [rows], as the talker gives them
 * @param before the first codes of this utterance's frames
 * @param frames how many there were
 * @param penalty by which a logit above 0 is divided, and one below multiplied, once for a code; 1: none
 */
export function firstCodeLogits(
  logits: Float32Array,
  before: ReadonlySet<number>,
  frames: number,
  penalty: number,
  { rows, ids }: Pick<Qwen3TtsConfig, "rows" | "ids">,
): Float32Array {
  const scores = logits.slice();
  for (const code of before) {
    const score = scores[code]!;
    scores[code] = score < 0 ? score * penalty : score / penalty;
  }
  const end = frames < LEAST_FRAMES ? Number.NEGATIVE_INFINITY : scores[ids.end]!;
  scores.fill(Number.NEGATIVE_INFINITY, rows - CONTROLS);
  scores[ids.end] = end;
  return scores;
}
