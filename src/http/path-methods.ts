import type { FastifyInstance } from "fastify";

/** The methods that a path has, in order; none where there is no such path. */
export type MethodsOf = (url: string) => readonly string[];

/** Remembers the methods of every path that is registered in `app` from now on. */
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

/** `/v1/models/:id` as an expression; what has no parameter matches itself. */
function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : escaped(part)));
  return new RegExp(`^${parts.join("/")}$`, "u");
}

function escaped(part: string): string {
  return part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
