import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
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
  // The origin, for servers that pages of others may call.
  Vary: "Accept-Encoding, Origin",
  // Asked for again each time, and answered with 304 while nothing has changed.
  "Cache-Control": "no-cache",
};

const compress = promisify(gzip);

/**
 * Serves files by their paths, `URL path → file`, each read once, and compressed once, for whoever first takes it so.
 * `headers` are sent with every one of them.
 */
export function serveFiles(
  app: FastifyInstance,
  files: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): void {
  for (const [path, file] of Object.entries(files)) {
    const type = TYPES[extname(file)];
    if (type === undefined) continue;
    const content = readFileSync(file);
    const digest = createHash("sha256").update(content).digest("base64url").slice(0, 22);
    let compressed: Promise<Buffer> | null = null;
    app.get(path, async (request, reply) => {
      const isCompressed = TAKES_GZIP.test(request.headers["accept-encoding"] ?? "");
      const etag = isCompressed ? `"${digest}-gzip"` : `"${digest}"`;
      reply.headers({ ...HEADERS, ...headers, ETag: etag });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      reply.type(type);
      if (!isCompressed) return reply.send(content);
      compressed ??= compress(content);
      return reply.header("Content-Encoding", "gzip").send(await compressed);
    });
  }
}

/** `gzip`, unless its weight is 0. */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** A policy in which nothing is allowed but what `allowed` says, and nobody may frame the page. */
export function contentSecurityPolicy(allowed: Readonly<Record<string, string>>): string {
  const rules = { ...allowed, "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'" };
  return ["default-src 'none'", ...Object.entries(rules).map(([kind, what]) => `${kind} ${what}`)].join("; ");
}
