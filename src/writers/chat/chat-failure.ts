import { APIError } from "openai";
import { retryAfterMs } from "../../core/retry-after.ts";
import { WriterError } from "../../core/writer.ts";
import { NotAChatError } from "./chat-client.ts";
import { ChatEventError } from "./chat-reply.ts";
import { type ReplyLimits, ReplyTimeoutError } from "./reply-clock.ts";

/** Outcome of one failed attempt. */
interface ChatFailure {
  /** Error to throw after the last attempt; quotes nothing from the endpoint. */
  readonly error: WriterError;
  /** Whether the same request may work soon. */
  readonly isRetryable: boolean;
  /** Delay that the endpoint asked for; `null` if it did not. */
  readonly waitMs: number | null;
  /** Text of a refusal, searched for what is refused; never shown. */
  readonly refusal: string | null;
}

/** Classifies what was thrown by the client or on the way. */
export function classifyFailure(thrown: unknown, limits: ReplyLimits): ChatFailure {
  if (thrown instanceof WriterError) return permanent(thrown);
  if (thrown instanceof ReplyTimeoutError) return permanent(retryableError(lateMessage(thrown, limits)));
  const causes = [...causesOf(thrown)];
  if (causes.some((error) => error instanceof NotAChatError || error instanceof SyntaxError))
    return permanent(new WriterError(NO_CHAT));
  if (causes.some((error) => error instanceof ChatEventError)) return retryable(retryableError(FAILED));
  // An event of a started stream.
  if (thrown instanceof APIError && thrown.status === undefined && thrown.error !== undefined) {
    const code = Number(thrown.code);
    return code >= 300 && code < 600 ? byStatus(code, thrown) : retryable(retryableError(FAILED));
  }
  if (thrown instanceof APIError && typeof thrown.status === "number") return byStatus(thrown.status, thrown);
  return byCode(codeOf(causes));
}

const DEFAULT_RETRY_MS = 2_000;
const BUSY_RETRY_MS = 5_000;
const NO_CHAT =
  "the writer's endpoint answered with something that is not a chat completion: check writer.baseUrl, which usually ends in /v1";
const FAILED = "the writer's endpoint failed: retry";

const PERMANENT_FAILURES: Readonly<Record<number, string>> = {
  401: "the writer's endpoint refused the key (401): check ANTIPHON_WRITER_API_KEY or writer.apiKeyFile",
  403: "the writer's endpoint does not let this key use the model (403): check ANTIPHON_WRITER_API_KEY or writer.apiKeyFile, and writer.model",
  404: "the writer's endpoint has no such route or model (404): check writer.baseUrl, which usually ends in /v1, and writer.model",
};

function byStatus(status: number, { headers, message }: APIError): ChatFailure {
  const known = PERMANENT_FAILURES[status];
  if (known !== undefined) return permanent(new WriterError(known));
  const waitMs = retryAfterMs(headers, Date.now());
  if (status === 429)
    return retryable(
      retryableError(
        "the writer's endpoint is busy or its quota is used up (429): retry",
        waitMs ?? BUSY_RETRY_MS,
      ),
      waitMs,
    );
  if (status >= 500)
    return retryable(retryableError(`the writer's endpoint failed (${status}): retry`, waitMs), waitMs);
  if (status < 400)
    return permanent(
      new WriterError(
        `the writer's endpoint redirects (${status}), which is not followed: set writer.baseUrl to where it leads`,
      ),
    );
  const error = new WriterError(
    `the writer's endpoint refused the request (${status}): check writer.model and writer.maxTokens`,
  );
  return { ...permanent(error), refusal: message };
}

/** Classifies a failed connection, before or after it was established. */
function byCode(code: string): ChatFailure {
  if (["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(code) || code === "")
    return retryable(retryableError("the writer's endpoint broke off the connection: retry"));
  const error = retryableError(
    `the writer's endpoint cannot be reached (${code}): check that it runs and writer.baseUrl`,
  );
  return code === "ECONNREFUSED" || code === "EAI_AGAIN" ? retryable(error) : permanent(error);
}

function lateMessage({ limit }: ReplyTimeoutError, limits: ReplyLimits): string {
  if (limit === "total")
    return `the writer's endpoint took longer over a reply than writer.totalTimeoutMs (${limits.totalTimeoutMs} ms): retry, or raise it`;
  const setting = `writer.firstTokenTimeoutMs (${limits.firstTokenTimeoutMs} ms)`;
  return limit === "begin"
    ? `the writer's endpoint did not begin its reply within ${setting}: retry, or raise it`
    : `the writer's endpoint fell silent in the middle of a reply for longer than ${setting}: retry`;
}

function retryableError(message: string, waitMs: number | null = null): WriterError {
  return new WriterError(message, { retryAfterMs: waitMs ?? DEFAULT_RETRY_MS });
}

function permanent(error: WriterError): ChatFailure {
  return { error, isRetryable: false, waitMs: null, refusal: null };
}

function retryable(error: WriterError, waitMs: number | null = null): ChatFailure {
  return { error, isRetryable: true, waitMs, refusal: null };
}

function* causesOf(thrown: unknown): Generator<Error> {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++)
    yield error;
}

/** Returns the system's error code, such as ECONNRESET; empty if there is none. */
function codeOf(causes: readonly Error[]): string {
  const codes = causes.map((error) => ("code" in error ? String(error.code) : ""));
  return codes.findLast((code) => /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) ?? "";
}
