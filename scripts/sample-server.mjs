import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../dist/src/cli/main.js", import.meta.url));

/**
 * Starts the program as a newcomer does, with a database of its own. The recogniser is taken from where
 * `antiphon models list` finds it; if it is not installed, the server fetches it.
 *
 * @param env added to the environment
 */
export async function startSampleServer(env = {}) {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-sample-"));
  const { stdout } = spawnSync(process.execPath, [PROGRAM, "models", "list", "--json"], { encoding: "utf8" });
  mkdirSync(join(folder, "checkpoints"));
  for (const { name, installed, path } of JSON.parse(stdout).checkpoints)
    if (installed && name === "whisper-base") symlinkSync(path, join(folder, "checkpoints", name));
  const server = spawn(process.execPath, [PROGRAM, "serve", "--port", "0", "--data-dir", folder], {
    env: { ...process.env, ANTIPHON_LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "exit");
  let out = "";
  server.stdout.setEncoding("utf8").on("data", (text) => {
    out += text;
  });
  while (!out.includes("-o hello.wav")) {
    const [code] = await Promise.race([once(server.stdout, "data"), ended]);
    if (typeof code === "number") throw new Error(`the server ended with exit code ${code}:\n${out}`);
  }
  const [, apiKey] = /API key, shown this once: (\S+)/.exec(out);
  const [, baseUrl] = /listening on (\S+)/.exec(out);
  const [, talkLink] = /Talk: (\S+)/.exec(out);
  return {
    ...{ baseUrl, apiKey, talkLink },
    async stop() {
      server.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
    },
  };
}
