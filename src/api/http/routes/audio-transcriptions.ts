import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  FORM_EXTRA_BYTES,
  MAX_RECORDING_BYTES,
  type TranscriptError,
  type TranscriptFormat,
  type TranscriptTextDelta,
} from "../../../contract/audio-transcriptions.ts";
import { openAiError } from "../../../contract/replies.ts";
import { readTranscriptionForm, type TranscriptionOptions } from "../../../contract/transcription-form.ts";
import { toSrt, toVtt } from "../../../core/captions/captions.ts";
import {
  doneTranscription,
  plainTranscription,
  segmentTexts,
  toCaptions,
  verboseTranscription,
  verboseTranslation,
} from "../../../serving/transcribe/transcript-formats.ts";
import type { TranscribedRecording } from "../../../serving/transcribe/transcriptions.ts";
import { readFormBodies, requireForm } from "../form-body.ts";
import type { HttpDeps } from "../http-deps.ts";
import {
  formatUnnamedEvent,
  type PacedFormat,
  SSE_HEADERS,
  SSE_KEEP_ALIVE,
  sendPaced,
} from "../paced-response.ts";

const TASKS = [
  ["/v1/audio/transcriptions", "transcribe"],
  ["/v1/audio/translations", "translate"],
] as const;

/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`, as in OpenAI's API. */
export function audioTranscriptionRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(MAX_RECORDING_BYTES + FORM_EXTRA_BYTES, deps.options.bodyLimitBytes);
  // In a separate scope, because its bodies are forms.
  app.register(async (scope) => {
    readFormBodies(scope, deps.requestReader, { field: "file", maxBytes: MAX_RECORDING_BYTES });
    for (const [path, task] of TASKS) {
      // Runs after authentication, and before the recording is read.
      const onRequest = async (): Promise<void> => {
        const refusal = deps.transcriptions.refusal(task);
        if (refusal !== null) throw refusal;
      };
      const options = { bodyLimit, config: { access: "token", speaks: false }, onRequest } as const;
      scope.post(path, options, async (request, reply) => {
        const { fields, file } = requireForm(request, "file");
        const { caller } = request.tracked;
        const { transcriptions, requestReader } = deps;
        const asked = readTranscriptionForm(task, fields, transcriptions.recogniserName);
        const { language, prompt, format, granularities } = asked;
        const sound = await requestReader.openRecording(file, caller);
        const wantsWords = granularities.has("word");
        const hearing = transcriptions.transcribe({ sound, task, language, prompt, wantsWords }, caller);
        if (asked.isStreamed) return streamTranscript(deps, hearing, request, reply);
        const text = formatTranscript(asked, await hearing);
        reply.header("Content-Type", `${TRANSCRIPT_MEDIA_TYPES[format]}; charset=utf-8`);
        return reply.send(text);
      });
    }
  });
}

const TRANSCRIPT_MEDIA_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: "application/json",
  text: "text/plain",
  srt: "application/x-subrip",
  verbose_json: "application/json",
  vtt: "text/vtt",
};

function formatTranscript(
  { task, format, granularities }: Pick<TranscriptionOptions, "task" | "format" | "granularities">,
  heard: TranscribedRecording,
): string {
  const { text, segments } = heard.transcript;
  switch (format) {
    case "json":
      return JSON.stringify(plainTranscription(heard));
    case "verbose_json":
      return JSON.stringify(
        task === "translate" ? verboseTranslation(heard) : verboseTranscription(heard, granularities),
      );
    case "text":
      return `${text}\n`;
    case "srt":
      return toSrt(toCaptions(segments));
    case "vtt":
      return toVtt(toCaptions(segments));
  }
}

function streamTranscript(
  deps: HttpDeps,
  hearing: Promise<TranscribedRecording>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const form: PacedFormat = {
    headers: SSE_HEADERS,
    keepAlive: SSE_KEEP_ALIVE,
    failure: (error) =>
      formatUnnamedEvent({ type: "error", error: openAiError(error, request.id) } satisfies TranscriptError),
  };
  return sendPaced(deps, request, reply, form, hearing, async (response) => {
    // Sends the status.
    await response.write(SSE_KEEP_ALIVE);
    const heard = await hearing;
    for (const delta of segmentTexts(heard.transcript)) {
      const event: TranscriptTextDelta = { type: "transcript.text.delta", delta };
      await response.write(formatUnnamedEvent(event));
    }
    response.end(formatUnnamedEvent(doneTranscription(heard)));
  });
}
