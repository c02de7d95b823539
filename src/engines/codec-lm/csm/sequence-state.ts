import type { DecodedStream, Frame } from "../frame-decoder.ts";
import type { Stop } from "../model.ts";
import type { Rng } from "../rng.ts";
import { CodeHistory, type SamplerConfig, sampleCode } from "../sampler.ts";
import type { SequenceState } from "../sequence.ts";
import type { CsmConfig } from "./config.ts";
import type { GenerationSettings } from "./settings.ts";

/** The code that all of an ending frame are: it has no penalty. */
const END = 0;

/** How CSM speaks one utterance. */
export class CsmSequenceState implements SequenceState {
  readonly prompt: Float32Array;
  readonly depthSampler: SamplerConfig;
  readonly rng: Rng;
  readonly sound: DecodedStream;
  readonly #settings: GenerationSettings;
  readonly #codes: number;
  readonly #history = new CodeHistory();

  constructor(
    prompt: Float32Array,
    settings: GenerationSettings,
    rng: Rng,
    sound: DecodedStream,
    { codec }: CsmConfig,
  ) {
    this.prompt = prompt;
    this.depthSampler = settings.others;
    this.rng = rng;
    this.sound = sound;
    this.#settings = settings;
    this.#codes = codec.codes;
  }

  sampleFirst(logits: Float32Array): number {
    const { first, penalty } = this.#settings;
    // The codes that the codec does not have are left out.
    const known = logits.subarray(0, this.#codes);
    return sampleCode(this.#history.penalised(known, penalty, END), first, this.rng);
  }

  take(frame: Frame): { readonly isHeard: boolean; readonly stop: Stop | null } {
    this.#history.note(frame[0]!);
    // The last codebook is not asked. A frame that is not silent in it ends the speech too, and is heard.
    const isLast = frame.slice(0, -1).every((code) => code === END);
    const isHeard = !(isLast && frame.at(-1) === END);
    if (isLast) return { isHeard, stop: "finished" };
    return { isHeard, stop: this.#history.count >= this.#settings.maxFrames ? "length" : null };
  }
}
