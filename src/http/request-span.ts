import type { FastifyRequest } from "fastify";
import { beginServerSpan, NO_SPAN, type Span } from "../tracing/span.ts";

/** Begins the span of a request that asks for something to be spoken or heard; no other has one. */
export function beginRequestSpan({ method, id, headers, is404, routeOptions }: FastifyRequest): Span {
  if (is404 || routeOptions?.config?.access !== "token") return NO_SPAN;
  const route = routeOptions.url ?? "none";
  const facts = { "http.request.method": method, "http.route": route, "gen_ai.response.id": id };
  return beginServerSpan(`${method} ${route}`, facts, headers);
}
