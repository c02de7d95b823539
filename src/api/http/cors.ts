import type { FastifyInstance } from "fastify";
import { KEY_HEADERS, RATE_HEADERS, RETRY_HEADERS } from "./headers.ts";
import type { MethodsOf } from "./unknown-routes.ts";

/**
 * Lets pages of those origins read every answer to them, failures too (Fetch standard, "CORS protocol"). To other origins
 * nothing is said, and browsers keep the answer from their pages. No cookies are involved: a page has a key, or nothing.
 */
export function allowOrigins(app: FastifyInstance, origins: "*" | readonly string[]): void {
  if (origins.length === 0) return;
  app.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (origins !== "*") reply.header("Vary", "Origin");
    if (origin === undefined || (origins !== "*" && !origins.includes(origin))) return;
    reply.headers({
      "Access-Control-Allow-Origin": origins === "*" ? "*" : origin,
      "Access-Control-Expose-Headers": EXPOSED,
    });
  });
}

/** Answers the question that a browser asks before a call of such a page, where there is such a path. */
export function answerPreflights(app: FastifyInstance, methodsOf: MethodsOf): void {
  app.addHook("onRequest", async ({ method, headers, url }, reply) => {
    const isPreflight = method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
    if (!isPreflight || !reply.hasHeader("Access-Control-Allow-Origin")) return;
    const methods = methodsOf(url);
    if (methods.length === 0) return;
    reply.code(204).headers({
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": ALLOWED,
      "Access-Control-Max-Age": `${MAX_AGE_S}`,
    });
    return reply.send();
  });
}

const EXPOSED = [
  "X-Request-ID",
  ...RETRY_HEADERS,
  ...RATE_HEADERS,
  "X-Antiphon-Stop",
  "X-Antiphon-Speed",
  "X-Antiphon-Manner",
  "X-Antiphon-Ignored",
  "X-Antiphon-Cautions",
].join(", ");

/** The asterisk is for what clients add of their own (`x-stainless-lang`, …); it does not stand for `Authorization`. */
const ALLOWED = ["Authorization", "Content-Type", "X-Request-ID", ...KEY_HEADERS, "*"].join(", ");

/** How long a browser need not ask again; none keeps it for longer than this. */
const MAX_AGE_S = 7_200;
