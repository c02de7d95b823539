import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../e2e/folders.ts";
import type { Finished } from "../e2e/program.ts";
import { CSM } from "../engines/codec-lm/goldens.ts";
import { BASE } from "../engines/codec-lm/qwen3-tts/cases.ts";
import { fakeHub } from "../models/download/fake-hub.ts";
import { runAntiphon } from "./run-antiphon.ts";

const hub = await fakeHub();

function filesOf(folder: string): Record<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path)]));
}

const TINY = filesOf(join(CSM, "csm-tiny"));
hub.repository("Qwen/Qwen3-TTS-12Hz-0.6B-Base", filesOf(BASE));
const csm = hub.repository("sesame/csm-1b", TINY);
csm.inGit = Object.keys(TINY).filter((path) => path.endsWith(".json"));

function models(dataDir: string, ...line: string[]): Promise<Finished> {
  return runAntiphon(["models", ...line, "--data-dir", dataDir], { env: { HF_ENDPOINT: hub.endpoint } });
}

async function listed(dataDir: string, name: string) {
  const { checkpoints } = JSON.parse((await models(dataDir, "list", "--json")).stdout);
  return checkpoints.find((one: { name: string }) => one.name === name);
}

describe("a codec language model", { concurrency: 2 }, () => {
  it("is pulled, checked, listed and removed", async () => {
    const dataDir = temporaryFolder();
    const absent = await listed(dataDir, "qwen3-tts-0.6b");
    assert.deepEqual(
      [absent.kind, absent.state, absent.installed, absent.size_bytes, absent.licence, absent.hub],
      ["voice", "missing", false, null, "Apache-2.0", "hf:Qwen/Qwen3-TTS-12Hz-0.6B-Base"],
    );
    assert.equal(absent.download_bytes, 2_520_000_000);
    const { code, stdout, stderr } = await models(dataDir, "pull", "qwen3-tts-0.6b", "--accept-licence");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Qwen\/Qwen3-TTS-12Hz-0\.6B-Base \(.*MB\): licence Apache-2\.0, .*accepted with/m);
    assert.match(stdout, /^qwen3-tts-0\.6b is installed: .*\nQwen3-TTS, 12 Hz, base \(0b6\)\n[\s\S]*int4:/);
    assert.match(stdout, /\{"models": \{"svc-beta-v0\.3": \{"checkpoint": "qwen3-tts-0\.6b"\}\}\}\n$/);
    const { state, installed, size_bytes: size, path } = await listed(dataDir, "qwen3-tts-0.6b");
    assert.deepEqual(
      [state, installed, path],
      ["installed", true, join(dataDir, "checkpoints", "qwen3-tts-0.6b")],
    );
    assert.ok(size > 1e5);
    const checked = await runAntiphon(["checkpoint", "check", "qwen3-tts-0.6b", "--data-dir", dataDir]);
    assert.deepEqual(
      [checked.code, /Everything that it needs is there\.\n$/.test(checked.stdout)],
      [0, true],
    );
    assert.match(
      (await models(dataDir, "pull", "qwen3-tts-0.6b")).stdout,
      /already installed, and undamaged/,
    );
    assert.equal((await models(dataDir, "rm", "qwen3-tts-0.6b")).stdout, "qwen3-tts-0.6b is removed.\n");
    assert.equal((await listed(dataDir, "qwen3-tts-0.6b")).state, "missing");
    assert.equal((await models(dataDir, "rm", "qwen3-tts-0.6b")).code, 1);
  });

  it("is found by the name of its repository", async () => {
    const dataDir = temporaryFolder();
    const { code, stderr } = await models(dataDir, "pull", "hf:sesame/csm-1b", "--accept-licence");
    assert.equal(code, 0, stderr);
    assert.equal((await listed(dataDir, "csm-1b")).state, "installed");
  });

  it("is not fetched if its licence cannot be accepted", async () => {
    const dataDir = temporaryFolder();
    const { code, stdout, stderr } = await models(dataDir, "pull", "csm-1b");
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^The licence of sesame\/csm-1b .* run this again with --accept-licence\. Nothing/);
    assert.ok(!existsSync(join(dataDir, "checkpoints")));
  });

  it("that cannot speak is installed, with every reason", async () => {
    const weights = Buffer.from(TINY["model.safetensors"]!);
    weights.fill(0xff, weights.length - 8);
    const config = JSON.parse(TINY["config.json"]!.toString());
    const spoilt = await fakeHub();
    spoilt.repository("sesame/csm-1b", {
      ...TINY,
      "config.json": Buffer.from(JSON.stringify({ ...config, audio_token_id: 7 })),
      "model.safetensors": weights,
    });
    const { code, stdout, stderr } = await runAntiphon(
      ["models", "pull", "csm-1b", "--accept-licence", "--data-dir", temporaryFolder()],
      { env: { HF_ENDPOINT: spoilt.endpoint } },
    );
    assert.equal(code, 1);
    assert.match(stdout, /^The tokenizer is of another model: .*\n\S+ is damaged: its number \d+ is NaN or/m);
    assert.match(stderr, /^The checkpoint csm-1b is installed as the hub has it, but cannot be spoken with/m);
  });

  it("with a misspelt name is suggested", async () => {
    const { code, stderr } = await models(temporaryFolder(), "pull", "csm-1");
    assert.deepEqual([code, /did you mean csm-1b\?/.test(stderr)], [2, true]);
  });
});
