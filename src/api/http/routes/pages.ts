import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";

const LIBOPUS = fileURLToPath(import.meta.resolve("libopus-wasm"));

/** What the page takes from packages, once a file is to be saved: the codecs of MP3 and Opus. */
const PACKAGED = {
  "/playground/lame.js": fileURLToPath(import.meta.resolve("wasm-media-encoders/esnext")),
  "/playground/lame.wasm": fileURLToPath(import.meta.resolve("wasm-media-encoders/wasm/mp3")),
  "/playground/libopus.js": LIBOPUS,
  "/playground/generated/libopus.generated.mjs": join(LIBOPUS, "../generated/libopus.generated.mjs"),
};

/** The encoders of `/v1/audio/speech` that the page makes its files with, too. */
const ENCODERS = ["encode/mp3.js", "encode/ogg-opus.js", "encode/flac.js"];

/** The page may load and call its own server, WebAssembly from there among it, and nothing else; nothing inline runs. */
const PLAYGROUND_HEADERS = {
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": "'self' 'wasm-unsafe-eval'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
  }),
  "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
};

/** Where the page's own files are, and where the modules of our client, of `core/captions/` and of `audio/`. */
export interface PlaygroundDirs {
  readonly page: string;
  readonly client: string;
  readonly captions: string;
  readonly audio: string;
}

/**
 * `GET /`: a page to try the service by. Every file is served below `/playground/`, the client's modules below
 * `/playground/client/`, those of captions below `/playground/captions/`, the encoders and what they import below
 * `/playground/audio/`.
 */
export function playgroundRoutes(app: FastifyInstance, dirs: PlaygroundDirs): void {
  const { "/playground/index.html": index, ...files } = filesIn(dirs.page, "/playground/");
  const own = {
    ...files,
    ...filesIn(dirs.client, "/playground/client/"),
    ...filesIn(dirs.captions, "/playground/captions/"),
    ...modulesOf(dirs.audio, ENCODERS, "/playground/audio/"),
  };
  serveFiles(app, { "/": index!, ...own, ...PACKAGED }, PLAYGROUND_HEADERS);
}

/** Modules of a folder, and all that they import from it. */
function modulesOf(dir: string, entries: readonly string[], at: string): Record<string, string> {
  const names = new Set(entries);
  // A set that grows while it is walked is walked to its end.
  for (const name of names) {
    for (const [, path] of readFileSync(join(dir, name), "utf8").matchAll(/from "(\.[^"]+)"/g))
      names.add(posix.join(name, "..", path!));
  }
  return Object.fromEntries([...names].map((name) => [at + name, join(dir, name)]));
}

function filesIn(dir: string, at: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dir).map((name) => [at + name, join(dir, name)]));
}

/** RapiDoc sets its styles inline, and its logo and arrows are pictures in them; it runs nothing that is inline. */
const DOCS_HEADERS = {
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": "'self'",
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
    "connect-src": "'self'",
    "media-src": "blob:",
  }),
};

/** `GET /docs`: `/openapi.json` for people, who can try its calls there. */
export function apiDocsRoutes(app: FastifyInstance): void {
  serveFiles(
    app,
    { "/docs": file("index.html"), "/docs/rapidoc-min.js": file("rapidoc-min.js") },
    DOCS_HEADERS,
  );
}

const file = (name: string) => fileURLToPath(new URL(`../../../../../api-docs/${name}`, import.meta.url));

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
function serveFiles(
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
    app.get(path, { config: { access: "open" } }, async (request, reply) => {
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
function contentSecurityPolicy(allowed: Readonly<Record<string, string>>): string {
  const rules = { ...allowed, "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'" };
  return ["default-src 'none'", ...Object.entries(rules).map(([kind, what]) => `${kind} ${what}`)].join("; ");
}
