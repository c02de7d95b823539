import { AntiphonError, type AntiphonErrorType } from "./antiphon-error.ts";
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

/** An answer whose status says that it succeeded. Whoever has it ends it. */
export interface Answer {
  readonly headers: Headers;
  /** Its body, once. Throws an {@link AntiphonError} where it breaks off or stops coming. */
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>;
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
    const headers = new Headers(apiKey ? { Authorization: `Bearer ${apiKey}` } : {});
    if (options.requestId !== undefined) headers.set("X-Request-ID", options.requestId);
    const isForm = body instanceof FormData;
    if (body && !isForm) headers.set("Content-Type", "application/json");
    const init = body ? { method: "POST", body: isForm ? body : JSON.stringify(body) } : {};
    const exchange = beginExchange(options.timeoutMs ?? timeoutMs, options.signal);
    try {
      exchange.signal.throwIfAborted();
      const response = await unbroken(exchange, null, () =>
        ask(baseUrl + path, { ...init, headers, signal: exchange.signal }),
      );
      const chunks = () => chunksOf(response, exchange);
      if (response.ok) return { headers: response.headers, chunks, end: exchange.end };
      throw failureOf(response, await textOf(chunks()).catch(() => ""));
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

/** Takes one step of an exchange. What breaks it off is a connection error, unless somebody ended it. */
async function unbroken<T>(
  exchange: Exchange,
  response: Response | null,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await exchange.inTime(step());
  } catch (cause) {
    if (exchange.signal.aborted) throw exchange.signal.reason;
    const [message, told] = response
      ? [
          "the connection broke off in the middle of the reply",
          { status: response.status, requestId: idOf(response) },
        ]
      : ["the server cannot be reached", {}];
    throw new AntiphonError("connection_error", message, { ...told, cause });
  }
}

// Not every browser reads a body with `for await`.
async function* chunksOf(
  response: Response,
  exchange: Exchange,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await unbroken(exchange, response, () => reader.read());
    if (done) return;
    yield value;
  }
}

/** Statuses of this API, by what they mean; others come from whatever stands before the server. */
const TYPES: Readonly<Record<number, AntiphonErrorType>> = {
  401: "authentication_error",
  404: "not_found",
  405: "method_not_allowed",
  429: "rate_limit_exceeded",
  502: "inference_error",
};

function failureOf(response: Response, text: string): AntiphonError {
  const { status, headers } = response;
  let told: { type?: AntiphonErrorType; message?: string; request_id?: string | null } = {};
  try {
    told = JSON.parse(text).error ?? {};
  } catch {
    // Not an envelope: the status has to do.
  }
  const type = told.type ?? TYPES[status] ?? (status < 500 ? "invalid_request" : "internal_error");
  return new AntiphonError(type, told.message ?? `the server answered with status ${status}`, {
    status,
    requestId: told.request_id ?? idOf(response),
    retryAfterMs: retryAfterMs(headers),
  });
}

const idOf = ({ headers }: Response): string | null => headers.get("x-request-id");

function ownKey(): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.ANTIPHON_KEY;
}
