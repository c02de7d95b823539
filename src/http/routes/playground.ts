import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance } from "fastify";

/** The content type of every kind of file that the playground is made of. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page may load and call its own server, and nothing else; nothing inline runs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  // Asked for again each time, and answered with 304 while nothing has changed.
  "Cache-Control": "no-cache",
};

/** Where the page's own files are, and where the modules of our client. */
export interface PlaygroundDirs {
  readonly page: string;
  readonly client: string;
}

/**
 * `GET /`: a page to try the service by. Every file is read once, and served below `/playground/`, the client's modules
 * below `/playground/client/`.
 */
export function playgroundRoutes(app: FastifyInstance, { page, client }: PlaygroundDirs): void {
  serveFolder(app, page, "/playground/");
  serveFolder(app, client, "/playground/client/");
}

function serveFolder(app: FastifyInstance, dir: string, at: string): void {
  for (const name of readdirSync(dir)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const content = readFileSync(join(dir, name));
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    app.get(name === "index.html" ? "/" : at + name, async (request, reply) => {
      reply.headers({ ...HEADERS, ETag: etag });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      return reply.type(type).send(content);
    });
  }
}
