import type { Logger } from "pino";
import type { ServiceError } from "../contract/errors.ts";
import { NO_SPAN, type Span } from "../core/span.ts";
import type { Permit } from "../limits/keyed-semaphore.ts";
import type { Caller } from "../serving/prepare/request-reader.ts";
import { endRequestSpan } from "../serving/request-spans.ts";
import { toServiceError } from "../serving/service-errors.ts";
import type { Ending, HttpEnd, Metrics } from "./metrics.ts";

/** The client closed its connection, or has read nothing for too long. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

type Releasable = Pick<Permit, "release">;

/** A request of any protocol, from its beginning to its only end, which releases everything it holds. */
export class RequestContext {
  readonly beganMs = performance.now();
  /** Aborts with a {@link ClientGoneError} if the client leaves before its response is complete. */
  readonly signal: AbortSignal;
  readonly #gone = new AbortController();
  readonly #onEnd: (ending: Ending) => void;
  readonly #held: Releasable[] = [];
  #ending: Ending | null = null;
  #failure: ServiceError | null = null;
  #leftBecause: string | null = null;
  span: Span = NO_SPAN;
  /** The key that pays; `null` until it is known, and on open routes. */
  keyId: string | null = null;

  /**
   * @param onEnd called once, after everything is released
   * @param signal the connection's, if it aborts when the client leaves; otherwise {@link leave} has to be called
   */
  constructor(onEnd: (ending: Ending) => void, signal?: AbortSignal) {
    this.#onEnd = onEnd;
    this.signal = signal ?? this.#gone.signal;
  }

  /** How the request ended; `null` while it lasts. */
  get ending(): Ending | null {
    return this.#ending;
  }

  /** The error of its response, or why its client was cut; `null` if it succeeded. */
  get failure(): ServiceError | null {
    return this.#failure;
  }

  get leftBecause(): string | null {
    return this.#leftBecause;
  }

  /** Records the error of its response. Only the first counts, and only before the end. */
  fail(error: ServiceError): void {
    if (this.#ending === null) this.#failure ??= error;
  }

  /** Ends the request: its whole response is sent, although its connection may go on. */
  answered(): void {
    this.#end(this.#failure === null ? "finished" : "failed");
  }

  /** The caller, for the services. Throws before the key is known. */
  get caller(): Caller {
    const { keyId, signal, span } = this;
    if (keyId === null) throw new Error("the request has no key");
    return { keyId, signal, span, keep: (permit) => this.keep(permit) };
  }

  /** Releases a permit when the request ends; immediately if it has ended. */
  keep(permit: Releasable): void {
    if (this.#ending === null) this.#held.push(permit);
    else permit.release();
  }

  /**
   * Ends the request, with an error if one was thrown; only the first call counts. Returns the error for the client;
   * `null` without one, or if the client has gone.
   */
  end(error?: unknown): ServiceError | null {
    if (error instanceof ClientGoneError) {
      this.leave(error.message);
    } else {
      if (error !== undefined) this.fail(toServiceError(error));
      this.answered();
    }
    return this.failure;
  }

  /** Ends the request because its client left or was cut. */
  leave(why: string): void {
    if (this.#ending !== null) return;
    this.#leftBecause = why;
    this.#gone.abort(new ClientGoneError(why));
    // A request that was cut because of a failure has failed.
    this.#end(this.#failure === null ? "left" : "failed");
  }

  #end(ending: Ending): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    for (const permit of this.#held.splice(0)) permit.release();
    this.#onEnd(ending);
  }
}

export interface EndedRequest {
  readonly context: RequestContext;
  readonly ending: Ending;
  /** The matched route pattern, never the client's path; without HTTP, the protocol and operation. */
  readonly route: string;
  readonly http: HttpEnd | null;
}

/**
 * Logs and counts a request, and ends its span: ids, sizes and times; never a query string, a body or a key. Logs
 * messages of the server's own failures only, since refusals may repeat a client's words.
 */
export function recordEnd(
  log: Pick<Logger, "info" | "warn" | "error">,
  metrics: Pick<Metrics, "ended">,
  { context, ending, route, http }: EndedRequest,
): void {
  const { failure, leftBecause, keyId, span } = context;
  const { traceId } = span;
  const ms = performance.now() - context.beganMs;
  metrics.ended({ route, http, ending, seconds: ms / 1_000, type: failure?.type ?? null });
  const line = {
    ...(http === null ? {} : { method: http.method }),
    route,
    ...(http === null ? {} : { status: http.status }),
    ms: Math.round(ms * 10) / 10,
    ...(keyId === null ? {} : { key_id: keyId }),
    ...(traceId === null ? {} : { trace_id: traceId }),
    end: ending,
    ...(ending === "left" ? { left_because: leftBecause } : {}),
    ...(failure === null ? {} : { error: failure.type }),
  };
  if (failure === null || failure.status < 500) log.info(line, "request");
  else if (failure.status === 500) log.error({ ...line, err: failure.cause ?? failure }, "request");
  else log.warn({ ...line, message: failure.message, cause: causesOf(failure) }, "request");
  const status = http?.status ?? null;
  endRequestSpan(span, ending, failure, status === null ? {} : { "http.response.status_code": status });
}

function causesOf(failure: Error): string[] {
  const causes: string[] = [];
  for (let cause = failure.cause; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(`${cause.name}: ${cause.message}`);
  }
  return causes;
}
