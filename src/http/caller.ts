import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../contract/errors.ts";
import { overRate } from "../limits/refusals.ts";
import { admit } from "../requests/admit.ts";
import type { Requester } from "../serving/request-reader.ts";
import type { BucketReading, Key, Tenancy } from "../tenancy/tenancy.ts";
import { presentedKey } from "./credentials.ts";
import type { HttpDeps } from "./deps.ts";
import { rateHeaders } from "./rate-headers.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the route asks of its caller: nothing, a key, or a key and one of its tokens. */
    access?: "open" | "key" | "token";
    /** False where nothing is spoken, so that a full queue for that refuses nobody. */
    speaks?: boolean;
  }
  interface FastifyRequest {
    /** The key of the caller; on open routes, if it is soon known. */
    callerKey: Key | null;
  }
}

/**
 * Knows every caller before anything of the request is read: request id, key, token, rate headers, in that order.
 * Failed authentication draws from the anonymous bucket of the client's address; a 404 or 405 draws from none.
 */
export function identifyCallers(
  app: FastifyInstance,
  { tenancy, service }: Pick<HttpDeps, "tenancy" | "service">,
): void {
  app.decorateRequest("callerKey", null);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("X-Request-ID", request.id);
    tell(reply, tenancy.recallAnonymous(request.ip));
    checkHeaders(request);
    const presented = presentedKey(request.headers);
    const access = request.is404 ? "open" : (request.routeOptions.config.access ?? "open");
    if (access === "open") {
      // What is open to all is answered also where keys cannot be looked up.
      const known = presented === null ? null : await tenancy.recall(presented);
      if (known === null) return;
      request.callerKey = known.key;
      tell(reply, known.reading);
      return;
    }
    const key = presented === null ? null : await tenancy.authenticate(presented);
    request.callerKey = key;
    if (key === null) refuse(request, reply, tenancy, presented);
    if (access === "key") {
      tell(reply, await tenancy.peek(key));
      return;
    }
    await admit(key, {
      tenancy,
      service,
      speaks: request.routeOptions.config.speaks !== false,
      overRate: "this key is over its rate limit",
      onReading: (reading) => tell(reply, reading),
    });
  });
}

/** Who asks, on a route that requires a key. */
export function requesterOf({ callerKey, tracked }: FastifyRequest): Requester {
  if (callerKey === null) throw new Error("the route is open: it has no key");
  const { signal, span } = tracked;
  return { keyId: callerKey.keyId, signal, span, keep: (holding) => tracked.keep(holding) };
}

/** What HTTP asks of every request: 1.1 a `Host`; and to say so where an expectation is not understood. */
function checkHeaders({ headers, raw }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion === "1.1") {
    throw new ServiceError(400, "the Host header is missing: HTTP/1.1 requires one");
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    throw new ServiceError(400, "the Expect header is not understood: leave it out, or send 100-continue");
  }
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  tenancy: Tenancy,
  presented: string | null,
): never {
  const reading = tenancy.takeAnonymous(request.ip);
  tell(reply, reading);
  if (!reading.allowed) throw overRate(reading, "too many requests without a valid key from this address");
  throw new ServiceError(
    401,
    presented === null
      ? "the API key is missing: send it as Authorization: Bearer <API_KEY> or as X-API-Key"
      : tenancy.explainKey(presented),
  );
}

function tell(reply: FastifyReply, reading: BucketReading): void {
  reply.headers(rateHeaders(reading));
}
