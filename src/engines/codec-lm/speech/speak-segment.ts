import type {
  CodecLanguageModel,
  GenerationResult,
  SpokenFrame,
  Utterance,
} from "../codec-language-model.ts";
import { isSilent, SilenceDetector } from "./spoken-history.ts";

/** A part of an utterance that a model is asked for. */
export interface SegmentRequest {
  readonly utterance: Omit<Utterance, "seed">;
  /** Of the first try, and of a second. */
  readonly seeds: readonly [bigint, bigint];
  /** Frames that its text takes at the very most. */
  readonly maxFramesOfText: number;
  /** Frames that there is room for. */
  readonly room: number;
}

/** How a part ended. */
export interface SegmentEnd {
  /** What the model said of it; `null` where it was not asked any more. */
  readonly result: GenerationResult | null;
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
const MAX_SILENT_START_FRAMES = 12;
/** For a second try. */
const RETRY_TEMPERATURE = 0.7;

/**
 * Has a part spoken, and sees to it that it ends: when there are more frames than its text can take, or when it falls
 * silent. One in which nothing comes, or whose likeliest beginning is silence, is tried again, once, before anything of it
 * is given: with draws of the second seed, so that it is the same whenever it is asked for.
 *
 * A frame more is given than there is room for, where the model has one: so it is known whether it was at its end.
 */
export async function* speakSegment(
  model: CodecLanguageModel,
  request: SegmentRequest,
  signal: AbortSignal,
): AsyncGenerator<SpokenFrame, SegmentEnd, void> {
  const { sampling } = request.utterance;
  const patience = sampling.temperature === 0 ? MAX_SILENT_START_FRAMES : 0;
  const first = speakOnce(model, request, request.seeds[0], signal);
  const silentStart: SpokenFrame[] = [];
  try {
    let step = await first.next();
    while (!step.done && silentStart.length < patience && isSilent(step.value.samples)) {
      silentStart.push(step.value);
      step = await first.next();
    }
    const isLost = step.done
      ? silentStart.length < request.room
      : silentStart.length === patience && patience > 0;
    if (!isLost) {
      yield* silentStart;
      if (step.done) return step.value;
      yield step.value;
      return yield* first;
    }
  } finally {
    await first.return(NO_END);
  }
  const { temperature = 0, acousticTemperature = temperature } = sampling;
  const second = {
    ...request,
    utterance: {
      ...request.utterance,
      sampling: {
        ...sampling,
        temperature: temperature || RETRY_TEMPERATURE,
        acousticTemperature: acousticTemperature || RETRY_TEMPERATURE,
      },
    },
  };
  const { result, cautions } = yield* speakOnce(model, second, request.seeds[1], signal);
  return { result, cautions: [CAUTIONS.again, ...cautions] };
}

const NO_END: SegmentEnd = { result: null, cautions: [] };

async function* speakOnce(
  model: CodecLanguageModel,
  { utterance, maxFramesOfText, room }: SegmentRequest,
  seed: bigint,
  signal: AbortSignal,
): AsyncGenerator<SpokenFrame, SegmentEnd, void> {
  // The model is asked for one more: so it tells whether it was at its end.
  const maxFrames = Math.min(maxFramesOfText, room) + 1;
  const speech = model.speak({ ...utterance, sampling: { ...utterance.sampling, maxFrames }, seed }, signal);
  const silence = new SilenceDetector();
  let isCut = false;
  try {
    for (let count = 0; ; ) {
      const step = await speech.next();
      if (step.done) {
        const isShort = !isCut && step.value.stop === "length" && count < maxFrames;
        return { result: step.value, cautions: isCut ? [CAUTIONS.noEnd] : isShort ? [CAUTIONS.noRoom] : [] };
      }
      signal.throwIfAborted();
      const { samples } = step.value;
      if (samples.length === 0) continue;
      count += 1;
      if (count > maxFrames) return { result: null, cautions: [CAUTIONS.noEnd] };
      isCut = count > maxFramesOfText;
      if (isCut) continue;
      silence.push(samples);
      yield step.value;
      if (silence.hasEnded) return { result: null, cautions: [CAUTIONS.silence] };
    }
  } finally {
    await speech.return(NO_RESULT);
  }
}

const NO_RESULT: GenerationResult = { stop: "length", readTurns: [], audioTurns: [] };
