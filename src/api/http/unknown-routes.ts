import type { FastifyInstance } from "fastify";
import { ServiceError } from "../../contract/errors.ts";

/** Returns the methods of a path in order; empty for an unknown path. */
export type MethodsOf = (url: string) => readonly string[];

/** Records the methods of all paths registered in `app` from now on. */
export function rememberPaths(app: FastifyInstance): MethodsOf {
  const paths = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    const path = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const each of [method].flat()) path.methods.add(each);
    paths.set(url, path);
  });
  return (url) => {
    const path = pathOf(url);
    for (const { pattern, methods } of paths.values()) if (pattern.test(path)) return [...methods].sort();
    return [];
  };
}

/** Converts a route such as `/v1/models/:id` to a regular expression. */
function patternOf(url: string): RegExp {
  const parts = url
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")));
  return new RegExp(`^${parts.join("/")}$`, "u");
}

function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/**
 * Answers an unknown path with 404, and a method that its path lacks with 405 and `Allow`, before the body is read.
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
