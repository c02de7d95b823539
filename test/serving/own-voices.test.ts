import assert from "node:assert/strict";
import { test } from "node:test";
import { nameProblem } from "../../src/contract/voice-form.ts";
import { readVoice } from "../../src/contract/voice-word.ts";
import type { Clip } from "../../src/model/conversation.ts";
import { OwnVoices } from "../../src/serving/own-voices.ts";
import { memoryStore } from "../tenancy/memory-store.ts";

test("requests for a voice that come together read and decode its recording once", async () => {
  const store = memoryStore();
  const key = { keyId: "key_a", label: "", rpm: 60, burst: 60, createdTsS: 1, revokedTsS: null };
  await store.createKey(key, "1".repeat(64));
  const told = { description: "", refText: null, consent: "Yes.", createdTsS: 1, durationS: 1, trust: 1 };
  const voice = { ...told, voiceId: "voice_1", keyId: "key_a", name: "Anna", cautions: [] };
  await store.addVoice(voice, new Uint8Array(4), 1);
  let decoded = 0;
  const decode = async (_audio: Uint8Array, digest: string): Promise<Clip> => {
    decoded += 1;
    return { samples: new Float32Array(24), sampleRateHz: 24_000, durationS: 0.001, digest };
  };
  const voices = new OwnVoices({ store, cards: () => [], house: new Map(), decode });
  const cast = { id: "m", speakers: ["0"], voices: [], takes: { mixes: false, samples: true } };
  await Promise.all(
    Array.from({ length: 20 }, () => voices.chosen({ name: "Anna", field: "voice" }, "key_a", cast)),
  );
  assert.equal(decoded, 1);
});

test("a name that is compared as an id, a path or a mix is none", () => {
  for (const name of ["ｖｏｉｃｅ＿abc", "a／b", "a＋b", "a（2）", "．．"])
    assert.notEqual(nameProblem(name), null);
});

test("a weight so small that its share would be none is refused", () => {
  assert.throws(() => readVoice(`a(0.${"0".repeat(320)}5)+b(1000)`, "voice"), /from 0\.001 to 1000/);
});
