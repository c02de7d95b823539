import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../../src/audio/pcm.ts";
import { type CodecLmSources, codecLmCheckpoints } from "../../../src/server/voices/codec-lm-checkpoints.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { SettingsError } from "../../../src/settings/settings-error.ts";
import { CSM, QWEN3_TTS } from "../../engines/codec-lm/goldens.ts";
import { voiceClip } from "../../engines/codec-lm/speech/voice-clip.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-"));
after(() => rmSync(folder, { recursive: true }));

const csm = join(CSM, "csm-tiny");
const base = join(QWEN3_TTS, "tiny-base");
const custom = join(folder, "custom");
cpSync(join(QWEN3_TTS, "tiny-custom"), custom, { recursive: true });
const weights = "speech_tokenizer/model.safetensors";
symlinkSync(join(base, weights), join(custom, weights));
const clip = join(folder, "voice.wav");
writeFileSync(clip, encodeWav([toPcm16(voiceClip(220, 2))], 24_000));

function checkpoints(given: object, models: object = {}, sources: CodecLmSources = {}) {
  const env = { ANTIPHON_CHECKPOINTS: JSON.stringify(given), ANTIPHON_MODELS: JSON.stringify(models) };
  return codecLmCheckpoints(loadSettings({ env, flags: { dataDir: folder } }), sources);
}

test("has slots, a memory bound and a card", async () => {
  const few = { path: csm, maxConcurrent: 1, resident: false, idleUnloadS: 60 };
  const [one, four, follows, taught] = await checkpoints({
    one: few,
    four: { path: csm },
    follows: { path: base },
    taught: { path: custom },
  });
  assert.deepEqual([one?.maxConcurrent, four?.maxConcurrent], [1, 4]);
  assert.ok(one!.memoryBytes < four!.memoryBytes);
  assert.deepEqual([one?.idleUnloadMs, four?.idleUnloadMs], [60_000, undefined]);
  assert.deepEqual(
    [one?.voice.reads, follows?.voice.reads, taught?.voice.reads],
    ["everybody", "speaker", undefined],
  );
  assert.match(follows!.voice.description, /“follows”, a Qwen3-TTS .* does not hear others' turns/);
  assert.match(taught!.voice.description, /does not hear earlier turns/);
  assert.equal(one?.pool(), null, "nothing is loaded");
});

test("ignores unused settings and checkpoints", async () => {
  assert.deepEqual(await checkpoints({ own: { path: "/nowhere" } }, {}, { only: "other" }), []);
  assert.deepEqual(await checkpoints({ "csm-1b": { maxConcurrent: 2 } }), []);
});

test("is not loaded without enough memory, and names both figures", async () => {
  const available = { bytes: 2 ** 20, limitedBy: "machine" } as const;
  const [own] = await checkpoints({ own: { path: csm } }, {}, { available });
  await assert.rejects(own!.load(), /own in int8 with 4 concurrent utterances takes \d+ MiB of memory, and/);
});

const cut = join(folder, "cut");
cpSync(csm, cut, { recursive: true });
truncateSync(join(cut, "model.safetensors"), 10_000);

const refusals: readonly [what: string, own: object, setting: string, message: RegExp][] = [
  ["neither a folder nor an address", {}, "", /^has neither remote nor path: give it one/],
  ["a missing folder", { path: "/nowhere" }, ".path", /^names a folder.*config\.json is missing/],
  ["no checkpoint", { path: folder }, ".path", /antiphon checkpoint check/],
  ["truncated weights", { path: cut }, ".path", /model\.safetensors/],
  ["idleUnloadS if resident", { path: csm, idleUnloadS: 60 }, ".idleUnloadS", /set .*own\.resident to false/],
  [
    "an unknown speaker",
    { path: csm, voices: { "2": { clip } } },
    ".voices",
    /^names the speaker "2": every/,
  ],
  [
    "a missing clip",
    { path: csm, voices: { "0": { clip: join(folder, "none.wav") } } },
    ".voices.0.clip",
    /^cannot be used\. The file .*none\.wav cannot be read \(ENOENT\)/,
  ],
  [
    "a clip that is no recording",
    { path: csm, voices: { "0": { clip: join(csm, "config.json") } } },
    ".voices.0.clip",
    /^cannot be used\. The file .* cannot be decoded/,
  ],
  ["a preset for CSM", { path: csm, voices: { "0": { preset: "ryan" } } }, ".voices.0", /: give it a clip/],
  [
    "an unknown preset",
    { path: custom, voices: { "0": { preset: "nobody" } } },
    ".voices.0.preset",
    /^is "nobody": name one of .*serena/,
  ],
  [
    "a clip for presets",
    { path: custom, voices: { "0": { clip } } },
    ".voices.0",
    /: name one of its own voices/,
  ],
  ["a language for CSM", { path: csm, language: "english" }, ".language", /^is for Qwen3-TTS/],
  ["an unknown language", { path: custom, language: "klingon" }, ".language", /name one of auto, .*english/],
  ["instructions for clips", { path: base, instruct: "Slowly." }, ".instruct", /./],
];
for (const [what, own, setting, message] of refusals) {
  test(`refuses ${what}, by the setting's name`, async () => {
    await assert.rejects(checkpoints({ own }), (error: unknown) => {
      assert.ok(error instanceof SettingsError, String(error));
      const start = `The setting checkpoints.own${setting} `;
      assert.ok(error.message.startsWith(start), error.message);
      assert.match(error.message.slice(start.length), message);
      return true;
    });
  });
}

test("a model with a missing checkpoint is refused with the pull command", async () => {
  await assert.rejects(
    checkpoints({}, { a: { checkpoint: "csm-1b" } }),
    /^SettingsError: The setting models\.a\.checkpoint names csm-1b, which is not installed: run antiphon models pull csm-1b\.$/,
  );
});
