import {
  type AudioSpeechRequest,
  clampSpeed,
  isSentWhole,
  resolveFormat,
  resolveModelName,
  type SpeechFormat,
} from "../../contract/audio-speech.ts";
import { MAX_SPEECH_CHARS, MAX_SPEECH_FRAMES, MAX_WHOLE_SPEECH_FRAMES } from "../../contract/limits.ts";
import type { Preset } from "../../core/script.ts";
import { mannerHeader, readManner } from "./read-manner.ts";
import { type ResolvedRequest, type ResolveModel, resolveTts } from "./resolve-request.ts";

/** Form of the answer to a request with the fields of OpenAI's API. */
interface SpeechForm {
  readonly format: SpeechFormat;
  /** Absent: the format's default. */
  readonly streamFormat: AudioSpeechRequest["stream_format"];
  /** Actual speed, if it differs from the requested one; else `null`. */
  readonly nearestSpeed: number | null;
}

export interface SpeechBody extends ResolvedRequest, SpeechForm {
  /** Report on its instructions how to speak; `null` if it has none. */
  readonly mannerHeader: string | null;
}

/** Silence for an input without words, which clients send that send sentence by sentence. */
export const SILENCE_S = 0.2;

/** Resolves a request of OpenAI's API. Throws a 400 {@link ServiceError} that names the field. */
export function resolveSpeech(asked: AudioSpeechRequest, resolve: ResolveModel): SpeechBody {
  const { input, model, voice, language, lexicon, visemes, input_type } = asked;
  const { preset, maxFrames, ...form } = speechForm(asked, MAX_SPEECH_FRAMES);
  const manner = readManner(asked.instructions);
  const extras = {
    ...(voice === undefined ? {} : { voice }),
    ...(language === undefined ? {} : { language }),
    ...(lexicon === undefined ? {} : { lexicon }),
    ...(visemes === undefined ? {} : { visemes }),
    ...(input_type === undefined ? {} : { input_type }),
  };
  const request = { text: input, model: resolveModelName(model), ...extras };
  const prepared = resolveTts(request, resolve, {
    fields: { text: "input", voice: "voice", maxChars: MAX_SPEECH_CHARS },
    ...{ maxFrames, preset },
    ...(manner === null ? {} : { manner: manner.asked }),
    silenceS: SILENCE_S,
  });
  const { takes } = prepared.model.card;
  return { ...prepared, ...form, mannerHeader: manner && mannerHeader(manner, takes.manner) };
}

/** Returns the form of an answer, and what it means for the speech. @param maxFrames of an answer that is streamed */
export function speechForm(
  asked: Pick<AudioSpeechRequest, "response_format" | "stream_format" | "speed">,
  maxFrames: number,
): SpeechForm & { readonly preset: Preset; readonly maxFrames: number } {
  const { speed = 1, stream_format: streamFormat } = asked;
  const format = resolveFormat(asked);
  const rate = clampSpeed(speed);
  return {
    ...{ format, streamFormat },
    nearestSpeed: rate === speed ? null : rate,
    preset: rate === 1 ? {} : { rate },
    maxFrames: isSentWhole(format, streamFormat) ? MAX_WHOLE_SPEECH_FRAMES : maxFrames,
  };
}
