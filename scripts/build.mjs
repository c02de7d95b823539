// Makes of the sources what runs, and of the voice's dictionaries their tables:
//
//   node scripts/build.mjs [FOLDER]...
//
// where the folders are src, test and bench unless given. A file is made again when its source changed, and goes with it.
// Nothing checks types here: docs/decisions/0054-a-newcomers-minute.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as onnxruntime from "./onnxruntime.mjs";

const FOLDERS = ["src", "test", "bench"];
/** What `text/` imports, by the architecture's table: with it, tables can be made while the rest is still built. */
const FOR_TABLES = /^src\/(?:text|core|audio)\//;
const TABLES = "dist/voices/heart.tables";
/** How the files in `dist/` were made; where that is another way, all are made again. */
const STAMP = "dist/made-by.json";
/** Hundreds of modules, all of which a server would read at its start, made three files. */
const VENDOR = "dist/vendor";
const VENDORED = { typebox: "typebox", "typebox/schema": "typebox-schema" };

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
lookAround();
if (!onnxruntime.isInstalled()) {
  process.stderr.write("Fetching onnxruntime-node … ");
  await onnxruntime.install().catch(({ message }) => leave(`it failed: ${message}`));
  process.stderr.write("done.\n");
}
const folders = process.argv.length > 2 ? process.argv.slice(2) : FOLDERS;
const made = JSON.stringify({
  by: readFileSync("scripts/build.mjs", "utf8"),
  with: ["esbuild", "typebox"].map(versionOf),
});
if (!existsSync(STAMP) || readFileSync(STAMP, "utf8") !== made) {
  // With what the compiler knows of the declarations that it has written: it would not write them again.
  rmSync("dist", { recursive: true, force: true });
  mkdirSync("dist");
  writeFileSync(STAMP, made);
}
FOLDERS.forEach(dropStale);
const stale = folders.flatMap(sourcesIn).filter(isStale);
if (stale.length > 0 || !existsSync(TABLES) || !existsSync(VENDOR)) await build();

async function build() {
  const beganMs = performance.now();
  process.stderr.write(`Building ${stale.length} ${stale.length === 1 ? "file" : "files"} … `);
  const esbuild = await import("esbuild");
  await Promise.all([
    vendor(esbuild),
    transpile(
      esbuild,
      stale.filter((file) => FOR_TABLES.test(file)),
    ).then(packTables),
    transpile(
      esbuild,
      stale.filter((file) => !FOR_TABLES.test(file)),
    ),
  ]);
  process.stderr.write(`done in ${((performance.now() - beganMs) / 1_000).toFixed(1)} s.\n`);
}

/** Types are left out, imports of sources are made imports of what is built; otherwise a file stays as it is. */
async function transpile(esbuild, files) {
  const building = esbuild.build({
    entryPoints: files,
    outdir: "dist",
    outbase: ".",
    bundle: true,
    treeShaking: false,
    plugins: [{ name: "imports", setup: ({ onResolve }) => onResolve({ filter: /^/ }, resolveImport) }],
    format: "esm",
    platform: "node",
    target: "es2023",
    charset: "utf8",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
  });
  // What is wrong has been said.
  await building.catch(() => process.exit(1));
  for (const file of files) {
    const { atime, mtime } = statSync(file);
    utimesSync(builtOf(file), atime, mtime);
  }
}

function resolveImport({ kind, path, importer }) {
  if (kind === "entry-point") return undefined;
  if (path in VENDORED) {
    const from = posix.dirname(relative(".", importer).replaceAll("\\", "/"));
    return { path: posix.relative(from, `vendor/${VENDORED[path]}.js`), external: true };
  }
  return { path: path.replace(/^(\.{1,2}\/.*)\.ts$/, "$1.js"), external: true };
}

async function vendor(esbuild) {
  if (existsSync(VENDOR)) return;
  const entryPoints = Object.entries(VENDORED).map(([path, out]) => ({ in: path, out }));
  // It gets its name when it is whole.
  const partial = `${VENDOR}.${process.pid}`;
  await esbuild.build({
    entryPoints,
    outdir: partial,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2023",
    logLevel: "warning",
  });
  try {
    renameSync(partial, VENDOR);
  } catch (error) {
    // Somebody who built at the same time was first.
    if (!existsSync(VENDOR)) throw error;
    rmSync(partial, { recursive: true });
  }
}

async function packTables() {
  const [code] = await once(
    spawn(process.execPath, ["dist/src/text/tables/build-tables.js"], { stdio: "inherit" }),
    "exit",
  );
  if (code !== 0) process.exit(1);
}

/** Removes what was built of sources that are gone: it would be run and packed. */
function dropStale(folder) {
  const built = join("dist", folder);
  if (!existsSync(built)) return;
  for (const name of readdirSync(built, { recursive: true, encoding: "utf8" })) {
    const source = /^(.*)\.(?:js|js\.map|d\.c?ts)$/.exec(name)?.[1];
    if (source !== undefined && !existsSync(join(folder, `${source}.ts`))) rmSync(join(built, name));
  }
}

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => posix.join(folder, name.replaceAll("\\", "/")));
}

/** What was built has its source's time, so that an older source that comes back counts as changed, too. */
function isStale(file) {
  const built = statSync(builtOf(file), { throwIfNoEntry: false });
  return built === undefined || Math.abs(built.mtimeMs - statSync(file).mtimeMs) > 2;
}

function builtOf(file) {
  return join("dist", file.replace(/\.ts$/, ".js"));
}

function versionOf(name) {
  return JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
}

/** Ends in a sentence where Node is too old, or nothing is installed. */
function lookAround() {
  const wanted = JSON.parse(readFileSync("package.json", "utf8")).engines.node.replace(">=", "");
  const [major, minor] = wanted.split(".").map(Number);
  const [hasMajor, hasMinor] = process.versions.node.split(".").map(Number);
  if (hasMajor < major || (hasMajor === major && hasMinor < minor))
    leave(`Antiphon needs Node ${wanted} or newer; this is Node ${process.versions.node}.`);
  if (!existsSync("node_modules/esbuild"))
    leave(`Nothing is installed yet: run npm ci first (with Node ${wanted} or newer).`);
}

function leave(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
