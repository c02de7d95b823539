import type { Logger } from "pino";
import { endRequestSpan } from "../serving/request-spans.ts";
import type { HttpEnd, Metrics } from "./metrics.ts";
import type { Ending, RequestContext } from "./request-context.ts";

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
  const { failure, goneBecause, keyId, span } = context;
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
    ...(ending === "left" ? { left_because: goneBecause } : {}),
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
