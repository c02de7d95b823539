import {
  type AudioSpeechRequest,
  clampSpeed,
  isSentWhole,
  resolveFormat,
  resolveModelName,
  type SpeechFormat,
} from "../../contract/audio-speech.ts";
import { fieldError } from "../../contract/errors.ts";
import {
  countChars,
  MAX_SCRIPT_CHARS,
  MAX_SPEECH_CHARS,
  MAX_SPEECH_FRAMES,
  MAX_WHOLE_SPEECH_FRAMES,
} from "../../contract/limits.ts";
import { mannerHeader, readManner } from "./read-manner.ts";
import { checkLength, type ResolvedRequest, type ResolveModel, resolveTts } from "./resolve-request.ts";

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
  checkLength(countChars(input), MAX_SCRIPT_CHARS * (/[<[]/.test(input) ? 4 : 1), "input", 400);
  const longer = Math.ceil(input.length / MAX_SPEECH_CHARS);
  const { preset, maxFrames, ...form } = speechForm(asked, longer * MAX_SPEECH_FRAMES);
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
    fields: { text: "input", voice: "voice", maxChars: MAX_SCRIPT_CHARS },
    ...{ maxFrames, preset },
    ...(manner === null ? {} : { manner: manner.asked }),
    silenceS: SILENCE_S,
  });
  if (prepared.input.chars > MAX_SPEECH_CHARS && isSentWhole(form.format, form.streamFormat))
    throw fieldError(
      "input",
      `has ${prepared.input.chars} characters, and a whole ${form.format} holds ${MAX_SPEECH_CHARS}: ` +
        "set stream_format to audio or sse, or response_format to mp3, opus or pcm",
    );
  const { takes } = prepared.model.card;
  return { ...prepared, ...form, mannerHeader: manner && mannerHeader(manner, takes.manner) };
}

/** Returns the form of an answer, and what it means for the speech. @param maxFrames of an answer that is streamed */
export function speechForm(
  asked: Pick<AudioSpeechRequest, "response_format" | "stream_format" | "speed" | "loudness">,
  maxFrames: number,
): SpeechForm & Pick<ResolvedRequest, "preset" | "loudness"> & { readonly maxFrames: number } {
  const { speed = 1, stream_format: streamFormat, loudness } = asked;
  const format = resolveFormat(asked);
  const rate = clampSpeed(speed);
  return {
    ...{ format, streamFormat },
    nearestSpeed: rate === speed ? null : rate,
    ...(loudness !== undefined && { loudness }),
    preset: rate === 1 ? {} : { rate },
    maxFrames: isSentWhole(format, streamFormat) ? MAX_WHOLE_SPEECH_FRAMES : maxFrames,
  };
}
