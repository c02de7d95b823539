import { CodeHistory } from "../chosen-first.ts";
import type { DecodedStream, Frame } from "../frame-decoder.ts";
import type { Stop } from "../model.ts";
import type { Rng } from "../rng.ts";
import { type SamplerConfig, sampleCode } from "../sampler.ts";
import type { SequenceState } from "../sequence.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import { addTo } from "./embeddings.ts";
import { firstCodeLogits } from "./first-code.ts";
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
