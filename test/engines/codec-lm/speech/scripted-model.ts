import type { SpeechModel } from "../../../../src/core/speech-model.ts";
import type {
  ClipSupport,
  CodecLanguageModel,
  GenerationResult,
  SpokenFrame,
  Utterance,
} from "../../../../src/engines/codec-lm/codec-language-model.ts";
import { type CodecLmOptions, createSpeechModel } from "../../../../src/engines/codec-lm/speech/model.ts";

/** The frames' levels, and the result. */
export interface Behaviour {
  /** Tone levels by frame; a function for endless speech. */
  readonly levels: readonly number[] | ((at: number) => number);
  /** Thrown instead of the first frame. */
  readonly error?: Error;
  readonly ending?: Partial<GenerationResult>;
}

/** A codec language model with scripted behaviour, which records its utterances. */
export class ScriptedModel implements CodecLanguageModel {
  readonly voices: ClipSupport;
  readonly asked: Utterance[] = [];
  /** Open utterances. */
  open = 0;
  isClosed = false;
  readonly #behaviour: (utterance: Utterance, call: number) => Behaviour;
  readonly #toneHz: number;

  /** @param call the number of earlier calls */
  constructor(
    behaviour: (utterance: Utterance, call: number) => Behaviour,
    { kind = "any", presets = [] }: Partial<ClipSupport> = {},
    toneHz = 500,
  ) {
    this.#behaviour = behaviour;
    this.voices = { kind, presets };
    this.#toneHz = toneHz;
  }

  async *speak(
    utterance: Utterance,
    signal: AbortSignal,
  ): AsyncGenerator<SpokenFrame, GenerationResult, void> {
    this.asked.push(utterance);
    const { levels, error, ending } = this.#behaviour(utterance, this.asked.length - 1);
    const { maxFrames = Number.POSITIVE_INFINITY } = utterance.sampling;
    const end = { readTurns: [...utterance.history.keys()], audioTurns: [], ...ending };
    this.open += 1;
    try {
      if (error !== undefined) throw error;
      for (let at = 0; ; at++) {
        const level = typeof levels === "function" ? levels(at) : levels[at];
        signal.throwIfAborted();
        if (level === undefined) return { stop: "finished", ...end };
        if (at === maxFrames) return { stop: "length", ...end };
        yield { codes: [at], samples: this.#tone(level, at) };
      }
    } finally {
      this.open -= 1;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  #tone(level: number, frame: number): Float32Array {
    const step = (2 * Math.PI * this.#toneHz) / 24_000;
    return Float32Array.from({ length: 1_920 }, (_, at) => level * Math.cos(step * (frame * 1_920 + at)));
  }
}

/** The levels of a steady tone. */
export const tone = (frames: number, level = 0.5): number[] => new Array<number>(frames).fill(level);

/** A speech model of a scripted one, whose warm-up is not recorded. */
export async function speechOver(
  model: ScriptedModel,
  options: Partial<CodecLmOptions> = {},
): Promise<SpeechModel> {
  const speech = await createSpeechModel(model, { voices: {}, language: null, instruct: null, ...options });
  model.asked.splice(0);
  return speech;
}
