import { type Choosing, choose } from "../choosing.ts";
import { ChosenFirst } from "../chosen-first.ts";
import type { Draws } from "../draws.ts";
import type { DecodedStream, Frame } from "../frame-decoder.ts";
import type { Stop } from "../model.ts";
import type { Voicing } from "../seat.ts";
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
export class Qwen3TtsVoicing implements Voicing {
  readonly prompt: Float32Array;
  readonly others: Choosing;
  readonly draws: Draws;
  readonly sound: DecodedStream;
  readonly #beside: Float32Array;
  readonly #settings: GenerationSettings;
  readonly #config: Qwen3TtsConfig;
  readonly #chosen = new ChosenFirst();

  constructor(
    { prompt, beside }: ReadText,
    settings: GenerationSettings,
    draws: Draws,
    sound: DecodedStream,
    config: Qwen3TtsConfig,
  ) {
    this.prompt = prompt;
    this.others = settings.others;
    this.draws = draws;
    this.sound = sound;
    this.#beside = beside;
    this.#settings = settings;
    this.#config = config;
  }

  chooseFirst(logits: Float32Array): number | Stop {
    const { first, penalty, maxFrames } = this.#settings;
    const scores = firstCodeLogits(logits, this.#chosen, penalty, this.#config);
    const code = choose(scores, first, this.draws);
    if (code === this.#config.ids.end) return "finished";
    return this.#chosen.count >= maxFrames ? "length" : code;
  }

  take(frame: Frame): { readonly isHeard: true; readonly stop: null } {
    this.#chosen.note(frame[0]!);
    return { isHeard: true, stop: null };
  }

  addBeside(row: Float32Array): void {
    const width = row.length;
    const last = this.#beside.length / width - 1;
    const at = Math.min(this.#chosen.count - 1, last) * width;
    addTo(row, this.#beside.subarray(at, at + width));
  }
}
