import type { FastifyInstance } from "fastify";
import { ServiceError } from "../contract/errors.ts";

/**
 * Tells a path that does not exist (404) from a method that its path does not have (405, with `Allow`), before anything
 * is made of the body.
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook("onRoute", (route) => {
    const methods = methodsByPath.get(route.url) ?? new Set();
    for (const method of [route.method].flat()) methods.add(method);
    methodsByPath.set(route.url, methods);
  });
  app.addHook("onRequest", async (request) => {
    if (!request.is404) return;
    const path = pathOf(request.url);
    const allow = [...(methodsByPath.get(path) ?? [])].sort();
    if (allow.length === 0)
      throw new ServiceError(404, "no such path: see GET /openapi.json for those there are");
    throw new ServiceError(405, `${request.method} is not allowed here: use ${allow.join(" or ")}`, {
      allow,
    });
  });
}

function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
