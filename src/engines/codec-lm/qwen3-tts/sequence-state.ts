import type { DecodedStream, Frame } from "../frame-decoder.ts";
import type { Stop } from "../model.ts";
import type { Rng } from "../rng.ts";
import { CodeHistory, type RepetitionPenalty, type SamplerConfig, sampleCode } from "../sampler.ts";
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
export class Qwen3TtsSequenceState implements SequenceState {
  readonly prompt: Float32Array;
  readonly depthSampler: SamplerConfig;
  readonly rng: Rng;
  readonly sound: DecodedStream;
  readonly #beside: Float32Array;
  readonly #settings: GenerationSettings;
  readonly #config: Qwen3TtsConfig;
  readonly #history = new CodeHistory();

  constructor(
    { prompt, beside }: ReadText,
    settings: GenerationSettings,
    rng: Rng,
    sound: DecodedStream,
    config: Qwen3TtsConfig,
  ) {
    this.prompt = prompt;
    this.depthSampler = settings.others;
    this.rng = rng;
    this.sound = sound;
    this.#beside = beside;
    this.#settings = settings;
    this.#config = config;
  }

  sampleFirst(logits: Float32Array): number | Stop {
    const { first, penalty, maxFrames } = this.#settings;
    const scores = firstCodeLogits(logits, this.#history, penalty, this.#config);
    const code = sampleCode(scores, first, this.rng);
    if (code === this.#config.ids.end) return "finished";
    return this.#history.count >= maxFrames ? "length" : code;
  }

  take(frame: Frame): { readonly isHeard: true; readonly stop: null } {
    this.#history.note(frame[0]!);
    return { isHeard: true, stop: null };
  }

  addText(row: Float32Array): void {
    const width = row.length;
    const last = this.#beside.length / width - 1;
    const at = Math.min(this.#history.count - 1, last) * width;
    addTo(row, this.#beside.subarray(at, at + width));
  }
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
