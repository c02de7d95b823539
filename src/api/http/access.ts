import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BucketReading } from "../../accounts/tenancy.ts";
import { ServiceError } from "../../contract/errors.ts";
import { admit, authenticate } from "../../requests/begin-request.ts";
import type { ClientSecrets, ResolvedCredential } from "../realtime/client-secrets.ts";
import { presentedKey, rateHeaders } from "./headers.ts";
import type { HttpDeps } from "./http-deps.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The credentials that a route requires: none, a key, or a key and one of its tokens. Every route states it. */
    access: "open" | "key" | "token";
    /** False if the route speaks nothing, so that a full speech queue does not refuse it. */
    speaks?: boolean;
    /** Whether a client secret is accepted as well as a key. */
    takesSecrets?: boolean;
  }
  interface FastifyRequest {
    /** The key presented, or the one that the presented client secret stands for; `null` without either. */
    presented: ResolvedCredential | null;
  }
}

/** Rejects routes that do not state `config.access`, so that none is open by omission. */
export function requireAccess(app: FastifyInstance): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.access !== undefined) return;
    throw new Error(`${[method].flat().join(", ")} ${url} does not state its access: set config.access`);
  });
}

/**
 * Authenticates every request before its body is read, and sets the request id and rate headers. Open routes look a
 * key up only if that is quick. Failed authentication draws from the anonymous bucket of the client's address; a 404
 * or 405 draws from none.
 */
export function identifyCallers(
  app: FastifyInstance,
  { tenancy, service, realtime }: Pick<HttpDeps, "tenancy" | "service" | "realtime">,
): void {
  app.decorateRequest("presented", null);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("X-Request-ID", request.id);
    setRateHeaders(reply, tenancy.recallAnonymous(request.ip));
    checkHeaders(request);
    request.presented = presentedBy(request, realtime?.secrets ?? null);
    const presented = request.presented?.apiKey ?? null;
    const access = request.is404 ? "open" : request.routeOptions.config.access;
    if (access === "open") {
      // Open routes answer even if keys cannot be looked up.
      const known = presented === null ? null : await tenancy.recall(presented);
      if (known === null) return;
      request.tracked.keyId = known.key.keyId;
      setRateHeaders(reply, known.reading);
      return;
    }
    const key = await authenticate(tenancy, presented, request.ip, {
      onReading: (reading) => setRateHeaders(reply, reading),
    });
    request.tracked.keyId = key.keyId;
    if (access === "key") {
      setRateHeaders(reply, await tenancy.peek(key));
      return;
    }
    const options = {
      speaks: request.routeOptions.config.speaks !== false,
      overRate: "this key is over its rate limit",
      onReading: (reading: BucketReading) => setRateHeaders(reply, reading),
    };
    await admit(key, { tenancy, service }, options);
  });
}

function presentedBy(
  { headers, routeOptions }: FastifyRequest,
  secrets: ClientSecrets | null,
): ResolvedCredential | null {
  const presented = presentedKey(headers);
  if (presented === null) return null;
  if (secrets === null || routeOptions.config.takesSecrets !== true)
    return { apiKey: presented, session: {} };
  return secrets.resolve(presented);
}

/** Checks `Host`, which HTTP/1.1 requires, and rejects unknown expectations. */
function checkHeaders({ headers, raw }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion === "1.1") {
    throw new ServiceError(400, "the Host header is missing: HTTP/1.1 requires one");
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    throw new ServiceError(400, "the Expect header is not understood: leave it out, or send 100-continue");
  }
}

function setRateHeaders(reply: FastifyReply, reading: BucketReading): void {
  reply.headers(rateHeaders(reading));
}
