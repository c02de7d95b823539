import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import type { Store } from "../../../src/accounts/store.ts";
import { nameProblem } from "../../../src/contract/voice-form.ts";
import { parseVoice } from "../../../src/contract/voices.ts";
import type { Clip } from "../../../src/core/conversation.ts";
import type { VoiceSample } from "../../../src/core/script.ts";
import { CustomVoices } from "../../../src/serving/voices/custom-voices.ts";
import { memoryStore } from "../../accounts/memory-store.ts";

const VOICE = {
  ...{ voiceId: "voice_1", keyId: "key_a", name: "Anna", description: "", refText: null, consent: "Yes." },
  ...{ createdTsS: 1, durationS: 1, trust: 1, cautions: [] },
};
const CAST = { id: "m", speakers: ["0"], voices: [], takes: { mixes: false, samples: true } };

/** A store with one voice that other servers may delete and recreate. */
async function oneVoice(
  whileDecoding: (store: Store) => Promise<unknown> = async () => {},
  serverVoices: ReadonlyMap<string, VoiceSample> = new Map(),
) {
  const store = memoryStore();
  const key = { keyId: "key_a", label: "", rpm: 60, burst: 60, createdTsS: 1, revokedTsS: null };
  await store.createKey(key, "1".repeat(64));
  const make = () => store.addVoice(VOICE, new Uint8Array(4), 1);
  await make();
  const seen = { decoded: 0 };
  const decode = async (_audio: Uint8Array, digest: string): Promise<Clip> => {
    seen.decoded += 1;
    await whileDecoding(store);
    return { samples: new Float32Array(24), sampleRateHz: 24_000, durationS: 0.001, digest };
  };
  const voices = new CustomVoices({ store, cards: () => [], serverVoices, decode });
  const ask = () => voices.find({ name: "Anna", field: "voice" }, "key_a", CAST);
  return { voices, store, seen, make, ask };
}

test("concurrent requests for a voice decode its recording once", async () => {
  const { seen, ask } = await oneVoice();
  await Promise.all(Array.from({ length: 20 }, ask));
  await ask();
  assert.equal(seen.decoded, 1);
});

test("a configured voice hides a key's voice of the same name, which stays reachable by id", async () => {
  const clip: Clip = { samples: new Float32Array(8), sampleRateHz: 24_000, durationS: 0.002, digest: "a" };
  const team = { clip, text: null };
  const { ask, seen, voices } = await oneVoice(undefined, new Map([["ANNA", team]]));
  assert.deepEqual(await ask(), [{ weight: 1, sample: team }]);
  assert.equal(seen.decoded, 0);
  const [part] = await voices.find({ name: "voice_1", field: "voice" }, "key_a", CAST);
  assert.ok(part !== undefined && "sample" in part && part.sample.clip.digest === "voice_1");
});

test("a voice deleted by another server during decoding is not cached", async () => {
  const { seen, make, ask } = await oneVoice((shared) => shared.removeVoice("key_a", "voice_1"));
  await ask();
  await settled();
  await make();
  await ask();
  assert.equal(seen.decoded, 2);
});

test("a voice deleted by another server is dropped as soon as this server notices", async () => {
  const hears: ((on: Awaited<ReturnType<typeof oneVoice>>) => Promise<unknown>)[] = [
    ({ voices }) => voices.list("key_a"),
    ({ voices }) => voices.admit("key_a", "Ben"),
    ({ ask }) => assert.rejects(ask()),
    ({ voices }) => assert.rejects(voices.remove("key_a", "Anna")),
  ];
  for (const hear of hears) {
    const on = await oneVoice();
    await on.ask();
    await on.store.removeVoice("key_a", "Anna");
    await hear(on);
    await on.make();
    await on.ask();
    assert.equal(on.seen.decoded, 2, `${hear}`);
  }
});

test("an unused recording is dropped within ten minutes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { seen, ask } = await oneVoice();
  for (let minute = 0; minute < 30; minute += 4) {
    await ask();
    t.mock.timers.tick(240_000);
  }
  assert.equal(seen.decoded, 1);
  t.mock.timers.tick(300_000);
  t.mock.timers.tick(300_000);
  await ask();
  assert.equal(seen.decoded, 2);
});

test("a name that normalises to an id, a path or a mix is rejected", () => {
  for (const name of ["ｖｏｉｃｅ＿abc", "a／b", "a＋b", "a（2）", "．．"])
    assert.notEqual(nameProblem(name), null);
});

test("a weight that would round to zero is rejected", () => {
  assert.throws(() => parseVoice(`a(0.${"0".repeat(320)}5)+b(1000)`, "voice"), /from 0\.001 to 1000/);
});
