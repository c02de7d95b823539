import { AntiphonError, type AntiphonErrorDetails, type AntiphonErrorType } from "./antiphon-error.ts";

/** How to reach a server. {@link CallOptions} override it per call. */
export interface ConnectionOptions {
  /** Base URL such as `http://127.0.0.1:8080`; empty for a page's own origin. */
  readonly baseUrl: string;
  /** Default: `ANTIPHON_KEY` of the environment. */
  readonly apiKey?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Attempts after the first. Default 2. */
  readonly maxRetries?: number | undefined;
  /** Milliseconds to wait for the first byte and between bytes. Default 120 000. */
  readonly timeoutMs?: number | undefined;
}

export interface CallOptions {
  /** Cancels the call: the connection is closed, and the call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly maxRetries?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Sent as `X-Request-ID`: 1 to 128 visible ASCII characters. */
  readonly requestId?: string | undefined;
}

/** Upper limit of one JSON or event. The longest reply is 11 MB. */
export const MAX_BYTES: number = 64 * 2 ** 20;
const MAX_ERROR_BYTES = 2 ** 16;

export const BROKEN_OFF = "the connection broke off in the middle of the reply";

/** A successful answer. The caller must end it. */
export interface Answer {
  readonly mediaType: string;
  /** Bytes that may still arrive. Readers of several events reset it for each. */
  leftBytes: number;
  /** Streams the body, once. Throws an {@link AntiphonError} if it breaks off, stalls or exceeds `leftBytes`. */
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>;
  failure(type: AntiphonErrorType, message: string, details?: AntiphonErrorDetails): AntiphonError;
  end(): void;
}

interface Environment {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** Options of a call. Default method: POST with a body, otherwise GET. */
export interface AskOptions extends CallOptions {
  readonly method?: "DELETE";
}

/** Sends a request, with retries where they may help. A body is JSON or a form. */
export type Ask = (path: string, body: object | undefined, options?: AskOptions) => Promise<Answer>;

export function connectionTo({
  baseUrl,
  apiKey = (globalThis as Environment).process?.env?.ANTIPHON_KEY,
  fetch: customFetch,
  maxRetries = 2,
  timeoutMs = 120_000,
}: ConnectionOptions): Ask {
  async function attempt(path: string, body: object | undefined, options: AskOptions): Promise<Answer> {
    const headers = new Headers();
    const isForm = body instanceof FormData;
    if (apiKey) headers.set("Authorization", `Bearer ${apiKey}`);
    if (options.requestId) headers.set("X-Request-ID", options.requestId);
    if (body && !isForm) headers.set("Content-Type", "application/json");
    const exchange = beginExchange(options.timeoutMs ?? timeoutMs, options.signal);
    const { signal } = exchange;
    try {
      signal.throwIfAborted();
      const response = await exchange.inTime(
        (customFetch ?? fetch)(baseUrl.replace(/\/+$/, "") + path, {
          method: options.method ?? (body ? "POST" : "GET"),
          body: isForm ? body : JSON.stringify(body),
          headers,
          signal,
          // The key must not be sent to another server.
          redirect: "manual",
        }),
        (cause) => new AntiphonError("connection_error", "the server cannot be reached", { cause }),
      );
      const answer = answerOf(response, exchange);
      if (response.ok) return answer;
      // Browsers hide a redirect's status.
      if (response.status < 400) {
        throw answer.failure("invalid_response", "the server redirects: set baseUrl to where it is");
      }
      answer.leftBytes = MAX_ERROR_BYTES;
      throw failureOf(response, await textOf(answer).catch(() => ""), answer);
    } catch (error) {
      exchange.end();
      throw error;
    }
  }

  return async (path, body, options = {}) => {
    const max = options.maxRetries ?? maxRetries;
    for (let attempts = 0; ; attempts++) {
      try {
        return await attempt(path, body, options);
      } catch (error) {
        const isFailure = error instanceof AntiphonError && attempts < max;
        const waitMs = isFailure ? retryWaitMs(error, attempts) : null;
        if (waitMs === null) throw error;
        await pause(waitMs, options.signal);
      }
    }
  };
}

export async function textOf({ chunks }: Answer): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks()) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** Types by status, for answers from a proxy. */
const TYPES: Readonly<Record<number, AntiphonErrorType>> = {
  401: "authentication_error",
  404: "not_found",
  429: "rate_limit_exceeded",
};

/** If the server asks for a longer pause, the call fails instead of retrying. */
const MAX_WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;

/** Returns the milliseconds before a retry; null if none would help. `attempt` counts from 0. */
export function retryWaitMs({ type, status, retryAfterMs }: AntiphonError, attempt: number): number | null {
  const isPassing =
    type === "connection_error" || (status !== null && ([408, 409, 429].includes(status) || status >= 500));
  if (!isPassing) return null;
  if (retryAfterMs !== null) return retryAfterMs <= MAX_WAIT_MS ? retryAfterMs : null;
  // Jitter, so that clients that failed together do not retry together.
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS) * (1 - Math.random() / 4);
}

/** Returns the `Retry-After` of an answer in milliseconds; null without one. */
export function retryAfterMs(headers: Headers, nowMs: number = Date.now()): number | null {
  const inMs = headers.get("retry-after-ms");
  const header = headers.get("retry-after") || "-";
  const waitMs = inMs ? +inMs : /\D/.test(header) ? Date.parse(header) - nowMs : 1_000 * +header;
  return waitMs >= 0 ? waitMs : null;
}

function answerOf({ status, headers, body }: Response, exchange: Exchange): Answer {
  const failure: Answer["failure"] = (type, message, details) =>
    new AntiphonError(type, message, { status, requestId: headers.get("x-request-id"), ...details });
  const answer: Answer = {
    mediaType: headers.get("content-type") ?? "",
    leftBytes: MAX_BYTES,
    // Not every browser reads a body with `for await`.
    async *chunks() {
      const reader = body?.getReader();
      while (reader) {
        const { done, value } = await exchange.inTime(reader.read(), (cause) =>
          failure("connection_error", BROKEN_OFF, { cause }),
        );
        if (done) return;
        answer.leftBytes -= value.length;
        if (answer.leftBytes < 0) throw failure("invalid_response", "the answer is too long");
        yield value;
      }
    },
    failure,
    end: exchange.end,
  };
  return answer;
}

function failureOf({ status, headers }: Response, text: string, { failure }: Answer): AntiphonError {
  let body: { type?: AntiphonErrorType; message?: string } = {};
  try {
    body = JSON.parse(text).error ?? {};
  } catch {
    // Not JSON: the status decides.
  }
  const type = body.type ?? TYPES[status] ?? (status < 500 ? "invalid_request" : "internal_error");
  const message = body.message ?? `the server answered with status ${status}`;
  return failure(type, message, { retryAfterMs: retryAfterMs(headers) });
}

/** A request and its answer. Ends by {@link Exchange.end}, by the caller's signal, or when no byte arrives in time. */
export interface Exchange {
  readonly signal: AbortSignal;
  /**
   * Awaits a step. Throws the caller's reason, an {@link AntiphonError} `timeout_error`, or `failure` of what the
   * step throws.
   */
  inTime<T>(step: Promise<T>, failure: (cause: unknown) => unknown): Promise<T>;
  /** Closes the connection and releases the caller's signal. */
  end(): void;
}

/** 23 days. Longer timers (over 2³¹ ms) and `Infinity` would fire at once. */
const MAX_TIMER_MS = 2e9;

/** @param timeoutMs limit of each step: the wait for the first byte and for every next one */
export function beginExchange(timeoutMs: number, caller: AbortSignal | undefined): Exchange {
  const { leaving, unfollow } = linkedController(caller);
  const { signal } = leaving;
  return {
    signal,
    // A custom `fetch` may ignore its signal.
    inTime: (step, failure) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => leaving.abort(new AntiphonError("timeout_error", `nothing came for ${timeoutMs} ms`)),
          Math.min(timeoutMs, MAX_TIMER_MS),
        );
        const settle =
          <V>(finish: (value: V) => void) =>
          (value: V) => {
            clearTimeout(timer);
            signal.removeEventListener("abort", refuse);
            finish(value);
          };
        const refuse = () => settle(reject)(signal.reason);
        signal.addEventListener("abort", refuse);
        if (signal.aborted) refuse();
        step.then(
          settle(resolve),
          settle((cause) => reject(failure(cause))),
        );
      }),
    end() {
      unfollow();
      leaving.abort();
    },
  };
}

/** Waits. Throws the signal's reason as soon as it aborts, and leaves no timer behind. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const exchange = beginExchange(ms, signal);
  // Waits for the exchange's own timeout, ignoring its error.
  await exchange.inTime(new Promise(() => {}), String).catch(() => {});
  exchange.end();
  signal?.throwIfAborted();
}

/** Creates a controller that aborts with the caller's signal until unfollowed. */
export function linkedController(caller: AbortSignal | undefined): {
  leaving: AbortController;
  unfollow: () => void;
} {
  const leaving = new AbortController();
  const follow = () => leaving.abort(caller?.reason);
  caller?.addEventListener("abort", follow);
  if (caller?.aborted) follow();
  return { leaving, unfollow: () => caller?.removeEventListener("abort", follow) };
}
