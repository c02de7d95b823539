// Tries transcriptions and speech with OpenAI's own package for Python: `npm run build && node test/interop/openai/run.mjs`.
// The package comes from PyPI, into an environment of its own in bench/.cache, at the first run.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startTestServer } from "../../../dist/test/http/start.js";
import { ScriptedRecogniser } from "../../../dist/test/recognisers/scripted-recogniser.js";

const PACKAGE = "openai==3.54.0";
const here = dirname(fileURLToPath(import.meta.url));
const top = join(here, "..", "..", "..");
const environment = join(top, "bench", ".cache", "interop-openai");
const python = join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");

if (!existsSync(python)) run("python3", ["-m", "venv", environment]);
run(python, ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", PACKAGE]);

const server = await startTestServer({ recogniser: new ScriptedRecogniser() });
const recordings = join(top, "test", "golden", "recordings");
const codes = [await asked("transcribe.py", recordings), await asked("speak.py")];
await server.stop();
process.exit(Math.max(...codes));

function asked(script, ...more) {
  const client = spawn(python, [join(here, script), `${server.url}/v1`, server.key, ...more], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve) => client.once("exit", (code) => resolve(code ?? 1)));
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.error(`${command} ${args.join(" ")} failed: ${error?.message ?? `code ${status}`}`);
  process.exit(1);
}
