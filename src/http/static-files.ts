import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import type { FastifyInstance } from "fastify";

/** The content type of every kind of file that our pages are made of; others are not served. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

const HEADERS = {
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  // Asked for again each time, and answered with 304 while nothing has changed.
  "Cache-Control": "no-cache",
};

/** Serves files by their paths, `URL path → file`, each read once. `headers` are sent with every one of them. */
export function serveFiles(
  app: FastifyInstance,
  files: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): void {
  for (const [path, file] of Object.entries(files)) {
    const type = TYPES[extname(file)];
    if (type === undefined) continue;
    const content = readFileSync(file);
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    app.get(path, async (request, reply) => {
      reply.headers({ ...HEADERS, ...headers, ETag: etag });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      return reply.type(type).send(content);
    });
  }
}

/** A policy in which nothing is allowed but what `allowed` says, and nobody may frame the page. */
export function contentSecurityPolicy(allowed: Readonly<Record<string, string>>): string {
  const rules = { ...allowed, "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'" };
  return ["default-src 'none'", ...Object.entries(rules).map(([kind, what]) => `${kind} ${what}`)].join("; ");
}
