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
import { CAUTIONS, type SegmentEnd, speakSegment } from "./speak-segment.ts";
import { PAUSE_FRAMES, SpokenHistory } from "./spoken-history.ts";
import { type LabelVoices, resolveScriptVoices } from "./voices.ts";

/** What an utterance is spoken by. */
export interface SpeechParts {
  readonly model: CodecLanguageModel;
  readonly voices: LabelVoices;
  /** Of the architecture, the same for every utterance. */
  readonly options: ReadonlyMap<string, string>;
}

/**
 * How much of what an utterance has said its next part goes on from, in seconds. A model that is told a voice keeps to that:
 * its own speech in place of it would lead it further away from part to part.
 */
const CONTEXT_S: Readonly<Record<VoiceSupport["kind"], number>> = { any: 20, clips: 0, presets: 0 };

/** So much of a part has been given before more of the text is asked for: to begin with, one piece is enough. */
const FRAMES_BEFORE_LOOKAHEAD = 6;

/** When somebody may ask again who was one too many: another may be at its end by then. */
const RETRY_AFTER_MS = 2_000;

/**
 * Speaks a script's text, some sentences at a time, until one of the signals aborts. Ends and throws as `SpeechModel.speak`
 * does.
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
  /** Frames of silence that what was spoken ends with. */
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
      const request = {
        utterance: {
          history: [...context.turns, ...history.turns],
          open: { speaker, text },
          mayForget: true,
          // Who has begun to speak is not refused any more.
          mayWait: number > 0,
          sampling: samplingParams(delivery),
          options: withPreset(options, voices.presetOf(speaker)),
          uniforms: null,
        },
        seeds: [deriveSeed(seed, 2 * number), deriveSeed(seed, 2 * number + 1)] as const,
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
          // What goes out is a copy.
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
      // From speech that came to no end, none goes on.
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

/** What a model throws of its own, in the seam's words; what stops it, as it is. */
async function translateErrors<T>(step: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await step;
  } catch (error) {
    signal.throwIfAborted();
    throw toSpeechError(error);
  }
}

/** What a codec language model throws, as the speech model's seam has it: what the conversation is to blame for, and the rest. */
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
