import type { FastifyBaseLogger } from "fastify";
import type { ServiceError } from "../contract/errors.ts";
import { endRequestSpan } from "../serving/in-span.ts";
import type { Metrics } from "./metrics.ts";
import type { Ending, RequestLife } from "./request-life.ts";

/** What is known of a request when it is over. */
export interface Ended {
  readonly life: RequestLife;
  readonly ending: Ending;
  /** The pattern that matched, never what a client typed. */
  readonly route: string;
  readonly method: string;
  readonly keyId: string | null;
}

/**
 * One line and one count for each request, and the end of its span, whatever became of it: ids, sizes and times; never a query string, a body or
 * a key. What a failure says is logged where it is the server's own; a refusal may repeat a client's words.
 */
export function logEnd(
  log: FastifyBaseLogger,
  metrics: Metrics,
  { life, ending, route, method, keyId }: Ended,
): void {
  const { failure, response, goneBecause, span } = life;
  const { traceId } = span;
  const status = response.headersSent ? response.statusCode : life.rawStatus;
  const ms = performance.now() - life.beganMs;
  metrics.ended({ route, method, status, ending, seconds: ms / 1_000, type: failure?.type ?? null });
  const line = {
    method,
    route,
    status,
    ms: Math.round(ms * 10) / 10,
    ...(keyId === null ? {} : { key_id: keyId }),
    ...(traceId === null ? {} : { trace_id: traceId }),
    end: ending,
    ...(ending === "left" ? { left_because: goneBecause } : {}),
    ...(failure === null ? {} : { error: failure.type }),
  };
  logOutcome(log, line, failure);
  endRequestSpan(span, ending, failure, status === null ? {} : { "http.response.status_code": status });
}

/** A request's line: what a failure says is in it where that is the server's own. */
export function logOutcome(
  log: Pick<FastifyBaseLogger, "info" | "warn" | "error">,
  line: object,
  failure: ServiceError | null,
): void {
  if (failure === null || failure.status < 500) log.info(line, "request");
  else if (failure.status === 500) log.error({ ...line, err: failure.cause ?? failure }, "request");
  else log.warn({ ...line, message: failure.message, cause: causesOf(failure) }, "request");
}

/** The causes of a failure, one after the other, by their own words. */
function causesOf(failure: Error): string[] {
  const causes: string[] = [];
  for (let cause = failure.cause; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(`${cause.name}: ${cause.message}`);
  }
  return causes;
}
