import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";

/** The content type of every kind of file that the playground is made of. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** What the page takes from a package, by the name under which it is served: the encoder of its MP3 downloads. */
const PACKAGED: Readonly<Record<string, string>> = {
  "lame.js": import.meta.resolve("wasm-media-encoders/esnext"),
  "lame.wasm": import.meta.resolve("wasm-media-encoders/wasm/mp3"),
};

/** The page may load and call its own server, WebAssembly from there among it, and nothing else; nothing inline runs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
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
  serveFiles(app, filesIn(page), "/playground/");
  serveFiles(
    app,
    Object.entries(PACKAGED).map(([name, url]) => [name, fileURLToPath(url)] as const),
    "/playground/",
  );
  serveFiles(app, filesIn(client), "/playground/client/");
}

function filesIn(dir: string): (readonly [name: string, path: string])[] {
  return readdirSync(dir).map((name) => [name, join(dir, name)] as const);
}

function serveFiles(app: FastifyInstance, files: readonly (readonly [string, string])[], at: string): void {
  for (const [name, path] of files) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const content = readFileSync(path);
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    app.get(name === "index.html" ? "/" : at + name, async (request, reply) => {
      reply.headers({ ...HEADERS, ETag: etag });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      return reply.type(type).send(content);
    });
  }
}
