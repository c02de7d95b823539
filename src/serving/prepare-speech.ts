import { type AudioSpeechRequest, modelNamed, SPEEDS, speakerNamed } from "../contract/audio-speech.ts";
import { ServiceError } from "../contract/errors.ts";
import { type Prepared, prepareTts, type ResolveModel } from "./prepare.ts";

/** A request of OpenAI's API as one of ours. Throws a 400 {@link ServiceError} that names the field. */
export function prepareSpeech(asked: AudioSpeechRequest, resolve: ResolveModel): Prepared {
  const { input, model, voice, speed = 1, lexicon, visemes } = asked;
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
  return prepareTts(request, resolve, {
    fields: { text: "input", speaker: "voice" },
    preset: speed === 1 ? {} : { rate: speed },
  });
}
