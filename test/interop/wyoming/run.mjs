// Speaks and listens with Home Assistant's own package for the Wyoming protocol: `npm run build && node
// test/interop/wyoming/run.mjs`. The package comes from PyPI, into an environment of its own in bench/.cache, at the first
// run. With an address (`… run.mjs 127.0.0.1:10200 "What is said."`) it tries a server that runs already, which has to hear
// its own voice say those words.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startTestServer } from "../../../dist/test/http/start.js";
import { ScriptedRecogniser } from "../../../dist/test/recognisers/scripted-recogniser.js";

const PACKAGE = "wyoming==1.10.2";
/** As BSD's sysexits have it: what is needed cannot be had here. */
const UNAVAILABLE = 69;
const here = dirname(fileURLToPath(import.meta.url));
const environment = join(here, "..", "..", "..", "bench", ".cache", "interop-wyoming");
const python = join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");

if (!existsSync(python)) run("python3", ["-m", "venv", environment]);
run(python, ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", PACKAGE]);

const [place, words = ""] = process.argv.slice(2);
if (place !== undefined) process.exit(await talk(`tcp://${place}`, words));
const server = await startTestServer({ wyoming: true, recogniser: new ScriptedRecogniser() });
const code = await talk(server.wyomingUrl, "One way & another. Two --> <three>.");
await server.stop();
process.exit(code);

function talk(url, transcript) {
  const { hostname, port } = new URL(url);
  const client = spawn(python, [join(here, "talk.py"), hostname, port, transcript], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve) => client.once("exit", (status) => resolve(status ?? 1)));
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.error(`${command} ${args.join(" ")} failed: ${error?.message ?? `code ${status}`}`);
  process.exit(UNAVAILABLE);
}
