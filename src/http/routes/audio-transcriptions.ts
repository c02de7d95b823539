import type { FastifyInstance } from "fastify";
import { MAX_RECORDING_BYTES } from "../../contract/audio-transcriptions.ts";
import { readTranscriptionForm } from "../../contract/transcription-form.ts";
import { requesterOf } from "../caller.ts";
import type { HttpDeps } from "../deps.ts";
import { FORM_EXTRA_BYTES, formOf, readFormBodies } from "../form-body.ts";
import { streamTranscript } from "../stream-transcript.ts";
import { TRANSCRIPT_MEDIA_TYPES, toldAs } from "../transcript-forms.ts";

/** `POST /v1/audio/transcriptions`: what is said in a recording, for clients of OpenAI's API. */
export function audioTranscriptionsRoute(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(MAX_RECORDING_BYTES + FORM_EXTRA_BYTES, deps.options.bodyLimitBytes);
  // In a scope of its own, because its bodies are forms.
  app.register(async (scope) => {
    readFormBodies(scope, deps.intake, MAX_RECORDING_BYTES);
    // After the caller is known, and before a byte of the recording is read.
    scope.addHook("onRequest", async () => {
      const refusal = deps.transcriptions.refusal();
      if (refusal !== null) throw refusal;
    });
    scope.post(
      "/v1/audio/transcriptions",
      { bodyLimit, config: { access: "token", speaks: false } },
      async (request, reply) => {
        const { fields, file } = formOf(request);
        const requester = requesterOf(request);
        const { transcriptions, intake } = deps;
        const asked = readTranscriptionForm(fields, transcriptions.recogniserName);
        const { language, prompt, format, granularities } = asked;
        const sound = await intake.openRecording(file, requester);
        const wantsWords = granularities.has("word");
        const hearing = transcriptions.transcribe({ sound, language, prompt, wantsWords }, requester);
        if (asked.isStreamed) return streamTranscript(deps, hearing, request, reply);
        const text = toldAs(format, await hearing, granularities);
        reply.header("Content-Type", `${TRANSCRIPT_MEDIA_TYPES[format]}; charset=utf-8`);
        return reply.send(text);
      },
    );
  });
}
