import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { BucketReading } from "../../accounts/tenancy.ts";
import { retryAfterS } from "../../limits/capacity-errors.ts";
import type { MethodsOf } from "./unknown-routes.ts";

/** The names of what {@link rateHeaders} and {@link retryHeaders} make. */
export const RATE_HEADERS = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
] as const;
export const RETRY_HEADERS = ["Retry-After", "retry-after-ms", "x-should-retry"] as const;

/** The rate-limit headers of every response: the contract's three and the IETF draft's pair. */
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

/** What tells a client when to come back: whole seconds for everybody, milliseconds for SDKs. */
export function retryHeaders(retryAfterMs: number): Record<(typeof RETRY_HEADERS)[number], string> {
  return {
    "Retry-After": `${retryAfterS(retryAfterMs)}`,
    "retry-after-ms": `${Math.ceil(retryAfterMs)}`,
    "x-should-retry": "true",
  };
}

/** The client's own `X-Request-ID` if it is 1 to 128 visible ASCII characters, else a new one of ours. */
export function requestIdFor(header: string | string[] | undefined): string {
  if (typeof header === "string" && /^[\x21-\x7e]{1,128}$/.test(header)) return header;
  // Of a UUID, for which Node keeps random bytes ready.
  return `req_${randomUUID().replaceAll("-", "").slice(8)}`;
}

/** Headers that may hold nothing but the key, in the order in which they are looked at: Azure's, ElevenLabs', Vapi's too. */
export const KEY_HEADERS = ["X-API-Key", "api-key", "xi-api-key", "X-VAPI-SECRET"] as const;

/**
 * The API key that a request presents, or null. `Authorization` decides where it is there, and a scheme other than
 * `Bearer` is a missing key; then the first of {@link KEY_HEADERS} that is not empty does, whatever the others hold.
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

/** Browsers send no headers with a WebSocket, so OpenAI's clients have it among the subprotocols that they offer. */
function subprotocolKey(offered: string | undefined): string | null {
  const protocols = (offered ?? "").split(",").map((each) => each.trim());
  const key = protocols.find((each) => each.startsWith(KEY_SUBPROTOCOL));
  return key?.slice(KEY_SUBPROTOCOL.length) || null;
}

const KEY_SUBPROTOCOL = "openai-insecure-api-key.";

/** The headers that hooks have given a reply, for a response that is written past it. */
export function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, `${value}`]));
}

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
