import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { temporaryFolder } from "../e2e/folders.ts";

test("models list --json tells which checkpoint speaks for each model, and what it is", async () => {
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
  assert.deepEqual(
    checkpoints.map(({ name }: Record<string, unknown>) => name),
    [
      "heart",
      "smollm2-135m",
      "whisper-base",
      "kokoro",
      "csm-1b",
      "qwen3-tts-0.6b",
      "qwen3-tts-0.6b-custom",
      "qwen3-tts-1.7b",
      "qwen3-tts-1.7b-custom",
      "smollm2-360m",
      "qwen2.5-0.5b",
      "qwen3-0.6b",
      "qwen2.5-1.5b",
      "smollm2-1.7b",
      "qwen3-1.7b",
      "qwen3-4b",
    ],
  );
  const [{ name, embedded, installed, size_bytes, licence }] = checkpoints;
  assert.deepEqual([name, embedded, installed, licence], ["heart", true, true, "Apache-2.0"]);
  assert.ok(size_bytes > 10e6 && size_bytes < 30e6, `${size_bytes} bytes`);
});

test("models list prints a line for each model and checkpoint", async () => {
  const lines = (await list()).split("\n");
  assert.match(lines[1] ?? "", /^svc-beta-v0\.3 +heart +installed +yes$/);
  assert.match(lines.at(-17) ?? "", /^heart +voice +installed +[\d.]+ MB +Apache-2\.0$/);
  assert.match(lines.at(-16) ?? "", /^smollm2-135m +writer +missing +98\.4 MB +Apache-2\.0$/);
  assert.match(lines.at(-14) ?? "", /^kokoro +voice +missing +107\.0 MB +Apache-2\.0$/);
  assert.match(lines.at(-13) ?? "", /^csm-1b +voice +on the hub +7150\.0 MB +Apache-2\.0$/);
  assert.match(lines.at(-5) ?? "", /^qwen2\.5-1\.5b +writer +on the hub +1117\.3 MB +Apache-2\.0 +better$/);
  assert.match(lines.at(-7) ?? "", /^qwen2\.5-0\.5b .* no better$/);
  assert.match(lines.at(-2) ?? "", /^qwen3-4b +writer +on the hub +2497\.3 MB +Apache-2\.0 +not judged$/);
});

test("models list shows what was merged of a file that is gone, so that it can be removed", async () => {
  const dataDir = temporaryFolder();
  const dir = join(dataDir, "checkpoints", "smollm2-135m");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, `merged-${"0".repeat(16)}-${"0".repeat(32)}.gguf`), Buffer.alloc(200_000));
  const { checkpoints } = JSON.parse(await list("--json", "--data-dir", dataDir));
  const { name, state, installed, size_bytes } = checkpoints[1];
  assert.deepEqual([name, state, installed, size_bytes], ["smollm2-135m", "damaged", false, 200_000]);
  assert.match(await list("--data-dir", dataDir), /^smollm2-135m +writer +damaged +0\.2 MB +/m);
});

/** What it prints; without options, of a data directory where nothing was ever pulled. */
async function list(...options: string[]): Promise<string> {
  return (await runAntiphon(["models", "list", ...options])).stdout;
}
