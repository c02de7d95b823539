import type { FastifyReply, FastifyRequest } from "fastify";
import type {
  TranscriptError,
  TranscriptTextDelta,
  TranscriptTextDone,
} from "../contract/audio-transcriptions.ts";
import { ClientGoneError } from "../requests/request-context.ts";
import { doneTranscription, piecesOf } from "../serving/transcript-formats.ts";
import type { Heard } from "../serving/transcriptions.ts";
import type { HttpDeps } from "./deps.ts";
import { asHttpError, openAiError } from "./errors.ts";
import { PacedResponse } from "./paced-response.ts";
import { patience } from "./patience.ts";
import { headersOf } from "./reply-headers.ts";
import { SSE_HEADERS, SSE_KEEP_ALIVE } from "./sse.ts";

/**
 * Answers with a transcript as events. What fails soon is an ordinary error; later the status is sent, and comments keep
 * the connection alive until there is something to tell.
 */
export async function streamTranscript(
  { options }: HttpDeps,
  hearing: Promise<Heard>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  await Promise.race([hearing, patience(hearing, options.streamPatienceMs)]);
  reply.hijack();
  const headers = { ...headersOf(reply), ...SSE_HEADERS };
  const { signal } = request.tracked;
  const response = new PacedResponse(reply.raw, headers, SSE_KEEP_ALIVE, {
    signal,
    heartbeatMs: options.heartbeatMs,
  });
  try {
    // The status goes out with the first byte.
    await response.write(SSE_KEEP_ALIVE);
    const heard = await hearing;
    for (const delta of piecesOf(heard.transcript)) {
      await response.write(eventOf({ type: "transcript.text.delta", delta }));
    }
    response.end(eventOf(doneTranscription(heard)));
  } catch (error) {
    if (error instanceof ClientGoneError) {
      response.abandon();
      return;
    }
    const failure = asHttpError(error);
    request.tracked.fail(failure);
    response.end(eventOf({ type: "error", error: openAiError(failure, request.id) }));
  }
}

function eventOf(data: TranscriptTextDelta | TranscriptTextDone | TranscriptError): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
