import { AntiphonError, type AntiphonErrorDetails, type AntiphonErrorType } from "./antiphon-error.ts";

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

/** Above all that this API has in one JSON or one event: the longest reply is 11 MB. */
export const MAX_BYTES: number = 64 * 2 ** 20;
const MAX_ERROR_BYTES = 2 ** 16;

/** What is said of a reply that is not whole. */
export const BROKEN_OFF = "the connection broke off in the middle of the reply";

/** An answer whose status says that it succeeded. Whoever has it ends it. */
export interface Answer {
  /** Its `Content-Type`; empty where it has none. */
  readonly mediaType: string;
  /** How much of it may still come: whoever reads more than one thing of it allows each of them as much. */
  leftBytes: number;
  /** Its body, once. Throws an {@link AntiphonError} where it breaks off, stops coming or does not end. */
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>;
  /** What to throw where the answer is not what it has to be. */
  failure(type: AntiphonErrorType, message: string, details?: AntiphonErrorDetails): AntiphonError;
  end(): void;
}

interface Environment {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** A call's, with its method where that is not GET without a body and POST with one. */
export interface AskOptions extends CallOptions {
  readonly method?: "DELETE";
}

/** Asks, and asks again while that may help. A body is JSON or a form; without one it is a GET. */
export type Ask = (path: string, body: object | undefined, options?: AskOptions) => Promise<Answer>;

/** Asks one server, with one key. */
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
          // Whoever else a redirect leads to is not given what was meant for this server.
          redirect: "manual",
        }),
        (cause) => new AntiphonError("connection_error", "the server cannot be reached", { cause }),
      );
      const answer = answerOf(response, exchange);
      if (response.ok) return answer;
      // A browser tells nothing of a redirect, not even its status.
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

/** The whole of a body, as text. */
export async function textOf({ chunks }: Answer): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks()) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** What a status means where whatever stands before the server answered, in words of its own. */
const TYPES: Readonly<Record<number, AntiphonErrorType>> = {
  401: "authentication_error",
  404: "not_found",
  429: "rate_limit_exceeded",
};

/** A server that wants to be left alone for longer than this is not asked again: the caller is told instead. */
const MAX_WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;

/** How long to wait before another attempt, in milliseconds; null where none would help. `attempt` counts from 0. */
export function retryWaitMs({ type, status, retryAfterMs }: AntiphonError, attempt: number): number | null {
  const isPassing =
    type === "connection_error" || (status !== null && ([408, 409, 429].includes(status) || status >= 500));
  if (!isPassing) return null;
  if (retryAfterMs !== null) return retryAfterMs <= MAX_WAIT_MS ? retryAfterMs : null;
  // Spread out, so that clients that failed together do not come back together.
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS) * (1 - Math.random() / 4);
}

/** What the headers of a failure say of when to come back, in milliseconds; null where they say nothing. */
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
        if (answer.leftBytes < 0) throw failure("invalid_response", "the answer has no end");
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
    // Not an envelope: the status has to do.
  }
  const type = body.type ?? TYPES[status] ?? (status < 500 ? "invalid_request" : "internal_error");
  const message = body.message ?? `the server answered with status ${status}`;
  return failure(type, message, { retryAfterMs: retryAfterMs(headers) });
}

/** One request and its answer: over when it is ended, when its caller aborts, or when nothing comes for too long. */
export interface Exchange {
  /** To be given to `fetch`. */
  readonly signal: AbortSignal;
  /**
   * Waits for one step. Throws the caller's reason, or an {@link AntiphonError} `timeout_error`, or what `failure` makes of
   * that which the step throws.
   */
  inTime<T>(step: Promise<T>, failure: (cause: unknown) => unknown): Promise<T>;
  /** Closes the connection, if it is still open, and lets go of the caller's signal. */
  end(): void;
}

/** 23 days. A timer for more than 2³¹ ms, as for `Infinity`, goes off at once. */
const MAX_TIMER_MS = 2e9;

/** @param timeoutMs for each step: the wait for the first byte, and every wait for the next one */
export function beginExchange(timeoutMs: number, caller: AbortSignal | undefined): Exchange {
  const { leaving, unfollow } = linkedController(caller);
  const { signal } = leaving;
  return {
    signal,
    // Not left to `fetch` alone: one that was given may not heed its signal.
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
  // Nothing ever comes of it: what is waited for is its time-out.
  await exchange.inTime(new Promise(() => {}), String).catch(() => {});
  exchange.end();
  signal?.throwIfAborted();
}

/** A controller that aborts when the caller does, until it no longer follows. */
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
