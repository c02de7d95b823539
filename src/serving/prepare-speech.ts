import {
  type AudioSpeechRequest,
  formatNamed,
  isSentWhole,
  modelNamed,
  SPEEDS,
  type SpeechFormat,
  speakerNamed,
} from "../contract/audio-speech.ts";
import { ServiceError } from "../contract/errors.ts";
import { MAX_SPEECH_FRAMES, MAX_WHOLE_SPEECH_FRAMES } from "../contract/limits.ts";
import { type Prepared, prepareTts, type ResolveModel } from "./prepare.ts";

/** A text-to-speech request as OpenAI's clients make it, and how its answer is to be sent. */
export interface PreparedSpeech extends Prepared {
  readonly format: SpeechFormat;
  /** Absent: as the format is sent by itself. */
  readonly streamFormat: AudioSpeechRequest["stream_format"];
}

/** A request of OpenAI's API as one of ours. Throws a 400 {@link ServiceError} that names the field. */
export function prepareSpeech(asked: AudioSpeechRequest, resolve: ResolveModel): PreparedSpeech {
  const { input, model, voice, speed = 1, lexicon, visemes, stream_format: streamFormat } = asked;
  const format = formatNamed(asked);
  if (speed < SPEEDS.minimum || speed > SPEEDS.maximum) {
    throw new ServiceError(
      400,
      `speed must be from ${SPEEDS.minimum} to ${SPEEDS.maximum}: beyond, this voice is hard to understand`,
    );
  }
  const extras = {
    ...(lexicon === undefined ? {} : { lexicon }),
    ...(visemes === undefined ? {} : { visemes }),
  };
  const request = { text: input, model: modelNamed(model), speaker: speakerNamed(voice), ...extras };
  const prepared = prepareTts(request, resolve, {
    fields: { text: "input", speaker: "voice" },
    maxFrames: isSentWhole(format, streamFormat) ? MAX_WHOLE_SPEECH_FRAMES : MAX_SPEECH_FRAMES,
    preset: speed === 1 ? {} : { rate: speed },
  });
  return { ...prepared, format, streamFormat };
}
