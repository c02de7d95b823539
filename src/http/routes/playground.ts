import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { contentSecurityPolicy, serveFiles } from "../static-files.ts";

/** What the page takes from a package: the encoder of its MP3 downloads. */
const PACKAGED = {
  "/playground/lame.js": fileURLToPath(import.meta.resolve("wasm-media-encoders/esnext")),
  "/playground/lame.wasm": fileURLToPath(import.meta.resolve("wasm-media-encoders/wasm/mp3")),
};

/** The page may load and call its own server, WebAssembly from there among it, and nothing else; nothing inline runs. */
const HEADERS = {
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": "'self' 'wasm-unsafe-eval'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
  }),
  "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
};

/** Where the page's own files are, and where the modules of our client. */
export interface PlaygroundDirs {
  readonly page: string;
  readonly client: string;
}

/**
 * `GET /`: a page to try the service by. Every file is served below `/playground/`, the client's modules below
 * `/playground/client/`.
 */
export function playgroundRoutes(app: FastifyInstance, { page, client }: PlaygroundDirs): void {
  const { "/playground/index.html": index, ...files } = filesIn(page, "/playground/");
  serveFiles(app, { "/": index!, ...files, ...PACKAGED, ...filesIn(client, "/playground/client/") }, HEADERS);
}

function filesIn(dir: string, at: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dir).map((name) => [at + name, join(dir, name)]));
}
