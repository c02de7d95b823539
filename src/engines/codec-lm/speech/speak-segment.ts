import type {
  CodecLanguageModel,
  GenerationResult,
  SpokenFrame,
  Utterance,
} from "../codec-language-model.ts";
import { isSilent, SilenceDetector } from "./spoken-history.ts";

export interface SegmentRequest {
  readonly utterance: Omit<Utterance, "seed">;
  /** Seeds of the first attempt and the retry. */
  readonly seeds: readonly [bigint, bigint];
  readonly maxFramesOfText: number;
  /** Frames that still fit into the utterance. */
  readonly room: number;
}

export interface SegmentEnd {
  /** The model's result; `null` if generation was stopped before. */
  readonly result: GenerationResult | null;
  readonly cautions: readonly Caution[];
}

export type Caution = (typeof CAUTIONS)[keyof typeof CAUTIONS];

export const CAUTIONS = {
  noEnd: "cut short: no end came",
  silence: "cut short: nothing but silence came any more",
  noRoom: "cut short: the model has no room for more",
  again: "begun again: at first nothing but silence came",
  nothing: "left out: nothing came",
} as const;

/** About 1 s: greedy decoding that starts with as much silence has failed. */
const MAX_SILENT_START_FRAMES = 12;
const RETRY_TEMPERATURE = 0.7;

/**
 * Generates a segment, and stops it when it has more frames than its text can take or falls silent. A segment that is
 * empty, or silent at the start with greedy decoding, is retried once with the second seed before any frame is
 * returned, so that results are reproducible.
 *
 * Returns one frame more than fits if the model has one, which tells whether the speech was complete.
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
  // The extra frame tells whether the model had finished.
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
