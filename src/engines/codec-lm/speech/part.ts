import type { CodecLanguageModel, GenerationEnd, SpokenFrame, Utterance } from "../codec-language-model.ts";
import { isFaint, SilenceDetector } from "./spoken-history.ts";

/** A part of an utterance that a model is asked for. */
export interface PartAsked {
  readonly utterance: Omit<Utterance, "seed">;
  /** Of the first try, and of a second. */
  readonly seeds: readonly [bigint, bigint];
  /** Frames that its text takes at the very most. */
  readonly maxFramesOfText: number;
  /** Frames that there is room for. */
  readonly room: number;
}

/** How a part ended. */
export interface PartEnd {
  /** What the model said of it; `null` where it was not asked any more. */
  readonly ending: GenerationEnd | null;
  readonly cautions: readonly Caution[];
}

export type Caution = (typeof CAUTIONS)[keyof typeof CAUTIONS];

/** What may go wrong with a part, as people read it. */
export const CAUTIONS = {
  noEnd: "cut short: no end came",
  silence: "cut short: nothing but silence came any more",
  noRoom: "cut short: the model has no room for more",
  again: "begun again: at first nothing but silence came",
  nothing: "left out: nothing came",
} as const;

/** A choice of the likeliest that begins with so much silence has lost its way: 1 s. */
const SILENT_FRAMES = 12;
/** For a second try. */
const SECOND_TEMPERATURE = 0.7;

/**
 * Has a part spoken, and sees to it that it ends: when there are more frames than its text can take, or when it falls
 * silent. One in which nothing comes, or whose likeliest beginning is silence, is tried again, once, before anything of it
 * is given: with draws of the second seed, so that it is the same whenever it is asked for.
 *
 * A frame more is given than there is room for, where the model has one: so it is known whether it was at its end.
 */
export async function* speakPart(
  model: CodecLanguageModel,
  asked: PartAsked,
  signal: AbortSignal,
): AsyncGenerator<SpokenFrame, PartEnd, void> {
  const { sampling } = asked.utterance;
  const patience = sampling.temperature === 0 ? SILENT_FRAMES : 0;
  const first = speakOnce(model, asked, asked.seeds[0], signal);
  const held: SpokenFrame[] = [];
  try {
    let step = await first.next();
    while (!step.done && held.length < patience && isFaint(step.value.samples)) {
      held.push(step.value);
      step = await first.next();
    }
    const isLost = step.done ? held.length < asked.room : held.length === patience && patience > 0;
    if (!isLost) {
      yield* held;
      if (step.done) return step.value;
      yield step.value;
      return yield* first;
    }
  } finally {
    await first.return(UNASKED);
  }
  const { temperature = 0, acousticTemperature = temperature } = sampling;
  const second = {
    ...asked,
    utterance: {
      ...asked.utterance,
      sampling: {
        ...sampling,
        temperature: temperature || SECOND_TEMPERATURE,
        acousticTemperature: acousticTemperature || SECOND_TEMPERATURE,
      },
    },
  };
  const { ending, cautions } = yield* speakOnce(model, second, asked.seeds[1], signal);
  return { ending, cautions: [CAUTIONS.again, ...cautions] };
}

const UNASKED: PartEnd = { ending: null, cautions: [] };

async function* speakOnce(
  model: CodecLanguageModel,
  { utterance, maxFramesOfText, room }: PartAsked,
  seed: bigint,
  signal: AbortSignal,
): AsyncGenerator<SpokenFrame, PartEnd, void> {
  // The model is asked for one more: so it tells whether it was at its end.
  const maxFrames = Math.min(maxFramesOfText, room) + 1;
  const speech = model.speak({ ...utterance, sampling: { ...utterance.sampling, maxFrames }, seed }, signal);
  const quiet = new SilenceDetector();
  let isCut = false;
  try {
    for (let count = 0; ; ) {
      const step = await speech.next();
      if (step.done) {
        const isShort = !isCut && step.value.stop === "length" && count < maxFrames;
        return { ending: step.value, cautions: isCut ? [CAUTIONS.noEnd] : isShort ? [CAUTIONS.noRoom] : [] };
      }
      signal.throwIfAborted();
      const { samples } = step.value;
      if (samples.length === 0) continue;
      count += 1;
      if (count > maxFrames) return { ending: null, cautions: [CAUTIONS.noEnd] };
      isCut = count > maxFramesOfText;
      if (isCut) continue;
      quiet.hear(samples);
      yield step.value;
      if (quiet.isOver) return { ending: null, cautions: [CAUTIONS.silence] };
    }
  } finally {
    await speech.return(NOT_ENDED);
  }
}

const NOT_ENDED: GenerationEnd = { stop: "length", read: [], heard: [] };
