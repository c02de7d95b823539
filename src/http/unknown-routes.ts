import type { FastifyInstance } from "fastify";
import { ServiceError } from "../contract/errors.ts";
import type { MethodsOf } from "./path-methods.ts";

/**
 * Tells a path that does not exist (404) from a method that its path does not have (405, with `Allow`), before anything
 * is made of the body.
 */
export function answerUnknownRoutes(app: FastifyInstance, methodsOf: MethodsOf): void {
  app.addHook("onRequest", async (request) => {
    if (!request.is404) return;
    const allow = methodsOf(request.url);
    if (allow.length === 0)
      throw new ServiceError(404, "no such path: see GET /openapi.json for those there are");
    throw new ServiceError(405, `${request.method} is not allowed here: use ${allow.join(" or ")}`, {
      allow,
    });
  });
}
