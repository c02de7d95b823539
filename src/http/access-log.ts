import type { FastifyInstance } from "fastify";
import type { HttpDeps } from "./deps.ts";

/** One line a response, and one count: ids, sizes and times; never a query string, a body or a key. */
export function logResponses(app: FastifyInstance, deps: HttpDeps): void {
  app.addHook("onResponse", async (request, reply) => {
    const route = request.is404 ? "none" : (request.routeOptions.url ?? "none");
    deps.metrics.responded(route, request.method, reply.raw.statusCode);
    request.log.info(
      {
        method: request.method,
        route,
        status: reply.raw.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(request.callerKey === null ? {} : { key_id: request.callerKey.keyId }),
        ...(reply.raw.writableFinished ? {} : { left_early: true }),
      },
      "request",
    );
  });
}
