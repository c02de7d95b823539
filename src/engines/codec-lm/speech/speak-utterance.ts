import { FRAME_S } from "../../../audio/format.ts";
import { abortable } from "../../../core/abortable.ts";
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
  type ClipSupport,
  type CodecLanguageModel,
  type GenerationResult,
  type SpokenTurn,
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
  readonly options: ReadonlyMap<string, string>;
}

/**
 * Seconds of its own speech that a segment continues from. A model with a given voice keeps to that: with its own
 * speech as context it would drift from segment to segment.
 */
const CONTEXT_S: Readonly<Record<ClipSupport["kind"], number>> = { any: 20, clips: 0, presets: 0 };

/** Frames of a segment that are played before more text is requested: one passage is enough to begin with. */
const FRAMES_BEFORE_LOOKAHEAD = 6;

/** Suggested delay of a retry, in milliseconds: by then another utterance may have ended. */
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
  const { delivery, speaker } = script;
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
    let isCut = false;
    for (let number = 0; ; number++) {
      const segment = await abortable(segments.next(), signal);
      if (segment === null) break;
      context ??= await buildContext(script, model.voices, voices, signal);
      const { text, end, isContinued, breakS } = segment;
      const pauseFrames = breakS === null ? pause : frameCount(breakS) - trailingSilence;
      for (const frame of postProcessor.pause(pauseFrames)) {
        yield frame;
        signal.throwIfAborted();
      }
      isCut = postProcessor.framesLeft === 0;
      if (isCut) break;
      const turns = [...context.turns, ...history.turns];
      const segmentOptions = withPreset(options, voices.presetOf(speaker));
      const room = postProcessor.framesLeft;
      const request = segmentRequest(script, number, text, turns, segmentOptions, room);
      const recorder = history.begin();
      const parts = { recorder, postProcessor, segments };
      const { result, cautions: found } = yield* playSegment(model, request, parts, signal);
      firstResult ??= result;
      for (const caution of found) cautions.add(caution);
      if (recorder.count === 0) cautions.add(CAUTIONS.nothing);
      else spoken = end;
      isCut = postProcessor.isFull;
      if (isCut) break;
      // Speech without an end is no context to continue from.
      if (!found.includes(CAUTIONS.noEnd)) history.add(recorder, text);
      trailingSilence = recorder.silentFrames;
      pause = isContinued || recorder.count === 0 ? 0 : Math.max(0, PAUSE_FRAMES - recorder.silentFrames);
    }
    if (context === null) throw new NothingToSpeakError(NOTHING_TO_SPEAK);
    if (isCut) {
      yield* postProcessor.endCut();
      signal.throwIfAborted();
      return report("length", segments.text.slice(0, spoken));
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

const NOTHING_TO_SPEAK = "the text has no letter or number, so there is nothing to speak";

/** Returns the request for the text of a segment. @param room frames that still fit */
function segmentRequest(
  { speaker, seed, delivery }: PlainScript,
  number: number,
  text: string,
  history: readonly SpokenTurn[],
  options: ReadonlyMap<string, string>,
  room: number,
): SegmentRequest {
  const { temperature, acousticTemperature, topK, repetitionPenalty, penaltyWindow } = delivery;
  return {
    utterance: {
      history,
      open: { speaker, text },
      mayDropTurns: true,
      // An utterance that has begun is no longer rejected.
      mayWait: number > 0,
      sampling: { temperature, acousticTemperature, topK, repetitionPenalty, penaltyWindow },
      options,
      uniforms: null,
    },
    seeds: [deriveSeed(seed, 2 * number), deriveSeed(seed, 2 * number + 1)],
    maxFramesOfText: maxFramesFor(text),
    room,
  };
}

interface SegmentParts {
  readonly recorder: ReturnType<SpokenHistory["begin"]>;
  readonly postProcessor: FramePostProcessor;
  readonly segments: Segments;
}

async function* playSegment(
  model: CodecLanguageModel,
  request: SegmentRequest,
  { recorder, postProcessor, segments }: SegmentParts,
  signal: AbortSignal,
): AsyncGenerator<Frame, SegmentEnd, void> {
  const speech = speakSegment(model, request, signal);
  postProcessor.beginSegment();
  try {
    for (;;) {
      const step = await translateErrors(speech.next(), signal);
      if (step.done) return step.value;
      recorder.add(step.value);
      yield* postProcessor.add(step.value.samples);
      signal.throwIfAborted();
      if (recorder.count >= FRAMES_BEFORE_LOOKAHEAD) segments.lookAhead();
    }
  } finally {
    await speech.return({ result: null, cautions: [] });
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

/** Returns the options with the preset that speaks, if there is one. */
export function withPreset(
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
