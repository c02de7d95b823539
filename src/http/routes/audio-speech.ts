import type { FastifyInstance } from "fastify";
import {
  type AudioSpeechRequest,
  modelNamed,
  SPEEDS,
  speakerNamed,
  VOICES,
  type VoiceList,
} from "../../contract/audio-speech.ts";
import { ServiceError } from "../../contract/errors.ts";
import { parseJsonBody } from "../../contract/json-body.ts";
import { parseAudioSpeechRequest } from "../../contract/validate.ts";
import type { Prepared } from "../../serving/prepare.ts";
import { bodyOf } from "../body.ts";
import { keyOf } from "../caller.ts";
import { collectWav } from "../collect.ts";
import type { HttpDeps } from "../deps.ts";
import { bytesForm, eventsForm, MEDIA_TYPES, type SpeechFormat } from "../speech-forms.ts";
import { streamSpeech } from "../stream-speech.ts";

/** Room for the longest input with every character escaped, and for instructions. Bodies are parsed where they arrive. */
const BODY_LIMIT_BYTES = 512 * 1024;

/** `POST /v1/audio/speech` and `GET /v1/audio/voices`: text to speech for clients of OpenAI's API. */
export function audioSpeechRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(BODY_LIMIT_BYTES, deps.options.bodyLimitBytes);
  app.post("/v1/audio/speech", { bodyLimit, config: { access: "token" } }, async (request, reply) => {
    const asked = parseAudioSpeechRequest(parseJsonBody(bodyOf(request)));
    const format = formatOf(asked);
    const prepared = prepare(asked, deps);
    if (asked.stream_format === undefined && format === "wav") {
      const { wav } = await collectWav(deps, prepared, keyOf(request).keyId, reply);
      reply.header("Content-Type", MEDIA_TYPES.wav);
      return Buffer.from(wav.buffer, wav.byteOffset, wav.byteLength);
    }
    const form = asked.stream_format === "sse" ? eventsForm(format, request.id) : bytesForm(format);
    return streamSpeech(deps, prepared, request, reply, form);
  });

  app.get(
    "/v1/audio/voices",
    { config: { access: "key" } },
    async (): Promise<VoiceList> => ({ data: [...VOICES] }),
  );
}

function prepare(asked: AudioSpeechRequest, deps: HttpDeps): Prepared {
  const { input, model, voice, speed = 1 } = asked;
  if (speed < SPEEDS.minimum || speed > SPEEDS.maximum) {
    throw new ServiceError(
      400,
      `speed must be from ${SPEEDS.minimum} to ${SPEEDS.maximum}: beyond, this voice is hard to understand`,
    );
  }
  return deps.preparer.prepareTts(
    { text: input, model: modelNamed(model), speaker: speakerNamed(voice) },
    { fields: { text: "input", speaker: "voice" }, preset: speed === 1 ? {} : { rate: speed } },
  );
}

/** OpenAI's own default, mp3, is not made here, so a request that names no format gets what can be. */
function formatOf({ response_format: format = "wav" }: AudioSpeechRequest): SpeechFormat {
  if (format === "wav" || format === "pcm") return format;
  throw new ServiceError(
    400,
    `response_format ${JSON.stringify(format)} is not made here: ask for "wav" or "pcm"`,
  );
}
