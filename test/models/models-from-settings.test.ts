import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelVoice } from "../../src/core/model-card.ts";
import { type LocalCheckpointInfo, modelsFromSettings } from "../../src/models/models-from-settings.ts";
import { PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { SettingsError } from "../../src/settings/settings-error.ts";

const urls = ["http://127.0.0.1:8880/v1"];
const CHECKPOINTS = {
  kokoro: {
    remote: { kind: "openai", urls, model: "kokoro", voices: { "0": "af_heart", "1": "am_michael" } },
  },
  qwen: {
    remote: { kind: "openai", urls, model: "qwen3-tts", voices: { "0": "a", "1": "b" }, references: true },
  },
  farm: { remote: { kind: "antiphon", urls } },
};

function offered(
  models: object,
  checkpoints: object = CHECKPOINTS,
  here: ReadonlyMap<string, LocalCheckpointInfo> = new Map(),
) {
  const env = { ANTIPHON_MODELS: JSON.stringify(models), ANTIPHON_CHECKPOINTS: JSON.stringify(checkpoints) };
  return modelsFromSettings(loadSettings({ env }), here);
}

test("returns the built-in models without settings", () => {
  assert.deepEqual(offered({}), PUBLIC_MODELS);
});

test("replaces the checkpoint of a public id and keeps its position, speakers and modes", () => {
  const models = offered({ "svc-beta-v0.3": { checkpoint: "kokoro" } });
  const [flagship, ...rest] = models;
  assert.deepEqual(rest, PUBLIC_MODELS.slice(1));
  assert.deepEqual([flagship?.checkpoint, flagship?.preset, flagship?.isResident], ["kokoro", {}, true]);
  const { description, voices, takes, ...card } = flagship!.card;
  const { description: own, voices: embedded, takes: _, ...before } = PUBLIC_MODELS[0]!.card;
  assert.deepEqual(card, { ...before, languageLabels: {} });
  assert.deepEqual(
    voices.map(({ id, aliases, sex }) => [id, aliases, sex]),
    before.speakers.map((id) => [
      id,
      namesOf(embedded, embedded.find((voice) => voice.id === id)!.sex),
      null,
    ]),
  );
  assert.deepEqual(takes, { mixes: false, samples: false, anyName: true, manner: "words" });
  assert.notEqual(description, own);
});

/** OpenAI's names for voices of one sex. */
function namesOf(voices: readonly ModelVoice[], sex: ModelVoice["sex"]): string[] {
  return voices
    .filter((voice) => voice.sex === sex)
    .flatMap(({ aliases }) => aliases)
    .sort();
}

test("a card lists what a remote model does not support, and says that its bytes do not repeat", () => {
  const models = offered({
    a: { checkpoint: "kokoro" },
    b: { checkpoint: "qwen" },
    c: { checkpoint: "farm", displayName: "Farm", description: "Ours." },
    d: { checkpoint: "farm" },
  });
  const said = models
    .slice(PUBLIC_MODELS.length)
    .map(({ card }) => `${card.displayName}: ${card.description}`);
  assert.match(
    said[0]!,
    /^a: .*“kokoro”.*does not hear earlier turns.*max_new_tokens alone.*bytes do not repeat/,
  );
  assert.match(said[1]!, /“qwen3-tts”.*latest clip whose words are known/);
  assert.equal(said[2], "Farm: Ours.");
  assert.match(said[3]!, /another Antiphon: its default model.*every knob.*`speed`.*machines are alike/);
  assert.ok(models.slice(PUBLIC_MODELS.length).every(({ card }) => !card.isDefault));
});

test("a codec language model is resident by default, and its card describes it", () => {
  const here = new Map([["own", { reads: "everybody", description: "Spoken here." } as const]]);
  const [flagship, ...others] = offered(
    { "svc-beta-v0.3": { checkpoint: "own" }, small: { checkpoint: "qwen3-tts-0.6b" } },
    { own: { path: "/srv/csm" }, "qwen3-tts-0.6b": { resident: false } },
    here,
  );
  const { card, ...rest } = flagship!;
  assert.deepEqual(rest, { checkpoint: "own", preset: {}, isResident: true, reads: "everybody" });
  assert.equal(card.description, "Spoken here.");
  const small = others.at(-1)!;
  assert.deepEqual([small.checkpoint, small.isResident, small.reads], ["qwen3-tts-0.6b", false, undefined]);
});

test("a custom id may be another name of the embedded voice", () => {
  const model = offered({ calm: { checkpoint: "heart", displayName: "Calm" } }).at(-1)!;
  assert.deepEqual(model.preset, PUBLIC_MODELS[0]!.preset);
  assert.deepEqual([model.card.id, model.card.displayName, model.checkpoint], ["calm", "Calm", "heart"]);
});

test("rejects an unknown checkpoint, and one with the embedded voice's name", () => {
  const refused = (models: object, checkpoints: object | undefined, says: RegExp) =>
    assert.throws(
      () => offered(models, checkpoints),
      (error: unknown) => error instanceof SettingsError && says.test(error.message),
    );
  refused(
    { "svc-beta-v0.3": { checkpoint: "kokro" } },
    undefined,
    /^The setting models\.svc-beta-v0\.3\.checkpoint is "kokro", which does not exist: name one of heart, kokoro, csm-1b, qwen3-tts-0\.6b, .*, qwen, farm\.$/,
  );
  refused({ a: { checkpoint: "toString" } }, undefined, /which does not exist/);
  refused(
    {},
    { heart: CHECKPOINTS.farm },
    /^The setting checkpoints\.heart has the name of the embedded voice/,
  );
});
