import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";

const LIBOPUS = fileURLToPath(import.meta.resolve("libopus-wasm"));

/** Codecs from packages, which the page loads when a file is saved. */
const PACKAGED = {
  "/playground/lame.js": fileURLToPath(import.meta.resolve("wasm-media-encoders/esnext")),
  "/playground/lame.wasm": fileURLToPath(import.meta.resolve("wasm-media-encoders/wasm/mp3")),
  "/playground/libopus.js": LIBOPUS,
  "/playground/generated/libopus.generated.mjs": join(LIBOPUS, "../generated/libopus.generated.mjs"),
};

/** The encoders of `/v1/audio/speech`, which the page uses as well. */
const ENCODERS = ["encode/mp3.js", "encode/ogg-opus.js", "encode/flac.js"];

/** The page may only load from and call its own server, including WebAssembly; no inline scripts. */
const PLAYGROUND_HEADERS = {
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": "'self' 'wasm-unsafe-eval'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
  }),
  "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
};

/** Folders of the page, and of the modules that it imports. */
export interface PlaygroundDirs {
  readonly page: string;
  readonly client: string;
  readonly captions: string;
  readonly dialogue: string;
  readonly audio: string;
}

/** `GET /`: a page for trying out the service, whose files are served below `/playground/`. */
export function playgroundRoutes(app: FastifyInstance, dirs: PlaygroundDirs): void {
  const { "/playground/index.html": index, ...files } = filesIn(dirs.page, "/playground/");
  const own = {
    ...files,
    ...filesIn(dirs.client, "/playground/client/"),
    ...filesIn(dirs.captions, "/playground/captions/"),
    ...filesIn(dirs.dialogue, "/playground/dialogue/"),
    ...modulesOf(dirs.audio, ENCODERS, "/playground/audio/"),
  };
  serveFiles(app, { "/": index!, ...own, ...PACKAGED }, PLAYGROUND_HEADERS);
}

/** Returns modules of a folder, and everything they import from it. */
function modulesOf(dir: string, entries: readonly string[], at: string): Record<string, string> {
  const names = new Set(entries);
  // Iteration includes members that are added meanwhile.
  for (const name of names) {
    for (const [, path] of readFileSync(join(dir, name), "utf8").matchAll(/from "(\.[^"]+)"/g))
      names.add(posix.join(name, "..", path!));
  }
  return Object.fromEntries([...names].map((name) => [at + name, join(dir, name)]));
}

function filesIn(dir: string, at: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dir).map((name) => [at + name, join(dir, name)]));
}

/** RapiDoc uses inline styles and images in them, but no inline scripts. */
const DOCS_HEADERS = {
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": "'self'",
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
    "connect-src": "'self'",
    "media-src": "blob:",
  }),
};

/** `GET /docs`: `/openapi.json` as an interactive page. `GET /documentation`: README.md and, in a clone, `docs/`. */
export function apiDocsRoutes(app: FastifyInstance): void {
  const docs = inTop("docs");
  const pages = {
    "/docs": inTop("api-docs/index.html"),
    "/docs/page.js": inTop("api-docs/page.js"),
    "/docs/rapidoc-min.js": inTop("api-docs/rapidoc-min.js"),
    "/documentation": inTop("api-docs/guide.html"),
    "/documentation/guide.js": inTop("api-docs/guide.js"),
    "/documentation/README.md": inTop("README.md"),
  };
  serveFiles(app, { ...(existsSync(docs) ? filesIn(docs, "/documentation/") : {}), ...pages }, DOCS_HEADERS);
}

const inTop = (path: string) => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url));

/** Content types by file extension; other files are not served. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

const HEADERS = {
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  // `Origin`, because pages of other origins may be allowed.
  Vary: "Accept-Encoding, Origin",
  // Revalidated each time; the response is 304 while nothing has changed.
  "Cache-Control": "no-cache",
};

const compress = promisify(gzip);

/**
 * Serves files, `URL path → file`, each read once and compressed on first use.
 *
 * @param headers sent with every file
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
    // A page has dozens of files, whose log lines would bury the others.
    app.get(path, { config: { access: "open" }, logLevel: "warn" }, async (request, reply) => {
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

/** Matches `gzip` unless its weight is 0. */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** Returns a policy that allows only `allowed`, and no framing. */
function contentSecurityPolicy(allowed: Readonly<Record<string, string>>): string {
  const rules = { ...allowed, "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'" };
  return ["default-src 'none'", ...Object.entries(rules).map(([kind, what]) => `${kind} ${what}`)].join("; ");
}
