// Tries the chat writer against a real llama.cpp server: `npm run build && node test/interop/run.mjs MODEL.gguf`.
// The server comes from PyPI's xllamacpp, into an environment of its own in bench/.cache, at the first run.

import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PACKAGE = "xllamacpp==2026.10.11549";
const here = dirname(fileURLToPath(import.meta.url));
const top = join(here, "..", "..");
const environment = join(top, "bench", ".cache", "interop");
const python = join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");

const [model] = process.argv.slice(2);
if (model === undefined || !existsSync(model)) fail("usage: node test/interop/run.mjs MODEL.gguf", 2);

if (!existsSync(python)) run("python3", ["-m", "venv", environment]);
run(python, ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", PACKAGE]);

const key = randomBytes(12).toString("hex");
const server = spawn(python, [join(here, "llama_server.py"), model, key], {
  stdio: ["pipe", "pipe", "pipe"],
});
let said = "";
server.stderr.setEncoding("utf8").on("data", (text) => {
  said = (said + text).slice(-2_000);
});
server.once("close", (code) => fail(`${said}\nthe server ended with code ${code}`, 1));
const address = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve));
const tests = spawn(
  process.execPath,
  ["--test", "--test-reporter=spec", "dist/test/writers/chat-interop.test.js"],
  {
    cwd: top,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, INTEROP_CHAT_URL: `${address}/v1`, INTEROP_CHAT_KEY: key },
  },
);
const code = await new Promise((resolve) => tests.once("exit", resolve));
server.removeAllListeners("close");
server.stdin.end();
await new Promise((resolve) => server.once("exit", resolve));
process.exit(code ?? 1);

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) fail(`${command} ${args.join(" ")} failed: ${error?.message ?? `code ${status}`}`, 1);
}

function fail(message, code) {
  console.error(message);
  process.exit(code);
}
