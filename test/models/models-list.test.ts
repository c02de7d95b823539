import assert from "node:assert/strict";
import { test } from "node:test";
import { runAntiphon } from "../cli/run-antiphon.ts";

test("models list --json returns the checkpoint of each model and its state", async () => {
  const { models, checkpoints } = JSON.parse(await list("--json"));
  assert.deepEqual(
    models.map(({ id, checkpoint, installed }: Record<string, unknown>) => [id, checkpoint, installed]),
    [
      ["svc-beta-v0.3", "heart", true],
      ["svc-beta-v0.2", "heart", true],
      ["svc-beta-v0.1", "heart", true],
      ["svc-atom-beta-v0.1", "heart", true],
    ],
  );
  assert.equal(
    checkpoints.map(({ name }: Record<string, unknown>) => name).join(" "),
    "heart whisper-base kokoro csm-1b qwen3-tts-0.6b qwen3-tts-0.6b-custom qwen3-tts-1.7b " +
      "qwen3-tts-1.7b-custom qwen3-1.7b qwen3-4b qwen2.5-1.5b smollm2-1.7b",
  );
  const [{ name, embedded, installed, size_bytes, licence }] = checkpoints;
  assert.deepEqual([name, embedded, installed, licence], ["heart", true, true, "Apache-2.0"]);
  assert.ok(size_bytes > 10e6 && size_bytes < 30e6, `${size_bytes} bytes`);
});

test("models list prints a line per model and checkpoint", async () => {
  const lines = (await list()).split("\n");
  assert.match(lines[1] ?? "", /^svc-beta-v0\.3 +heart +installed +yes$/);
  const row = (name: string) => lines.findLast((line) => line.startsWith(`${name} `)) ?? "";
  assert.match(row("heart"), /^heart +voice +installed +[\d.]+ MB +Apache-2\.0$/);
  assert.match(row("kokoro"), /^kokoro +voice +missing +109\.6 MB +Apache-2\.0$/);
  assert.match(row("csm-1b"), /^csm-1b +voice +on the hub +7150\.0 MB +Apache-2\.0$/);
  assert.match(row("qwen3-1.7b"), /^qwen3-1\.7b +writer +on the hub +1800\.0 MB +Apache-2\.0 +2400\.0 MB$/);
  assert.match(row("qwen3-4b"), /^qwen3-4b +writer +on the hub +2497\.3 MB +Apache-2\.0 +3200\.0 MB$/);
});

async function list(...options: string[]): Promise<string> {
  return (await runAntiphon(["models", "list", ...options])).stdout;
}
