import { FRAME_S } from "../../../audio/format.ts";
import { abortable } from "../../../core/abortable.ts";
import type { Delivery } from "../../../core/script.ts";
import {
  ConversationError,
  type Frame,
  NothingToSpeakError,
  type PromptReport,
  SpeechFailedError,
  type SpeechReport,
} from "../../../core/speech-model.ts";
import { stopWith } from "../../../core/stop-with.ts";
import type { PlainScript } from "../../../text/speak-plain.ts";
import {
  BusyError,
  type CodecLanguageModel,
  type GenerationResult,
  type SamplingParams,
  type VoiceSupport,
} from "../codec-language-model.ts";
import { CheckpointError, OptionError } from "../fields.ts";
import { deriveSeed } from "../sampler.ts";
import { buildContext, type ContextTurns } from "./build-context.ts";
import { FramePostProcessor } from "./frame-post-processor.ts";
import { maxFramesFor, Segments } from "./segments.ts";
import { CAUTIONS, type SegmentEnd, type SegmentRequest, speakSegment } from "./speak-segment.ts";
import { PAUSE_FRAMES, SpokenHistory } from "./spoken-history.ts";
import { type LabelVoices, resolveScriptVoices } from "./voices.ts";

export interface SpeechParts {
  readonly model: CodecLanguageModel;
  readonly voices: LabelVoices;
  /** Options of the architecture for every utterance. */
  readonly options: ReadonlyMap<string, string>;
}

/**
 * Seconds of its own speech that a segment continues from. A model with a given voice keeps to that: with its own
 * speech as context it would drift from segment to segment.
 */
const CONTEXT_S: Readonly<Record<VoiceSupport["kind"], number>> = { any: 20, clips: 0, presets: 0 };

/** Frames of a segment that are played before more text is requested: one passage is enough to begin with. */
const FRAMES_BEFORE_LOOKAHEAD = 6;

/** Time after which another utterance may have ended. */
const RETRY_AFTER_MS = 2_000;

/**
 * Speaks a script's text segment by segment until one of the signals aborts. Returns and throws as
 * `SpeechModel.speak` does.
 */
export async function* speakUtterance(
  script: PlainScript,
  { model, voices: labels, options }: SpeechParts,
  signals: readonly AbortSignal[],
): AsyncGenerator<Frame, SpeechReport, void> {
  for (const each of signals) each.throwIfAborted();
  const voices = resolveScriptVoices(script, labels, model.voices);
  const stopping = stopWith(signals);
  const { signal } = stopping;
  const { delivery, speaker, seed } = script;
  const segments = new Segments(script.text);
  const postProcessor = new FramePostProcessor(delivery.maxFrames, delivery.quality);
  const history = new SpokenHistory(speaker, CONTEXT_S[model.voices.kind]);
  const cautions = new Set<string>();
  let context: ContextTurns | null = null;
  let firstResult: GenerationResult | null = null;
  let pause = 0;
  /** Frames of silence at the end of the last segment. */
  let trailingSilence = 0;
  let spoken = 0;
  const report = (stop: SpeechReport["stop"], words: string): SpeechReport => ({
    stop,
    spoken: words,
    prompt: readPrompt(context!, firstResult, [...cautions]),
  });

  try {
    for (let number = 0; ; number++) {
      const segment = await abortable(segments.next(), signal);
      if (segment === null) break;
      context ??= await buildContext(script, model.voices, voices, signal);
      const { breakS } = segment;
      for (const frame of postProcessor.pause(
        breakS === null ? pause : frameCount(breakS) - trailingSilence,
      )) {
        yield frame;
        signal.throwIfAborted();
      }
      if (postProcessor.framesLeft === 0) {
        yield* postProcessor.endCut();
        signal.throwIfAborted();
        return report("length", segments.text.slice(0, spoken));
      }
      const { text, end, isContinued } = segment;
      const request: SegmentRequest = {
        utterance: {
          history: [...context.turns, ...history.turns],
          open: { speaker, text },
          mayDropTurns: true,
          // An utterance that has begun is no longer rejected.
          mayWait: number > 0,
          sampling: samplingParams(delivery),
          options: withPreset(options, voices.presetOf(speaker)),
          uniforms: null,
        },
        seeds: [deriveSeed(seed, 2 * number), deriveSeed(seed, 2 * number + 1)],
        maxFramesOfText: maxFramesFor(text),
        room: postProcessor.framesLeft,
      };
      const recorder = history.begin();
      const speech = speakSegment(model, request, signal);
      let segmentEnd: SegmentEnd;
      postProcessor.beginSegment();
      try {
        let step = await translateErrors(speech.next(), signal);
        for (; !step.done; step = await translateErrors(speech.next(), signal)) {
          recorder.add(step.value);
          yield* postProcessor.add(step.value.samples);
          signal.throwIfAborted();
          if (recorder.count >= FRAMES_BEFORE_LOOKAHEAD) segments.lookAhead();
        }
        segmentEnd = step.value;
      } finally {
        await speech.return({ result: null, cautions: [] });
      }
      firstResult ??= segmentEnd.result;
      for (const caution of segmentEnd.cautions) cautions.add(caution);
      if (recorder.count === 0) cautions.add(CAUTIONS.nothing);
      else spoken = end;
      if (postProcessor.isFull) {
        yield* postProcessor.endCut();
        signal.throwIfAborted();
        return report("length", segments.text.slice(0, spoken));
      }
      // Speech without an end is no context to continue from.
      if (!segmentEnd.cautions.includes(CAUTIONS.noEnd)) history.add(recorder, text);
      trailingSilence = recorder.silentFrames;
      pause = isContinued || recorder.count === 0 ? 0 : Math.max(0, PAUSE_FRAMES - recorder.silentFrames);
    }
    if (context === null) {
      throw new NothingToSpeakError("the text has no letter or number, so there is nothing to speak");
    }
    if (postProcessor.isEmpty) throw new SpeechFailedError("The model ended before its first frame, twice.");
    yield* postProcessor.pause(frameCount(segments.breakS ?? 0) - trailingSilence);
    yield* postProcessor.end();
    signal.throwIfAborted();
    return report("finished", segments.text);
  } finally {
    stopping.end();
    segments.release();
  }
}

function frameCount(durationS: number): number {
  return Math.round(durationS / FRAME_S);
}

/** Awaits a step and translates the model's errors; throws the signal's reason unchanged. */
async function translateErrors<T>(step: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await step;
  } catch (error) {
    signal.throwIfAborted();
    throw toSpeechError(error);
  }
}

/** Translates a codec language model's error: problems of the conversation, and everything else. */
function toSpeechError(error: unknown): Error {
  if (error instanceof ConversationError || error instanceof SpeechFailedError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CheckpointError && !(error instanceof OptionError)) {
    return new ConversationError(message, { cause: error });
  }
  const retry = error instanceof BusyError ? { retryAfterMs: RETRY_AFTER_MS } : {};
  return new SpeechFailedError(message, { cause: error, ...retry });
}

function samplingParams(delivery: Delivery): SamplingParams {
  const { temperature, acousticTemperature, topK, repetitionPenalty, penaltyWindow } = delivery;
  return { temperature, acousticTemperature, topK, repetitionPenalty, penaltyWindow };
}

function withPreset(
  options: ReadonlyMap<string, string>,
  preset: string | null,
): ReadonlyMap<string, string> {
  return preset === null ? options : new Map([...options, ["speaker", preset]]);
}

function readPrompt(
  { indices }: ContextTurns,
  ending: GenerationResult | null,
  cautions: readonly string[],
): PromptReport {
  if (ending === null) return { turns: null, heard: null, forgotten: null, cautions };
  const inHistory = (positions: readonly number[]): number[] =>
    positions.flatMap((at) => (at < indices.length ? (indices[at] ?? []) : []));
  const forgotten = [...indices.keys()].filter((at) => !ending.readTurns.includes(at));
  return {
    turns: inHistory(ending.readTurns),
    heard: inHistory(ending.audioTurns),
    forgotten: inHistory(forgotten),
    cautions,
  };
}
