import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { BucketReading } from "../../accounts/tenancy.ts";
import { retryAfterS } from "../../limits/capacity-errors.ts";
import type { MethodsOf } from "./unknown-routes.ts";

export const RATE_HEADERS = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
] as const;
export const RETRY_HEADERS = ["Retry-After", "retry-after-ms", "x-should-retry"] as const;

/** Returns the rate-limit headers: the contract's three and the IETF draft's pair. */
export function rateHeaders(reading: BucketReading): Record<(typeof RATE_HEADERS)[number], string> {
  const { limit, remaining, resetS } = reading;
  return {
    "X-RateLimit-Limit": `${limit}`,
    "X-RateLimit-Remaining": `${remaining}`,
    "X-RateLimit-Reset": `${resetS}`,
    "RateLimit-Policy": `"requests";q=${limit};w=60`,
    RateLimit: `"requests";r=${remaining};t=${resetS}`,
  };
}

/** Returns the retry headers: whole seconds, and milliseconds for SDKs. */
export function retryHeaders(retryAfterMs: number): Record<(typeof RETRY_HEADERS)[number], string> {
  return {
    "Retry-After": `${retryAfterS(retryAfterMs)}`,
    "retry-after-ms": `${Math.ceil(retryAfterMs)}`,
    "x-should-retry": "true",
  };
}

/** Returns the client's `X-Request-ID` if it is 1 to 128 visible ASCII characters, else a new id. */
export function requestIdFor(header: string | string[] | undefined): string {
  if (typeof header === "string" && /^[\x21-\x7e]{1,128}$/.test(header)) return header;
  // Node caches random bytes for UUIDs.
  return `req_${randomUUID().replaceAll("-", "").slice(8)}`;
}

/** Headers that hold only a key, in order of precedence, including those of Azure, ElevenLabs and Vapi. */
export const KEY_HEADERS = ["X-API-Key", "api-key", "xi-api-key", "X-VAPI-SECRET"] as const;

/**
 * Returns the API key of a request. `Authorization` takes precedence, and with another scheme than `Bearer` there is
 * no key; otherwise the first of {@link KEY_HEADERS} that is not empty counts.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  if (authorization !== undefined) return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
  for (const name of KEY_HEADERS) {
    const key = headers[name.toLowerCase()];
    if (typeof key === "string" && key.trim() !== "") return key.trim();
  }
  return subprotocolKey(headers["sec-websocket-protocol"]);
}

/** Browsers cannot set headers of a WebSocket, so OpenAI's clients send the key as a subprotocol. */
function subprotocolKey(offered: string | undefined): string | null {
  const protocols = (offered ?? "").split(",").map((each) => each.trim());
  const key = protocols.find((each) => each.startsWith(KEY_SUBPROTOCOL));
  return key?.slice(KEY_SUBPROTOCOL.length) || null;
}

const KEY_SUBPROTOCOL = "openai-insecure-api-key.";

/** Returns the headers that hooks have set, for a response written without Fastify. */
export function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, `${value}`]));
}

/**
 * Lets pages of those origins read all responses, including errors (Fetch standard, "CORS protocol"). Cookies are not
 * used.
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

/** Answers preflight requests for existing paths. */
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
  ...["X-Antiphon-Stop", "X-Antiphon-Speed", "X-Antiphon-Manner", "X-Antiphon-Voices"],
  ...["X-Antiphon-Ignored", "X-Antiphon-Cautions"],
].join(", ");

/** The asterisk covers headers of client libraries (`x-stainless-lang`, …); it does not cover `Authorization`. */
const ALLOWED = ["Authorization", "Content-Type", "X-Request-ID", ...KEY_HEADERS, "*"].join(", ");

/** The longest time that any browser caches a preflight. */
const MAX_AGE_S = 7_200;
