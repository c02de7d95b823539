import type { CodeHistory, RepetitionPenalty } from "../chosen-first.ts";
import { CONTROLS, type Qwen3TtsConfig } from "./config.ts";

/** Frames that come before the end may. */
const MIN_FRAMES = 2;

/**
 * The logits by which the first code of a frame is chosen, in the order of the reference's logit processors: what was
 * chosen before is made less likely, the end is not chosen among the first two, and what only controls never is.
 *
 * @param logits [rows], as the talker gives them
 */
export function firstCodeLogits(
  logits: Float32Array,
  history: CodeHistory,
  penalty: RepetitionPenalty,
  { rows, ids }: Pick<Qwen3TtsConfig, "rows" | "ids">,
): Float32Array {
  const scores = history.penalised(logits, penalty, null);
  const end = history.count < MIN_FRAMES ? Number.NEGATIVE_INFINITY : scores[ids.end]!;
  scores.fill(Number.NEGATIVE_INFINITY, rows - CONTROLS);
  scores[ids.end] = end;
  return scores;
}
