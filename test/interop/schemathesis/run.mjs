// Asks the built server all that /openapi.json promises: `npm run build && node test/interop/schemathesis/run.mjs`.
// The server speaks with tones, writes one sentence and hears two, so thousands of requests are quick. `--url URL --key KEY` asks a
// running server instead; what follows `--` goes to `schemathesis run`, as in `-- --max-examples 1000`.
// Exit code 69: the Python packages could not be installed.

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openPlace, pythonEnvironment, UNAVAILABLE } from "../../../dist/test/interop/environment.js";

const here = dirname(fileURLToPath(import.meta.url));

const { values, positionals } = parseArgs({
  options: { url: { type: "string" }, key: { type: "string" } },
  allowPositionals: true,
});

const place = await openPlace();
const { folder, command } = await pythonEnvironment(
  place,
  "schemathesis",
  join(here, "requirements.txt"),
).catch(async (error) => {
  console.error(error.message);
  await place.close();
  process.exit(UNAVAILABLE);
});

const server = values.url === undefined ? await toneServer() : null;
const { url, key } = server ?? values;
const asked = spawn(
  join(dirname(command[0]), "schemathesis"),
  ["--config-file", join(here, "schemathesis.toml"), "run", `${url}/openapi.json`, ...positionals],
  {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ANTIPHON_KEY: key ?? "", ANTIPHON_HOOKS: join(here, "hooks.py") },
  },
);
const code = await new Promise((resolve) => asked.once("exit", resolve));
await server?.stop();
await place.close();
process.exit(code ?? 1);

/** The server of the tests of `api/http/`: whole, but for a voice and a database. No limit is ever reached. */
async function toneServer() {
  const { startTestServer } = await import("../../../dist/test/api/http/start.js");
  const { ScriptedWriter } = await import("../../../dist/test/writers/scripted-writer.js");
  const { ScriptedRecogniser } = await import("../../../dist/test/recognition/scripted-recogniser.js");
  return startTestServer({
    rpm: 1_000_000,
    burst: 1_000_000,
    flags: { anonymousRpm: "1000000", anonymousBurst: "1000000" },
    writer: new ScriptedWriter(["It was wonderful."]),
    recogniser: new ScriptedRecogniser(),
  });
}
