import { type RecogniseOptions, RecogniserError } from "../core/recogniser.ts";
import { retryAfterMs } from "../core/retry-after.ts";

/** Bytes read of an answer, and of an error's body. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Returns the base URL without a trailing slash. Throws a {@link RecogniserError} if it cannot be used; the message
 * does not quote it, as it may hold a password.
 */
export function checkBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new RecogniserError(
      "The setting recogniser.baseUrl is no address. Give one as in http://127.0.0.1:8000/v1",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new RecogniserError(
      "The setting recogniser.baseUrl holds a user name or a password. Put the key into ANTIPHON_RECOGNISER_API_KEY or recogniser.apiKeyFile.",
    );
  }
  return baseUrl.replace(/\/+$/, "");
}

/**
 * Posts a form without following redirects and returns the parsed JSON. Throws an {@link EndpointRefusal} for an
 * error status, a {@link NotATranscriptError} for invalid JSON or more than the limit, and what `fetch` throws.
 */
export async function postForm(
  url: string,
  form: FormData,
  apiKey: string | null,
  traceHeaders: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  const headers: Record<string, string> = {
    ...traceHeaders,
    Accept: "application/json",
    "User-Agent": "antiphon",
  };
  if (apiKey !== null) headers.Authorization = `Bearer ${apiKey}`;
  const response = await fetch(url, { method: "POST", body: form, headers, redirect: "manual", signal });
  if (!response.ok) {
    const body = await readText(response, MAX_REFUSAL_BYTES).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return "";
    });
    throw new EndpointRefusal(response.status, response.headers, body);
  }
  const text = await readText(response, MAX_ANSWER_BYTES);
  try {
    return JSON.parse(text);
  } catch {
    throw new NotATranscriptError();
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new NotATranscriptError();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The answer is no transcript. */
export class NotATranscriptError extends Error {
  override readonly name = "NotATranscriptError";
}

/** The endpoint answered with an error status. */
export class EndpointRefusal extends Error {
  override readonly name = "EndpointRefusal";
  readonly status: number;
  readonly headers: Headers;
  /** The response body of a 400 or 422, searched for what is refused; never shown. */
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    super(`status ${status}`);
    this.status = status;
    this.headers = headers;
    this.body = status === 400 || status === 422 ? body : "";
  }
}

/** Outcome of one failed attempt. */
interface EndpointFailure {
  /** Error to throw after the last attempt; quotes nothing from the endpoint. */
  readonly error: RecogniserError;
  /** Whether the same request may work soon. */
  readonly isRetryable: boolean;
  /** Delay that the endpoint asked for; `null` if it did not. */
  readonly waitMs: number | null;
}

type RefusableOptions = Pick<RecogniseOptions, "task" | "language">;

/** Classifies what was thrown by an attempt. */
export function classifyFailure(thrown: unknown, asked: RefusableOptions): EndpointFailure {
  if (thrown instanceof RecogniserError) return permanent(thrown);
  if (thrown instanceof NotATranscriptError) return permanent(new RecogniserError(NO_TRANSCRIPT));
  if (thrown instanceof EndpointRefusal) return byStatus(thrown, asked);
  return byCode(codeOf(thrown));
}

const DEFAULT_RETRY_MS = 2_000;
const BUSY_RETRY_MS = 5_000;
const NO_TRANSCRIPT =
  "The recogniser's endpoint answered with something that is no transcript. Check recogniser.baseUrl, which usually ends in /v1.";

const PERMANENT_FAILURES: Readonly<Record<number, string>> = {
  401: "The recogniser's endpoint refused the key (401). Check ANTIPHON_RECOGNISER_API_KEY or recogniser.apiKeyFile.",
  403: "The recogniser's endpoint does not let this key use the model (403). Check ANTIPHON_RECOGNISER_API_KEY or recogniser.apiKeyFile, and recogniser.model.",
  404: "The recogniser's endpoint has no such route or model (404). Check recogniser.baseUrl, which usually ends in /v1, and recogniser.model.",
};

/** Statuses of a missing or unimplemented route. */
const NO_SUCH_ROUTE: readonly number[] = [404, 405, 501];

function byStatus(
  { status, headers, body }: EndpointRefusal,
  { task, language }: RefusableOptions,
): EndpointFailure {
  if (status === 413) {
    const message = "The recording is too long for the recogniser's endpoint (413). Send less.";
    return permanent(new RecogniserError(message, { refused: "length" }));
  }
  const saysSo = /translat/i.test(body) && /support/i.test(body);
  if (task === "translate" && (NO_SUCH_ROUTE.includes(status) || saysSo)) {
    const message = `The recogniser's endpoint, or its model, does not translate (${status}). Ask for a transcription instead.`;
    return permanent(new RecogniserError(message, { refused: "task" }));
  }
  if (language !== null && task !== "translate" && /language/i.test(body)) {
    const message = `The recogniser's endpoint does not take the language that was given (${status}). Leave \`language\` out, or give another.`;
    return permanent(new RecogniserError(message, { refused: "language" }));
  }
  const known = PERMANENT_FAILURES[status];
  if (known !== undefined) return permanent(new RecogniserError(known));
  const waitMs = retryAfterMs(headers, Date.now());
  if (status === 429) {
    const message = "The recogniser's endpoint is busy or its quota is used up (429). Retry later.";
    return retryable(retryableError(message, waitMs ?? BUSY_RETRY_MS), waitMs);
  }
  if (status >= 500) {
    return retryable(
      retryableError(`The recogniser's endpoint failed (${status}). Retry in a moment.`, waitMs),
      waitMs,
    );
  }
  if (status < 400) {
    return permanent(
      new RecogniserError(
        `The recogniser's endpoint redirects (${status}), which is not followed. Set recogniser.baseUrl to where it leads.`,
      ),
    );
  }
  return permanent(
    new RecogniserError(`The recogniser's endpoint refused the request (${status}). Check recogniser.model.`),
  );
}

/** Classifies a failed connection, before or after it was established. */
function byCode(code: string): EndpointFailure {
  if (["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(code) || code === "") {
    return retryable(
      retryableError("The recogniser's endpoint broke off the connection. Retry in a moment."),
    );
  }
  const error = retryableError(
    `The recogniser's endpoint cannot be reached (${code}). Check that it runs, and recogniser.baseUrl.`,
  );
  return code === "ECONNREFUSED" || code === "EAI_AGAIN" ? retryable(error) : permanent(error);
}

function retryableError(message: string, waitMs: number | null = null): RecogniserError {
  return new RecogniserError(message, { retryAfterMs: waitMs ?? DEFAULT_RETRY_MS });
}

function permanent(error: RecogniserError): EndpointFailure {
  return { error, isRetryable: false, waitMs: null };
}

function retryable(error: RecogniserError, waitMs: number | null = null): EndpointFailure {
  return { error, isRetryable: true, waitMs };
}

/** Returns the system's error code, such as ECONNRESET; empty if there is none. */
function codeOf(thrown: unknown): string {
  let code = "";
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++) {
    const own = "code" in error ? String(error.code) : "";
    if (/^[A-Z][A-Z0-9_]{2,60}$/.test(own)) code = own;
  }
  return code;
}
