import { type Choosing, choose } from "../choosing.ts";
import { ChosenFirst } from "../chosen-first.ts";
import type { Draws } from "../draws.ts";
import type { DecodedStream, Frame } from "../frame-decoder.ts";
import type { Stop } from "../model.ts";
import type { Voicing } from "../seat.ts";
import type { CsmConfig } from "./config.ts";
import type { GenerationSettings } from "./settings.ts";

/** The code that all of an ending frame are: it has no penalty. */
const END = 0;

/** How CSM speaks one utterance. */
export class CsmVoicing implements Voicing {
  readonly prompt: Float32Array;
  readonly others: Choosing;
  readonly draws: Draws;
  readonly sound: DecodedStream;
  readonly #settings: GenerationSettings;
  readonly #codes: number;
  readonly #chosen = new ChosenFirst();

  constructor(
    prompt: Float32Array,
    settings: GenerationSettings,
    draws: Draws,
    sound: DecodedStream,
    { codec }: CsmConfig,
  ) {
    this.prompt = prompt;
    this.others = settings.others;
    this.draws = draws;
    this.sound = sound;
    this.#settings = settings;
    this.#codes = codec.codes;
  }

  chooseFirst(logits: Float32Array): number {
    const { first, penalty } = this.#settings;
    // The codes that the codec does not have are left out.
    const known = logits.subarray(0, this.#codes);
    return choose(this.#chosen.penalised(known, penalty, END), first, this.draws);
  }

  take(frame: Frame): { readonly isHeard: boolean; readonly stop: Stop | null } {
    this.#chosen.note(frame[0]!);
    // The last codebook is not asked. A frame that is not silent in it ends the speech too, and is heard.
    const isLast = frame.slice(0, -1).every((code) => code === END);
    const isHeard = !(isLast && frame.at(-1) === END);
    if (isLast) return { isHeard, stop: "finished" };
    return { isHeard, stop: this.#chosen.count >= this.#settings.maxFrames ? "length" : null };
  }
}
