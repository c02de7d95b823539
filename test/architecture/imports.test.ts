import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import { test } from "node:test";
import { findImports, type Import, readImports, sourceFiles } from "./read-imports.ts";
import { TOP } from "./top.ts";

/** Who may import whom. A folder may always import itself; `server` puts everything together, and commands may use all of it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: ["audio"],
  audio: [],
  onnx: [],
  text: ["core", "audio"],
  contract: ["core"],
  settings: ["core", "contract"],
  workers: ["core", "audio"],
  engines: ["core", "audio", "onnx", "text", "client"],
  recognition: ["core", "audio", "onnx", "workers"],
  writers: ["core", "audio", "text"],
  models: ["core", "settings"],
  accounts: ["audio", "settings", "workers"],
  limits: ["contract", "settings"],
  serving: ["core", "audio", "text", "contract", "workers", "models", "accounts", "limits"],
  requests: ["core", "contract", "accounts", "limits", "serving"],
  api: ["core", "audio", "contract", "accounts", "limits", "serving", "requests"],
  client: [],
  server: [
    "core",
    "audio",
    "onnx",
    "text",
    "contract",
    "settings",
    "workers",
    "engines",
    "recognition",
    "writers",
    "models",
    "accounts",
    "limits",
    "serving",
    "requests",
    "api",
  ],
  library: [
    "core",
    "audio",
    "text",
    "contract",
    "settings",
    "engines",
    "writers",
    "models",
    "limits",
    "serving",
    "server",
  ],
  cli: ["*"],
};

/** The folders that may name a package. A package that is not here has not been thought about. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "onnxruntime-node": ["onnx"],
  "onnxruntime-common": ["onnx"],
  fastify: ["api"],
  "@fastify/websocket": ["api"],
  ws: ["api", "cli"],
  pino: ["requests", "server", "cli"],
  "prom-client": ["requests"],
  "@opentelemetry/api": ["core"],
  libsql: ["accounts"],
  iovalkey: ["accounts"],
  pg: ["accounts"],
  typebox: ["contract", "settings", "models", "api"],
  ajv: ["contract"],
  commander: ["cli"],
  "env-paths": ["settings"],
  openai: ["writers"],
  "@huggingface/jinja": ["writers"],
  "node-llama-cpp": ["writers"],
  "mpg123-decoder": ["audio"],
  "opus-decoder": ["audio"],
  "wasm-media-encoders": ["audio", "api"],
  "libopus-wasm": ["audio", "api"],
  saxes: ["text"],
  "proper-lockfile": ["models"],
  "cli-progress": ["cli"],
};

/** What the engines share: every other folder of `engines/` is an engine. */
const SHARED_BY_ENGINES = ["prosody", "following"];

/** Modules chosen at run time: the entry that a speech thread is told to load. */
const COMPUTED = ["src/workers/thread-entry.ts"];

/** What browsers share: the playground makes its files with the same encoders, which Node alone opens by `open-encoder`. */
const FOR_BROWSERS =
  /^src\/(contract|core\/(?:captions|dialogue)|client|audio\/encode)\/(?!open-encoder\.ts$)/;

const imports = readImports(TOP, "src");

test("a folder imports only what the table allows it", () => {
  const wrong = imports.filter(({ file, target }) => {
    if (target === null || folderOf(file) === folderOf(target)) return false;
    const allowed = MAY_IMPORT[folderOf(file)] ?? [];
    return !allowed.includes("*") && !allowed.includes(folderOf(target));
  });
  assert.deepEqual(wrong.map(shown), []);
});

test("the table of the architecture page is this one", () => {
  const page = readFileSync(join(TOP, "docs/architecture.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([\w-]+)\/` \|.*\| ([\w, –-]+) \|$/gm)];
  const told = rows.map(([, folder, others]) => {
    if (others === "all") return [folder, ["*"]];
    return [folder, others === "–" ? [] : others!.split(", ")];
  });
  assert.deepEqual(Object.fromEntries(told), MAY_IMPORT);
});

test("every folder of the source is in the table", () => {
  const folders = new Set(sourceFiles(TOP, "src").map(folderOf));
  assert.deepEqual(
    [...folders].filter((folder) => !(folder in MAY_IMPORT)),
    [],
  );
});

test("a server starts without the engines that its settings may not name", () => {
  // The first loads the others, once the voice's threads are on their way.
  const names = ["from-settings", "compose-server", "start-server"];
  const loaded = new Set(names.map((name) => `dist/src/server/${name}.js`));
  for (const file of loaded) {
    const source = readFileSync(join(TOP, file), "utf8");
    for (const [, path] of source.matchAll(/^(?:import|export)\b[^;"]*?\bfrom "(\.[^"]+)"/gm))
      loaded.add(posix.join(posix.dirname(file), path!));
  }
  assert.ok(loaded.has("dist/src/serving/reply/speech-service.js"), "and the walk gets there");
  const networks = /engines\/(?:kokoro\/network|codec-lm\/read-checkpoint|embedded\/model)\.js$/;
  assert.deepEqual(
    [...loaded].filter((file) => networks.test(file)),
    [],
  );
});

test("an engine imports no other engine, and nobody but the server and the command line imports any", () => {
  const wrong = imports.filter(({ file, target }) => {
    if (target === null || folderOf(target) !== "engines" || ["server", "cli"].includes(folderOf(file)))
      return false;
    const folder = target.split("/")[2]!;
    return folder !== file.split("/")[2] && !SHARED_BY_ENGINES.includes(folder);
  });
  assert.deepEqual(wrong.map(shown), []);
});

test("the source imports nothing of ours from outside itself, and only files that exist", () => {
  const files = new Set(sourceFiles(TOP, "src"));
  const wrong = imports.filter(({ target }) => target !== null && !files.has(target));
  assert.deepEqual(wrong.map(shown), []);
});

test("no files import each other in a circle", () => {
  const edges = new Map<string, string[]>();
  for (const { file, target, isLoaded } of imports) {
    if (target !== null && isLoaded) edges.set(file, [...(edges.get(file) ?? []), target]);
  }
  assert.equal(findCircle(edges), null);
});

test("a package is imported only in the folders that it belongs to", () => {
  const wrong = imports.filter(({ file, specifier, target }) => {
    if (specifier === null || target !== null || specifier.startsWith("node:")) return false;
    const name = packageOf(specifier);
    const owners = PACKAGES[name.startsWith("@fastify/") ? "fastify" : name];
    return owners?.includes(folderOf(file)) !== true;
  });
  assert.deepEqual(wrong.map(shown), []);
});

test("every imported package is a dependency, and every dependency is imported", () => {
  const manifest = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8"));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  // Builds a checkout that was installed without the packages for development.
  const imported = new Set(["esbuild"]);
  for (const { specifier, target } of imports) {
    if (specifier !== null && target === null && !specifier.startsWith("node:"))
      imported.add(packageOf(specifier));
  }
  const named = { ...dependencies, ...optionalDependencies, ...peerDependencies };
  assert.deepEqual([...imported].sort(), Object.keys(named).sort());
});

test("an optional dependency is named in one file alone, which says what to do without it", () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8"));
  for (const name of Object.keys(optionalDependencies)) {
    const files = imports.filter(({ specifier }) => specifier === name).map(({ file }) => file);
    assert.equal(new Set(files).size, 1, files.join(", "));
  }
});

test("modules of Node are named with node:, and what browsers share uses none", () => {
  const wrong = imports.filter(({ file, specifier }) => {
    if (specifier === null) return false;
    if (builtinModules.includes(specifier)) return true;
    return specifier.startsWith("node:") && FOR_BROWSERS.test(file);
  });
  assert.deepEqual(wrong.map(shown), []);
});

test("only a speech thread loads a module whose name is computed", () => {
  const wrong = imports.filter(({ file, specifier }) => specifier === null && !COMPUTED.includes(file));
  assert.deepEqual(wrong.map(shown), []);
});

test("the scanner sees every way to name a module, and none in comments", () => {
  const source = [
    'import { a } from "./a.ts";',
    "import {",
    "  type B,",
    '} from "../b/b.ts";',
    'export * from "./c.ts";',
    'import type { D } from "node:fs";',
    'import "./effect.ts";',
    'const e = await import("./e.ts");',
    'let f: typeof import("pkg/sub");',
    "const g = await import(name);",
    "const h = await import(`./$" + "{name}.ts`);",
    'new Worker(new URL("./w.js", import.meta.url));',
    '// import { x } from "./no.ts";',
    ' * as `import("./no.ts")` does',
    'const r = createRequire(import.meta.url); const s = require("native");',
    'throw new Error("import from");',
  ].join("\n");
  assert.deepEqual(
    findImports("src/x/y.ts", source).map(({ line, specifier, target }) => [line, specifier, target]),
    [
      [1, "./a.ts", "src/x/a.ts"],
      [4, "../b/b.ts", "src/b/b.ts"],
      [5, "./c.ts", "src/x/c.ts"],
      [6, "node:fs", null],
      [7, "./effect.ts", "src/x/effect.ts"],
      [8, "./e.ts", "src/x/e.ts"],
      [9, "pkg/sub", null],
      [10, null, null],
      [11, null, null],
      [12, "./w.js", "src/x/w.ts"],
      [15, "native", null],
    ],
  );
});

function folderOf(file: string): string {
  return file.split("/")[1]!;
}

function packageOf(specifier: string): string {
  const [first, second] = specifier.split("/");
  return first!.startsWith("@") ? `${first}/${second}` : first!;
}

function shown({ file, line, specifier }: Import): string {
  return `${file}:${line} imports ${specifier ?? "a computed name"}`;
}

/** The files of one circle in order, or `null`. */
function findCircle(edges: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const target of edges.get(file) ?? []) {
      const circle = visit(target);
      if (circle !== null) return circle;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of edges.keys()) {
    const circle = visit(file);
    if (circle !== null) return circle;
  }
  return null;
}

test("what clients and operators send is parsed in contract/ alone, which bounds what is kept of it", () => {
  const rooms = /^src\/(api|requests|serving|limits|accounts|settings|server)\//;
  /** Files of our own: the package's version, and a column that this server has written. */
  const own = ["src/accounts/rows.ts", "src/server/version.ts"];
  const parsing = sourceFiles(TOP, "src").filter(
    (file) => rooms.test(file) && readFileSync(join(TOP, file), "utf8").includes("JSON.parse"),
  );
  assert.deepEqual(parsing, own);
});
