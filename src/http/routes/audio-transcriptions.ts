import type { FastifyInstance } from "fastify";
import { FORM_EXTRA_BYTES, MAX_RECORDING_BYTES } from "../../contract/audio-transcriptions.ts";
import { readTranscriptionForm } from "../../contract/transcription-form.ts";
import type { HttpDeps } from "../deps.ts";
import { formOf, readFormBodies } from "../form-body.ts";
import { streamTranscript } from "../stream-transcript.ts";
import { TRANSCRIPT_MEDIA_TYPES, toldAs } from "../transcript-forms.ts";

/** What a recording is sent to, and what is written of it. */
const TASKS = [
  ["/v1/audio/transcriptions", "transcribe"],
  ["/v1/audio/translations", "translate"],
] as const;

/**
 * `POST /v1/audio/transcriptions` and `/v1/audio/translations`: what is said in a recording, as it is said or in English,
 * for clients of OpenAI's API.
 */
export function audioTranscriptionRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(MAX_RECORDING_BYTES + FORM_EXTRA_BYTES, deps.options.bodyLimitBytes);
  // In a scope of its own, because its bodies are forms.
  app.register(async (scope) => {
    readFormBodies(scope, deps.requestReader, MAX_RECORDING_BYTES);
    for (const [path, task] of TASKS) {
      // After the caller is known, and before a byte of the recording is read.
      const onRequest = async (): Promise<void> => {
        const refusal = deps.transcriptions.refusal(task);
        if (refusal !== null) throw refusal;
      };
      const options = { bodyLimit, config: { access: "token", speaks: false }, onRequest } as const;
      scope.post(path, options, async (request, reply) => {
        const { fields, file } = formOf(request);
        const { caller } = request.tracked;
        const { transcriptions, requestReader } = deps;
        const asked = readTranscriptionForm(task, fields, transcriptions.recogniserName);
        const { language, prompt, format, granularities } = asked;
        const sound = await requestReader.openRecording(file, caller);
        const wantsWords = granularities.has("word");
        const hearing = transcriptions.transcribe({ sound, task, language, prompt, wantsWords }, caller);
        if (asked.isStreamed) return streamTranscript(deps, hearing, request, reply);
        const text = toldAs(asked, await hearing);
        reply.header("Content-Type", `${TRANSCRIPT_MEDIA_TYPES[format]}; charset=utf-8`);
        return reply.send(text);
      });
    }
  });
}
