import type { FastifyInstance } from "fastify";
import { FORM_EXTRA_BYTES } from "../../../contract/audio-transcriptions.ts";
import {
  type CreatedVoice,
  type DeletedVoice,
  ignoredVoiceFields,
  MAX_SAMPLE_BYTES,
  readVoiceForm,
} from "../../../contract/voice-form.ts";
import type { VoiceList } from "../../../contract/voices.ts";
import { findModelVoice } from "../../../serving/prepare/choose-voice.ts";
import { describeCustomVoice, voicesInLanguage } from "../../../serving/voices/voice-list.ts";
import { readFormBodies, requireForm } from "../form-body.ts";
import type { HttpDeps } from "../http-deps.ts";
import { bytesFormat, streamSpeech } from "../speech-reply.ts";
import { singleParameter } from "./speech.ts";

/** What samples say, by the voice's language. */
const SAMPLE_TEXTS: Readonly<Record<string, string>> = {
  en: "It is good to hear from you. Shall we begin with the weather, or with the news?",
  es: "Qué alegría oírte. ¿Empezamos por el tiempo o por las noticias?",
  it: "Che piacere sentirti. Cominciamo dal tempo o dalle notizie?",
};

const FIELD = "audio_sample";

/**
 * `GET`, `POST` and `DELETE /v1/audio/voices`: a model's voices and the key's own, as in the APIs of OpenAI,
 * vLLM-Omni and SGLang-Omni, and a sample of each.
 */
export function audioVoicesRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const access = deps.options.keylessLists === "none" ? "key" : "open";
  app.get<{ Querystring: { language?: unknown } }>(
    "/v1/audio/voices",
    { config: { access } },
    async ({ tracked, query }): Promise<VoiceList> =>
      voicesInLanguage(
        await deps.customVoices.list(tracked.keyId),
        singleParameter("language", query.language),
      ),
  );

  app.delete<{ Params: { voice: string } }>(
    "/v1/audio/voices/:voice",
    { config: { access: "key" } },
    async ({ params, tracked }): Promise<DeletedVoice> => {
      const { voiceId: id, name } = await deps.customVoices.remove(tracked.caller.keyId, params.voice);
      return { id, object: "audio.voice.deleted", name, deleted: true };
    },
  );

  app.get<{ Params: { voice: string }; Querystring: { model?: unknown } }>(
    "/v1/audio/voices/:voice/sample",
    // A HEAD request would be charged for the speech.
    { exposeHeadRoute: false, config: { access: "token", takesSecrets: true } },
    async (request, reply) => {
      const { voice } = request.params;
      const { caller } = request.tracked;
      // The language of a recording is not known.
      const { data: voices } = await deps.customVoices.list(null);
      const language = findModelVoice(voice, { voices })?.language ?? "en";
      const input = SAMPLE_TEXTS[language.split("-")[0]!] ?? SAMPLE_TEXTS.en;
      const bytes = Buffer.from(JSON.stringify({ input, voice, model: request.query.model }));
      const asked = await deps.requestReader.read("speech", { bytes, holding: null }, caller);
      return streamSpeech(deps, asked, request, reply, bytesFormat("mp3", false));
    },
  );

  const bodyLimit = Math.min(MAX_SAMPLE_BYTES + FORM_EXTRA_BYTES, deps.options.bodyLimitBytes);
  // In a separate scope, because its bodies are forms.
  app.register(async (scope) => {
    readFormBodies(scope, deps.requestReader, { field: FIELD, maxBytes: MAX_SAMPLE_BYTES });
    const options = { bodyLimit, config: { access: "token", speaks: false } } as const;
    scope.post("/v1/audio/voices", options, async (request, reply): Promise<CreatedVoice> => {
      const { fields, file } = requireForm(request, FIELD);
      const wanted = readVoiceForm(fields);
      const unread = ignoredVoiceFields(fields);
      if (unread !== null) reply.header("X-Antiphon-Ignored", unread);
      const { voice } = await deps.newVoices.create({ wanted, file, field: FIELD }, request.tracked.caller);
      return describeCustomVoice(voice);
    });
  });
}
