// Packs the built program with every package that it runs on:
//
//   node scripts/pack.mjs [--platform linux-x64] [folder]    for `npm install --global TARBALL` on this or that platform
//   node scripts/pack.mjs --registry [folder]                for `npm publish`: the program, and a package per platform
//
// Why not `npm pack` alone: docs/decisions/0027-the-package.md.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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

/** Only a checkout uses them: esbuild builds, and typebox is in dist/vendor. */
const BUILD_ONLY = ["esbuild", "typebox"];
/** Files of packages that only their developers read, or that build llama.cpp. */
const UNREAD = /\/node_modules\/.*(?:\.[cm]?ts|\.map|\/gitRelease\.bundle)$|\/dist\/src\/.*\.js\.map$/;
const UNREAD_FOLDERS = /\/node_modules\/(?:@[^/]+\/)?[^/]+\/(?:\.github|benchmarks?|docs|examples|tests?)$/;
/** onnxruntime for graphics cards, which is loaded for them alone, and a second copy of its library for macOS. */
const UNUSED_RUNTIME = /\/(?:DirectML|dxcompiler|dxil)\.dll$|\/libonnxruntime\.\d+\.\d+\.\d+\.dylib$/;

const TOP = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
  options: {
    platform: { type: "string", default: `${process.platform}-${process.arch}` },
    registry: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
if (PLATFORMS[values.platform] === undefined) {
  console.error(`--platform ${values.platform}: choose from ${Object.keys(PLATFORMS).join(", ")}.`);
  process.exit(2);
}
const platforms = values.registry ? Object.keys(PLATFORMS) : [values.platform];

const own = read(TOP);
const staged = mkdtempSync(join(tmpdir(), "antiphon-pack-"));
try {
  const program = join(staged, "program");
  for (const name of ["package.json", "README.md", ...own.files]) copy(join(TOP, name), join(program, name));
  const installedByNpm = { ...own.dependencies, ...own.optionalDependencies };
  for (const name of BUILD_ONLY) delete installedByNpm[name];
  const native = {};
  const unpacked = join(staged, "unpacked");
  const runtimes = platforms.map((name) => PLATFORMS[name][0]);
  await unpack(unpacked, runtimes);
  const onnxruntime = join(program, "node_modules/onnxruntime-node");
  copy(unpacked, onnxruntime);
  for (const from of closure(installedByNpm)) {
    const to = join(program, relative(TOP, from));
    const manifest = read(from);
    copy(from, to);
    Object.assign(native, manifest.optionalDependencies);
    write(to, withoutInstallation(manifest));
  }
  const nativeOf = (platform) => {
    const [, ...names] = PLATFORMS[platform];
    const missing = names.find((name) => native[name] === undefined);
    if (missing !== undefined) throw new Error(`Nothing asks for ${missing} any more.`);
    return Object.fromEntries(names.map((name) => [name, native[name]]));
  };
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
  const dependencies = { ...installedByNpm, ...peerDependencies };
  const part = (index) => [...new Set(platforms.map((each) => each.split("-")[index]))];
  write(program, {
    ...published,
    os: part(0),
    cpu: part(1),
    dependencies,
    optionalDependencies: values.registry
      ? Object.fromEntries(
          platforms.map((name) => [`antiphon-${name}`, `npm:antiphon@${own.version}-${name}`]),
        )
      : nativeOf(values.platform),
    bundleDependencies: Object.keys(dependencies),
  });
  const folder = resolve(positionals[0] ?? ".");
  mkdirSync(folder, { recursive: true });
  if (values.registry) {
    for (const platform of platforms) pack(stagePlatform(platform, onnxruntime, nativeOf(platform)), folder);
  }
  pack(program, folder);
} finally {
  rmSync(staged, { recursive: true, force: true });
}

/**
 * Moves onnxruntime's library for a platform into a package, an own version of ours that npm installs on that platform
 * alone. Node takes the `.node.js` that stays for the `.node` that it is asked for.
 */
function stagePlatform(platform, onnxruntime, dependencies) {
  const folder = join(staged, platform);
  const library = join(onnxruntime, "bin/napi-v6", PLATFORMS[platform][0]);
  renameSync(library, folder);
  mkdirSync(library);
  const binding = "onnxruntime_binding.node";
  writeFileSync(
    join(library, `${binding}.js`),
    `module.exports = require("antiphon-${platform}/${binding}");\n`,
  );
  cpSync(join(TOP, "licences/onnxruntime"), folder, { recursive: true });
  const [os, cpu] = platform.split("-");
  const { name, license, engines } = own;
  const description = `What Antiphon runs on: ${platform}`;
  write(folder, {
    name,
    version: `${own.version}-${platform}`,
    description,
    license,
    ...(own.repository && { repository: own.repository }),
    engines,
    os: [os],
    cpu: [cpu],
    dependencies,
  });
  return folder;
}

function pack(from, folder) {
  const npm = spawnSync("npm", ["pack", "--loglevel=error", "--pack-destination", folder], {
    cwd: from,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) process.exitCode = npm.status ?? 1;
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
    const isUnread = [UNREAD, UNREAD_FOLDERS, UNUSED_RUNTIME].some((names) => names.test(slashed));
    return relative(from, path) !== "node_modules" && !isUnread;
  };
  cpSync(from, to, { recursive: true, filter: isWanted });
}

function read(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function write(folder, manifest) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
