import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../contract/errors.ts";
import { type ErrorEnvelope, envelope, openAiError } from "../../contract/replies.ts";
import { ClientGoneError } from "../../requests/request-context.ts";
import { asServiceError } from "../../serving/service-errors.ts";
import { answerUnread, endsUnread } from "./answer-unread.ts";
import { headersOf, retryHeaders } from "./headers.ts";

/** What an error is told in. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** Paths that are OpenAI's, or go with them. Section 4's own keep to the envelope of section 7. */
const OPENAI_PATH = /^\/v1\/(?:audio|models)\//;

/** The envelope that the path of a request has. */
export function envelopeFor(error: ServiceError, { url, id }: FastifyRequest): ErrorEnvelope {
  return OPENAI_PATH.test(url) ? { error: openAiError(error, id) } : envelope(error, id);
}

/** The headers that a failure adds: when to retry, which methods are allowed, how to authenticate. */
function errorHeaders(error: ServiceError): Record<string, string> {
  return {
    ...(error.retryAfterMs === null ? {} : retryHeaders(error.retryAfterMs)),
    ...(error.allow.length === 0 ? {} : { Allow: error.allow.join(", ") }),
    ...(error.status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
  };
}

/** Answers any failure of a route or hook. The one place where an exception becomes a response. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof ClientGoneError) {
    // Nobody is there to answer.
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  const failure = asHttpError(error);
  request.tracked.fail(failure);
  reply.code(failure.status).headers(errorHeaders(failure));
  const told = envelopeFor(failure, request);
  if (!endsUnread(request.raw, reply.raw)) {
    reply.send(told);
    return;
  }
  reply.hijack();
  const headers = { ...headersOf(reply), "Content-Type": JSON_TYPE };
  answerUnread(request.tracked, { status: failure.status, headers, body: JSON.stringify(told) });
}

/** Whether Fastify found a `Content-Type` empty, or nothing that it could be. */
export function isOfMediaType(error: unknown): boolean {
  const { code } = (error ?? {}) as Partial<FastifyError>;
  return code === "FST_ERR_CTP_INVALID_MEDIA_TYPE" || code === "FST_ERR_CTP_EMPTY_TYPE";
}

/** Finds the row of the table for whatever was thrown; what has no row is a 500 that tells the client nothing. */
export function asHttpError(error: unknown): ServiceError {
  if (isOfMediaType(error)) {
    return new ServiceError(422, "the body must be JSON: send it with Content-Type: application/json");
  }
  switch ((error as Partial<FastifyError> | null)?.code) {
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ServiceError(422, "the body is not as long as its Content-Length says");
    case "FST_ERR_BAD_URL":
      return new ServiceError(404, "no such path: it is not a valid URL");
  }
  return asServiceError(error, "its log has the cause under the request id");
}
