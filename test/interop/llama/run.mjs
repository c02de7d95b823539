// Tries the chat writer against a real llama.cpp server: `npm run build && node test/interop/llama/run.mjs MODEL.gguf`.
// The server comes from PyPI's xllamacpp, into an environment of its own in a temporary folder.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openPlace, pythonEnvironment } from "../../../dist/test/interop/environment.js";

const here = dirname(fileURLToPath(import.meta.url));
const top = join(here, "..", "..", "..");

const [model] = process.argv.slice(2);
if (model === undefined || !existsSync(model)) fail("usage: node test/interop/llama/run.mjs MODEL.gguf", 2);

const place = await openPlace();
const { command } = await pythonEnvironment(place, "llama", join(here, "requirements.txt"));
const key = randomBytes(12).toString("hex");
const server = spawn(command[0], [join(here, "llama_server.py"), model, key], {
  stdio: ["pipe", "pipe", "pipe"],
});
let said = "";
server.stderr.setEncoding("utf8").on("data", (text) => {
  said = (said + text).slice(-2_000);
});
server.once("close", async (code) => {
  await place.close();
  fail(`${said}\nthe server ended with code ${code}`, 1);
});
const address = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve));
const tests = spawn(
  process.execPath,
  ["--test", "--test-reporter=spec", "dist/test/writers/chat/chat-interop.test.js"],
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
await place.close();
process.exit(code ?? 1);

function fail(message, code) {
  console.error(message);
  process.exit(code);
}
