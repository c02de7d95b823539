import {
  type AudioSpeechRequest,
  formatNamed,
  isSentWhole,
  modelNamed,
  type SpeechFormat,
  spokenSpeed,
  voiceOf,
} from "../contract/audio-speech.ts";
import { MAX_SPEECH_FRAMES, MAX_WHOLE_SPEECH_FRAMES } from "../contract/limits.ts";
import { type Prepared, prepareTts, type ResolveModel } from "./prepare.ts";

/** A text-to-speech request as OpenAI's clients make it, and how its answer is to be sent. */
export interface PreparedSpeech extends Prepared {
  readonly format: SpeechFormat;
  /** Absent: as the format is sent by itself. */
  readonly streamFormat: AudioSpeechRequest["stream_format"];
  /** The speed that is spoken, where it is not the one that was asked for; `null` where it is. */
  readonly nearestSpeed: number | null;
}

/** What stands for an input without words: clients that send sentence by sentence send such ones, too. */
export const SILENCE_S = 0.2;

/** A request of OpenAI's API as one of ours. Throws a 400 {@link ServiceError} that names the field. */
export function prepareSpeech(asked: AudioSpeechRequest, resolve: ResolveModel): PreparedSpeech {
  const { input, model, speed = 1, lexicon, visemes, stream_format: streamFormat } = asked;
  const format = formatNamed(asked);
  const rate = spokenSpeed(speed);
  const extras = {
    ...(lexicon === undefined ? {} : { lexicon }),
    ...(visemes === undefined ? {} : { visemes }),
  };
  const request = { text: input, model: modelNamed(model), speaker: voiceOf(asked), ...extras };
  const prepared = prepareTts(request, resolve, {
    fields: { text: "input", speaker: "voice" },
    maxFrames: isSentWhole(format, streamFormat) ? MAX_WHOLE_SPEECH_FRAMES : MAX_SPEECH_FRAMES,
    preset: rate === 1 ? {} : { rate },
    silenceS: SILENCE_S,
  });
  return { ...prepared, format, streamFormat, nearestSpeed: rate === speed ? null : rate };
}
