import { AntiphonError, type AntiphonErrorDetails, type AntiphonErrorType } from "./antiphon-error.ts";
import { beginExchange, type Exchange } from "./exchange.ts";
import { pause, retryAfterMs, retryWaitMs } from "./retries.ts";

/** How a client asks; {@link CallOptions} may say otherwise for one call. */
export interface ConnectionOptions {
  /** Where the server is, such as `http://127.0.0.1:8080`; empty for the origin of a page. */
  readonly baseUrl: string;
  /** Default: `ANTIPHON_KEY` of the environment, where there is one. */
  readonly apiKey?: string | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Attempts after the first. Default 2. */
  readonly maxRetries?: number | undefined;
  /** How long to wait for the first byte, and from each byte to the next. Default 120 000. */
  readonly timeoutMs?: number | undefined;
}

/** What one call may have of its own. */
export interface CallOptions {
  /** Gives the call up: the connection is closed, and the call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly maxRetries?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Sent as `X-Request-ID`: 1 to 128 visible ASCII characters. */
  readonly requestId?: string | undefined;
}

/** What is said of a reply that is not whole. */
export const BROKEN_OFF = "the connection broke off in the middle of the reply";

/** An answer whose status says that it succeeded. Whoever has it ends it. */
export interface Answer {
  readonly headers: Headers;
  /** Its body, once. Throws an {@link AntiphonError} where it breaks off or stops coming. */
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>;
  /** What to throw where the answer is not what it has to be. */
  failure(type: AntiphonErrorType, message: string, details?: AntiphonErrorDetails): AntiphonError;
  end(): void;
}

/** Asks one server, with one key. */
export class Connection {
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.#options = {
      ...options,
      baseUrl: options.baseUrl.replace(/\/+$/, ""),
      apiKey: options.apiKey ?? ownKey(),
    };
  }

  /** Asks, and asks again while that may help. A body is JSON or a form; without one it is a GET. */
  async ask(path: string, body: object | undefined, options: CallOptions = {}): Promise<Answer> {
    const { maxRetries = this.#options.maxRetries ?? 2 } = options;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(path, body, options);
      } catch (error) {
        const isFailure = error instanceof AntiphonError && attempt < maxRetries;
        const waitMs = isFailure ? retryWaitMs(error, attempt) : null;
        if (waitMs === null) throw error;
        await pause(waitMs, options.signal);
      }
    }
  }

  async #attempt(path: string, body: object | undefined, options: CallOptions): Promise<Answer> {
    const { baseUrl, apiKey, fetch: ask = fetch, timeoutMs = 120_000 } = this.#options;
    const headers = new Headers();
    const isForm = body instanceof FormData;
    if (apiKey) headers.set("Authorization", `Bearer ${apiKey}`);
    if (options.requestId) headers.set("X-Request-ID", options.requestId);
    if (body && !isForm) headers.set("Content-Type", "application/json");
    const init = body ? { method: "POST", body: isForm ? body : JSON.stringify(body) } : {};
    const exchange = beginExchange(options.timeoutMs ?? timeoutMs, options.signal);
    try {
      exchange.signal.throwIfAborted();
      const unreachable = (cause: unknown) =>
        new AntiphonError("connection_error", "the server cannot be reached", { cause });
      const response = await unbroken(
        exchange,
        ask(baseUrl + path, { ...init, headers, signal: exchange.signal }),
        unreachable,
      );
      const answer = answerOf(response, exchange);
      if (response.ok) return answer;
      throw failureOf(response, await textOf(answer.chunks()).catch(() => ""), answer);
    } catch (error) {
      exchange.end();
      throw error;
    }
  }
}

/** The whole of a body, as text. */
export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** Waits for one step of an exchange. What breaks it off is named by `failure`, unless somebody ended it. */
async function unbroken<T>(
  exchange: Exchange,
  step: Promise<T>,
  failure: (cause: unknown) => AntiphonError,
): Promise<T> {
  try {
    return await exchange.inTime(step);
  } catch (cause) {
    throw exchange.signal.aborted ? exchange.signal.reason : failure(cause);
  }
}

function answerOf({ status, headers, body }: Response, exchange: Exchange): Answer {
  const failure: Answer["failure"] = (type, message, details) =>
    new AntiphonError(type, message, { status, requestId: headers.get("x-request-id"), ...details });
  return {
    headers,
    // Not every browser reads a body with `for await`.
    async *chunks() {
      const reader = body?.getReader();
      while (reader) {
        const { done, value } = await unbroken(exchange, reader.read(), (cause) =>
          failure("connection_error", BROKEN_OFF, { cause }),
        );
        if (done) return;
        yield value;
      }
    },
    failure,
    end: exchange.end,
  };
}

/** What a status means where whatever stands before the server answered, in words of its own. */
const TYPES: Readonly<Record<number, AntiphonErrorType>> = {
  401: "authentication_error",
  404: "not_found",
  429: "rate_limit_exceeded",
};

function failureOf({ status, headers }: Response, text: string, { failure }: Answer): AntiphonError {
  let told: { type?: AntiphonErrorType; message?: string } = {};
  try {
    told = JSON.parse(text).error ?? {};
  } catch {
    // Not an envelope: the status has to do.
  }
  const type = told.type ?? TYPES[status] ?? (status < 500 ? "invalid_request" : "internal_error");
  const message = told.message ?? `the server answered with status ${status}`;
  return failure(type, message, { retryAfterMs: retryAfterMs(headers) });
}

function ownKey(): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.ANTIPHON_KEY;
}
