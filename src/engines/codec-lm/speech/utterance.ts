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
  type GenerationEnd,
  type SamplingParams,
  type Voices,
} from "../codec-language-model.ts";
import { CheckpointError, OptionError } from "../fields.ts";
import { seedOf } from "../sampler.ts";
import { FramePostProcessor } from "./frame-post-processor.ts";
import { CAUTIONS, type PartEnd, speakPart } from "./part.ts";
import { maxFramesFor, Segments } from "./segments.ts";
import { PAUSE_FRAMES, SpokenHistory } from "./spoken-history.ts";
import { type ContextTurns, contextTurns } from "./turns.ts";
import { type LabelVoices, voicesOf } from "./voices.ts";

/** What an utterance is spoken by. */
export interface UtteranceParts {
  readonly model: CodecLanguageModel;
  readonly voices: LabelVoices;
  /** Of the architecture, the same for every utterance. */
  readonly options: ReadonlyMap<string, string>;
}

/**
 * How much of what an utterance has said its next part goes on from, in seconds. A model that is told a voice keeps to that:
 * its own speech in place of it would lead it further away from part to part.
 */
const GOES_ON_FROM_S: Readonly<Record<Voices["kind"], number>> = { any: 20, clips: 0, presets: 0 };

/** So much of a part has been given before more of the text is asked for: to begin with, one piece is enough. */
const AHEAD_FRAMES = 6;

/** When somebody may ask again who was one too many: another may be at its end by then. */
const RETRY_AFTER_MS = 2_000;

/**
 * Speaks a script's text, some sentences at a time, until one of the signals aborts. Ends and throws as `SpeechModel.speak`
 * does.
 */
export async function* utterance(
  script: PlainScript,
  { model, voices: labels, options }: UtteranceParts,
  signals: readonly AbortSignal[],
): AsyncGenerator<Frame, SpeechReport, void> {
  for (const each of signals) each.throwIfAborted();
  const voices = voicesOf(script, labels, model.voices);
  const stopping = stopWith(signals);
  const { signal } = stopping;
  const { delivery, speaker, seed } = script;
  const segments = new Segments(script.text);
  const out = new FramePostProcessor(delivery.maxFrames, delivery.quality);
  const said = new SpokenHistory(speaker, GOES_ON_FROM_S[model.voices.kind]);
  const cautions = new Set<string>();
  let told: ContextTurns | null = null;
  let first: GenerationEnd | null = null;
  let pause = 0;
  /** Frames of silence that what was spoken ends with. */
  let quiet = 0;
  let spoken = 0;
  const report = (stop: SpeechReport["stop"], words: string): SpeechReport => ({
    stop,
    spoken: words,
    prompt: readPrompt(told!, first, [...cautions]),
  });

  try {
    for (let number = 0; ; number++) {
      const segment = await abortable(segments.next(), signal);
      if (segment === null) break;
      told ??= await contextTurns(script, model.voices, voices, signal);
      const { breakS } = segment;
      for (const frame of out.pause(breakS === null ? pause : framesIn(breakS) - quiet)) {
        yield frame;
        signal.throwIfAborted();
      }
      if (out.left === 0) {
        yield* out.cut();
        signal.throwIfAborted();
        return report("length", segments.text.slice(0, spoken));
      }
      const { text, end, goesOn } = segment;
      const asked = {
        utterance: {
          history: [...told.turns, ...said.turns],
          open: { speaker, text },
          mayForget: true,
          // Who has begun to speak is not refused any more.
          mayWait: number > 0,
          sampling: samplingOf(delivery),
          options: optionsOf(options, voices.presetOf(speaker)),
          uniforms: null,
        },
        seeds: [seedOf(seed, 2 * number), seedOf(seed, 2 * number + 1)] as const,
        maxFramesOfText: maxFramesFor(text),
        room: out.left,
      };
      const part = said.begin();
      const speech = speakPart(model, asked, signal);
      let ended: PartEnd;
      out.beginPart();
      try {
        let step = await toldApart(speech.next(), signal);
        for (; !step.done; step = await toldApart(speech.next(), signal)) {
          part.add(step.value);
          // What goes out is a copy.
          yield* out.add(step.value.samples);
          signal.throwIfAborted();
          if (part.count >= AHEAD_FRAMES) segments.lookAhead();
        }
        ended = step.value;
      } finally {
        await speech.return({ ending: null, cautions: [] });
      }
      first ??= ended.ending;
      for (const caution of ended.cautions) cautions.add(caution);
      if (part.count === 0) cautions.add(CAUTIONS.nothing);
      else spoken = end;
      if (out.isOver) {
        yield* out.cut();
        signal.throwIfAborted();
        return report("length", segments.text.slice(0, spoken));
      }
      // From speech that came to no end, none goes on.
      if (!ended.cautions.includes(CAUTIONS.noEnd)) said.add(part, text);
      quiet = part.quietFrames;
      pause = goesOn || part.count === 0 ? 0 : Math.max(0, PAUSE_FRAMES - part.quietFrames);
    }
    if (told === null) {
      throw new NothingToSpeakError("the text has no letter or number, so there is nothing to speak");
    }
    if (out.isEmpty) throw new SpeechFailedError("The model ended before its first frame, twice.");
    yield* out.pause(framesIn(segments.breakS ?? 0) - quiet);
    yield* out.end();
    signal.throwIfAborted();
    return report("finished", segments.text);
  } finally {
    stopping.end();
    segments.release();
  }
}

function framesIn(durationS: number): number {
  return Math.round(durationS / FRAME_S);
}

/** What a model throws of its own, in the seam's words; what stops it, as it is. */
async function toldApart<T>(step: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await step;
  } catch (error) {
    signal.throwIfAborted();
    throw asSpeechError(error);
  }
}

/** What a codec language model throws, as the speech model's seam has it: what the conversation is to blame for, and the rest. */
function asSpeechError(error: unknown): Error {
  if (error instanceof ConversationError || error instanceof SpeechFailedError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CheckpointError && !(error instanceof OptionError)) {
    return new ConversationError(message, { cause: error });
  }
  const retry = error instanceof BusyError ? { retryAfterMs: RETRY_AFTER_MS } : {};
  return new SpeechFailedError(message, { cause: error, ...retry });
}

function samplingOf(delivery: Delivery): SamplingParams {
  const { temperature, acousticTemperature, topK, repetitionPenalty, penaltyWindow } = delivery;
  return { temperature, acousticTemperature, topK, repetitionPenalty, penaltyWindow };
}

function optionsOf(options: ReadonlyMap<string, string>, preset: string | null): ReadonlyMap<string, string> {
  return preset === null ? options : new Map([...options, ["speaker", preset]]);
}

function readPrompt(
  { indices }: ContextTurns,
  ending: GenerationEnd | null,
  cautions: readonly string[],
): PromptReport {
  if (ending === null) return { turns: null, heard: null, forgotten: null, cautions };
  const inHistory = (positions: readonly number[]): number[] =>
    positions.flatMap((at) => (at < indices.length ? (indices[at] ?? []) : []));
  const forgotten = [...indices.keys()].filter((at) => !ending.read.includes(at));
  return {
    turns: inHistory(ending.read),
    heard: inHistory(ending.heard),
    forgotten: inHistory(forgotten),
    cautions,
  };
}
