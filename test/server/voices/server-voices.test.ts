import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { VoiceSupport } from "../../../src/core/model-card.ts";
import { PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import {
  readServerVoices,
  takenNamesWarning,
  voiceWarnings,
  withVoiceManners,
} from "../../../src/server/voices/server-voices.ts";
import { buildScript } from "../../../src/serving/prepare/build-script.ts";
import { resolveTts } from "../../../src/serving/prepare/resolve-request.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { SettingsError } from "../../../src/settings/settings-error.ts";
import { addVoice, VOICES, voiceWav } from "../../api/http/forms.ts";
import { startTestServer } from "../../api/http/start.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-voices-"));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "anna.wav"), voiceWav({ sampleRateHz: 16_000 }));
writeFileSync(join(folder, "short.wav"), voiceWav({ durationS: 0.5 }));

const RECORD = {
  keyId: "key_a",
  description: "",
  refText: null,
  consent: "She agrees.",
  createdTsS: 0,
  durationS: 3,
  trust: 1,
  cautions: [],
};

function settingsWith(voices: object) {
  const configFile = join(folder, "settings.json");
  writeFileSync(configFile, JSON.stringify({ voices }));
  return loadSettings({ configFile });
}

describe("voices of the settings", () => {
  test("are files relative to the settings, with or without a transcript", async () => {
    const voices = { anna: "anna.wav", berta: { clip: "anna.wav", text: "What she says." } };
    const read = await readServerVoices(settingsWith(voices), PUBLIC_MODELS);
    assert.deepEqual([...read.keys()], ["anna", "berta"]);
    const { clip, text } = read.get("berta")!;
    assert.deepEqual([clip.sampleRateHz, clip.durationS, text], [24_000, 3, "What she says."]);
    assert.equal(read.get("anna")!.clip.digest, clip.digest);
    assert.equal(read.get("anna")!.text, null);
  });

  test("may have instructions, as a model's voices may", async () => {
    const settings = settingsWith({
      anna: { clip: "anna.wav", instructions: "Calm." },
      nova: { instructions: "A little faster" },
      "1": { instructions: "sad" },
    });
    const read = await readServerVoices(settings, PUBLIC_MODELS);
    assert.deepEqual([...read.keys()], ["anna"]);
    assert.equal(read.get("anna")!.manner?.words, "Calm.");
    const [flagship] = withVoiceManners(PUBLIC_MODELS, settings);
    assert.deepEqual(
      [...flagship!.manners!].map(([id, { words, figures }]) => [id, words, figures.tempo > 1]),
      [
        ["1", "sad", false],
        ["0", "A little faster", true],
      ],
    );
    assert.deepEqual(withVoiceManners(PUBLIC_MODELS, settingsWith({ anna: "anna.wav" })), PUBLIC_MODELS);
  });

  for (const [what, voices, message] of [
    ["no voice", { nobody: { instructions: "sad" } }, /voices\.nobody is no voice of a model/],
    ["blank instructions", { nova: { instructions: " " } }, /voices\.nova has neither clip nor instructions/],
    [
      "two for one voice",
      { echo: { instructions: "calm" }, "1": { instructions: "sad" } },
      /echo means the same/,
    ],
    ["nothing", { nova: {} }, /voices\.nova has neither clip nor instructions/],
  ] as const) {
    test(`are refused at start as manners with ${what}`, () => {
      assert.throws(() => withVoiceManners(PUBLIC_MODELS, settingsWith(voices)), message);
    });
  }

  const [model] = PUBLIC_MODELS;
  const taking = (takes: Partial<VoiceSupport>) => {
    const { manner, ...others } = model!.card.takes;
    return [{ ...model!, card: { ...model!.card, takes: { ...others, ...takes } } }];
  };

  test("report ignored instructions, unless a model takes words", () => {
    const settings = settingsWith({
      nova: { instructions: "Like a pirate" },
      onyx: { instructions: "calm, like a pirate" },
      anna: { clip: "anna.wav", instructions: "calm" },
    });
    const unread =
      "The instructions of voices.nova change nothing, because nothing in them is understood: pirate. docs/voices.md lists what is.";
    const half =
      "The instructions of voices.onyx are followed in part: calm; not followed: pirate. docs/voices.md lists what is understood.";
    assert.deepEqual(voiceWarnings(PUBLIC_MODELS, settings), [unread, half]);
    assert.deepEqual(voiceWarnings(taking({ manner: "words" }), settings), []);
    const named = (name: string) =>
      `The instructions of voices.${name} change nothing, because no model that speaks with it follows instructions: leave them out.`;
    assert.deepEqual(voiceWarnings(taking({}), settings), ["nova", "onyx", "anna"].map(named));
    const [words] = taking({ manner: "words" });
    const others = { ...words!, card: { ...words!.card, voices: [], speakers: [] } };
    assert.deepEqual(voiceWarnings([...PUBLIC_MODELS, others], settings), [unread, half]);
  });

  test("are reported if no model follows recordings", () => {
    const settings = settingsWith({ anna: "anna.wav" });
    assert.deepEqual(voiceWarnings(PUBLIC_MODELS, settings), []);
    assert.deepEqual(voiceWarnings(taking({ samples: false }), settings), [
      "No model speaks with voices.anna, because none of them follows a recording: remove it, or have a model spoken by one that does (docs/voices.md).",
    ]);
  });

  test("of keys are reported if their names have come to mean a model's voice", () => {
    const kept = (name: string, voiceId: string) => ({ ...RECORD, name, voiceId });
    assert.equal(takenNamesWarning(PUBLIC_MODELS, [kept("Anna", "voice_a")]), null);
    const warning = takenNamesWarning(PUBLIC_MODELS, [kept("Anna", "voice_a"), kept("MAYA", "voice_m")]);
    assert.match(warning!, /^A model now has voices of the same names .* by id: voice_m of key_a \(/);
    const many = Array.from({ length: 25 }, (_, at) => kept("Theo", `voice_${at}`));
    assert.match(takenNamesWarning(PUBLIC_MODELS, many)!, /voice_19 of key_a and 5 more \(/);
  });

  test("are the same by label and by name", () => {
    const card = { ...model!.card, voices: [model!.card.voices[0]!], labels: { "0": "0", "1": "0" } };
    const labelled = [{ ...model!, card }];
    const both = settingsWith({ "1": { instructions: "sad" }, nova: { instructions: "calm" } });
    assert.throws(() => withVoiceManners(labelled, both), /voices\.nova means the same voice .* as voices/);
    const [one] = withVoiceManners(labelled, settingsWith({ "1": { instructions: "sad" } }));
    assert.deepEqual([...one!.manners!.keys()], ["0"]);
    const resolve = () => one!;
    for (const request of [
      { text: "Hi.", speaker: "1" },
      { text: "Hi.", voice: "nova" },
    ])
      assert.equal(buildScript(resolveTts(request, resolve), {}).manner?.words, "sad");
  });

  const wrong: readonly [string, object, RegExp][] = [
    ["a missing file", { anna: "none.wav" }, /voices\.anna cannot be used\. The file .* cannot be/],
    ["a short file", { anna: "short.wav" }, /voices\.anna cannot be used\. .* has 0\.5 s of sound/],
    ["a name of a model's voice", { nova: "anna.wav" }, /voices\.nova is that of a voice of the model/],
    ["one name twice", { Benny: "anna.wav", benny: "anna.wav" }, /benny has the same name as voices\.Benny/],
    ["a name like an id", { voice_a: "anna.wav" }, /voices\.voice_a begins as ids do/],
  ];
  for (const [what, voices, message] of wrong) {
    test(`are refused at start with ${what}`, async () => {
      await assert.rejects(readServerVoices(settingsWith(voices), PUBLIC_MODELS), (error) => {
        assert.ok(error instanceof SettingsError);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test("speak for every key, are listed without one, and reserve their names", async (t) => {
    const serverVoices = await readServerVoices(settingsWith({ anna: "anna.wav" }), PUBLIC_MODELS);
    const server = await startTestServer({ serverVoices });
    t.after(() => server.stop());
    const { auth } = await server.another();
    const body = { input: "Hi.", voice: "Anna", response_format: "pcm" };
    assert.equal((await server.post("/v1/audio/speech", body, auth)).status, 200);
    const { data, voices } = await (await server.get(VOICES, {})).json();
    assert.deepEqual([data.at(-1).id, data.at(-1).owner, data.at(-1).seconds], ["anna", "server", 3]);
    assert.deepEqual(voices.at(-1), { id: "anna", name: "anna" });
    const { error } = await (await addVoice(server)).json();
    assert.match(error.message, /^name "[^"]+" is that of a voice of the server: take another$/);
  });
});
