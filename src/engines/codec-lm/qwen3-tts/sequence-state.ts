import type { DecodedStream } from "../frame-decoder.ts";
import type { Rng } from "../rng.ts";
import { CodeHistory, type RepetitionPenalty, sampleCode } from "../sampler.ts";
import type { SequenceState } from "../sequence.ts";
import { CONTROLS, type Qwen3TtsConfig } from "./config.ts";
import { addTo } from "./embeddings.ts";
import type { GenerationSettings } from "./settings.ts";

/** What Qwen3-TTS reads: rows before the first frame, and text beside the frames. */
export interface ReadText {
  /** [n, width] */
  readonly prompt: Float32Array;
  /** What stands beside one frame after the other, [n, width]; the last row beside all that follow. */
  readonly beside: Float32Array;
}

/** How Qwen3-TTS speaks one utterance. */
export function qwen3TtsSequenceState(
  { prompt, beside }: ReadText,
  { first, others, penalty, maxFrames }: GenerationSettings,
  rng: Rng,
  sound: DecodedStream,
  config: Qwen3TtsConfig,
): SequenceState {
  const history = new CodeHistory();
  return {
    ...{ prompt, depthSampler: others, rng, sound },
    sampleFirst(logits) {
      const code = sampleCode(firstCodeLogits(logits, history, penalty, config), first, rng);
      if (code === config.ids.end) return "finished";
      return history.count >= maxFrames ? "length" : code;
    },
    take(frame) {
      history.note(frame[0]!);
      return { isHeard: true, stop: null };
    },
    addText(row) {
      const width = row.length;
      const last = beside.length / width - 1;
      const at = Math.min(history.count - 1, last) * width;
      addTo(row, beside.subarray(at, at + width));
    },
  };
}

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
