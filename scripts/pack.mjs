// Packs the built program, and beside it every package that it runs on, into a tarball for `npm install --global`:
//
//   node scripts/pack.mjs [--platform linux-x64]... [folder]
//
// Why not `npm pack` alone: docs/decisions/0027-the-package.md.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { unpack } from "./onnxruntime.mjs";

/** Where the program runs: which of onnxruntime's builds it takes there, and which packages npm fetches for it. */
const PLATFORMS = {
  "linux-x64": ["linux/x64", "@libsql/linux-x64-gnu", "@node-llama-cpp/linux-x64"],
  "linux-arm64": ["linux/arm64", "@libsql/linux-arm64-gnu", "@node-llama-cpp/linux-arm64"],
  "darwin-arm64": ["darwin/arm64", "@libsql/darwin-arm64", "@node-llama-cpp/mac-arm64-metal"],
  "win32-x64": ["win32/x64", "@libsql/win32-x64-msvc", "@node-llama-cpp/win-x64"],
};

/** What is read of a package by those alone who write a program with it, or build llama.cpp. */
const UNREAD = /\/node_modules\/.*(?:\.[cm]?ts|\.map|\/gitRelease\.bundle)$|\/dist\/src\/.*\.js\.map$/;
/** onnxruntime for graphics cards, which is loaded for them alone, and a second copy of its library for macOS. */
const UNUSED_RUNTIME = /\/(?:DirectML|dxcompiler|dxil)\.dll$|\/libonnxruntime\.\d+\.\d+\.\d+\.dylib$/;

const TOP = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
  options: { platform: { type: "string", multiple: true, default: Object.keys(PLATFORMS) } },
  allowPositionals: true,
});
for (const name of values.platform) {
  if (PLATFORMS[name] === undefined) {
    console.error(`--platform ${name}: choose from ${Object.keys(PLATFORMS).join(", ")}.`);
    process.exit(2);
  }
}
const chosen = values.platform.map((name) => PLATFORMS[name]);
const runtimes = chosen.map(([runtime]) => runtime);

const own = read(TOP);
const staged = mkdtempSync(join(tmpdir(), "antiphon-pack-"));
try {
  for (const name of ["package.json", "README.md", ...own.files]) copy(join(TOP, name), join(staged, name));
  const installedByNpm = { ...own.dependencies, ...own.optionalDependencies };
  const dependencies = { ...installedByNpm, ...own.peerDependencies };
  const native = {};
  await unpack(join(staged, "unpacked"), runtimes);
  copy(join(staged, "unpacked"), join(staged, "node_modules/onnxruntime-node"));
  rmSync(join(staged, "unpacked"), { recursive: true });
  for (const from of closure(installedByNpm)) {
    const to = join(staged, relative(TOP, from));
    const manifest = read(from);
    copy(from, to);
    Object.assign(native, manifest.optionalDependencies);
    write(to, withoutInstallation(manifest));
  }
  const {
    scripts,
    devDependencies,
    peerDependencies,
    peerDependenciesMeta,
    allowScripts,
    overrides,
    config,
    ...published
  } = own;
  const fetched = chosen.flatMap(([, ...packages]) => packages.map((each) => [each, native[each]]));
  for (const [each, wanted] of fetched)
    if (wanted === undefined) throw new Error(`Nothing asks for ${each} any more.`);
  const part = (index) => [...new Set(values.platform.map((each) => each.split("-")[index]))];
  write(staged, {
    ...published,
    os: part(0),
    cpu: part(1),
    dependencies,
    optionalDependencies: Object.fromEntries(fetched),
    bundleDependencies: Object.keys(dependencies),
  });
  const folder = resolve(positionals[0] ?? ".");
  mkdirSync(folder, { recursive: true });
  const npm = spawnSync("npm", ["pack", "--loglevel=error", "--pack-destination", folder], {
    cwd: staged,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  process.exitCode = npm.status ?? 1;
} finally {
  rmSync(staged, { recursive: true, force: true });
}

/** The folders of everything that has to be there for `dependencies`, but for what is made for one platform. */
function closure(dependencies) {
  const folders = new Set();
  const add = (from, names) => {
    for (const each of names) {
      const folder = installed(each, from);
      if (folders.has(folder)) continue;
      folders.add(folder);
      add(folder, Object.keys(withoutInstallation(read(folder)).dependencies ?? {}));
    }
  };
  add(TOP, Object.keys(dependencies));
  return folders;
}

/** The package of that name that a module in `from` would get. */
function installed(name, from) {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  throw new Error(`${name} is not installed: run npm ci first.`);
}

/** Nothing is run or fetched by a package that is here already; what is made for one platform, ours asks for. */
function withoutInstallation({ scripts: _, devDependencies: __, optionalDependencies: native, ...manifest }) {
  const dependencies = { ...manifest.dependencies };
  for (const name of Object.keys(native ?? {})) delete dependencies[name];
  return { ...manifest, dependencies };
}

function copy(from, to) {
  const isWanted = (path) => {
    const slashed = path.replaceAll("\\", "/");
    return relative(from, path) !== "node_modules" && !UNREAD.test(slashed) && !UNUSED_RUNTIME.test(slashed);
  };
  cpSync(from, to, { recursive: true, filter: isWanted });
}

function read(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function write(folder, manifest) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
