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

/** What a request holds, and gives back when it ends. */
type Releasable = Pick<Permit, "release">;

/**
 * A request from its beginning to its one end, whatever protocol it came by. The end gives back all that it holds and is
 * told once.
 */
export class RequestContext {
  /** Milliseconds of the process's steady clock. */
  readonly beganMs = performance.now();
  /** Aborts with a {@link ClientGoneError} when the client goes before its answer is complete. */
  readonly signal: AbortSignal;
  readonly #gone = new AbortController();
  readonly #onEnd: (ending: Ending) => void;
  readonly #held: Releasable[] = [];
  #ending: Ending | null = null;
  #failure: ServiceError | null = null;
  #leftBecause: string | null = null;
  /** What a trace tells of it. */
  span: Span = NO_SPAN;
  /** The key that pays for it; `null` while that is not known, or where nobody asks. */
  keyId: string | null = null;

  /**
   * @param onEnd called once, when all is given back
   * @param signal that of the connection, where that knows when the client goes; otherwise {@link leave} has to be called
   */
  constructor(onEnd: (ending: Ending) => void, signal?: AbortSignal) {
    this.#onEnd = onEnd;
    this.signal = signal ?? this.#gone.signal;
  }

  /** `null` while it lasts. */
  get ending(): Ending | null {
    return this.#ending;
  }

  /** What it was answered with, or why its client was let go; `null` where nothing went wrong. */
  get failure(): ServiceError | null {
    return this.#failure;
  }

  /** Why the client has gone, where it has. */
  get leftBecause(): string | null {
    return this.#leftBecause;
  }

  /** It is answered with an error. Of several the first counts, and none after its end. */
  fail(error: ServiceError): void {
    if (this.#ending === null) this.#failure ??= error;
  }

  /** Its whole answer is out, although its connection may have something left to do. */
  answered(): void {
    this.#end(this.#failure === null ? "finished" : "failed");
  }

  /** Who asks, for what serves them. Only once the key is known. */
  get caller(): Caller {
    const { keyId, signal, span } = this;
    if (keyId === null) throw new Error("the request has no key");
    return { keyId, signal, span, keep: (permit) => this.keep(permit) };
  }

  /** Released when it ends; at once, when it has. */
  keep(permit: Releasable): void {
    if (this.#ending === null) this.#held.push(permit);
    else permit.release();
  }

  /**
   * It is over: well, or with what was thrown. The first call counts. Tells what the client is to be told; `null` where
   * nothing went wrong, or nobody is there to be told.
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

  /** The client went, or is let go. */
  leave(why: string): void {
    if (this.#ending !== null) return;
    this.#leftBecause = why;
    this.#gone.abort(new ClientGoneError(why));
    // What was cut because of a failure that could not be told otherwise has failed.
    this.#end(this.#failure === null ? "left" : "failed");
  }

  #end(ending: Ending): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    for (const permit of this.#held.splice(0)) permit.release();
    this.#onEnd(ending);
  }
}

/** What is known of a request when it is over. */
export interface EndedRequest {
  readonly context: RequestContext;
  readonly ending: Ending;
  /** The pattern that matched, never what a client typed; without HTTP, the protocol and what was asked for. */
  readonly route: string;
  readonly http: HttpEnd | null;
}

/**
 * One line and one count for each request, and the end of its span, whatever became of it: ids, sizes and times; never a
 * query string, a body or a key. What a failure says is logged where it is the server's own; a refusal may repeat a
 * client's words.
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

/** The causes of a failure, one after the other, by their own words. */
function causesOf(failure: Error): string[] {
  const causes: string[] = [];
  for (let cause = failure.cause; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(`${cause.name}: ${cause.message}`);
  }
  return causes;
}
