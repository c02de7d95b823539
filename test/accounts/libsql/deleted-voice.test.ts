import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { libsqlStore } from "../../../src/accounts/libsql/libsql-store.ts";
import { newVoiceId, type Store, type VoiceRecord } from "../../../src/accounts/store.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { until } from "../../waiting.ts";

const KEY = { keyId: "key_1", label: "a", rpm: 60, burst: 10, createdTsS: 1, revokedTsS: null };

interface StoredVoice {
  readonly voice: VoiceRecord;
  readonly audio: Buffer;
}

async function addVoices(store: Store, count: number): Promise<StoredVoice[]> {
  await store.createKey(KEY, "0".repeat(64));
  const added: StoredVoice[] = [];
  for (let at = 0; at < count; at++) {
    const voice: VoiceRecord = {
      voiceId: newVoiceId(),
      keyId: KEY.keyId,
      name: `Marguerite the ${at}th`,
      description: `Sounds like no other, ${at}.`,
      refText: `Aubergine marmalade, ${at}.`,
      consent: `I, Marguerite ${at}, agree.`,
      createdTsS: at,
      durationS: 4,
      trust: 1,
      cautions: [],
    };
    const audio = randomBytes(150_000);
    assert.equal(await store.addVoice(voice, audio, 100), "added");
    added.push({ voice, audio });
  }
  return added;
}

/** Returns which traces of a voice the files of a folder contain. */
function tracesIn(folder: string, { voice, audio }: StoredVoice): string[] {
  const { voiceId, name, description, refText, consent } = voice;
  const parts = { voiceId, name, description, refText: refText ?? "", consent };
  const sought: [string, Buffer][] = Object.entries(parts).map(([what, text]) => [what, Buffer.from(text)]);
  for (const at of [0, 1_000, 70_000, 149_000]) sought.push([`audio at ${at}`, audio.subarray(at, at + 32)]);
  return readdirSync(folder).flatMap((file) => {
    const bytes = readFileSync(join(folder, file));
    return sought.filter(([, part]) => bytes.includes(part)).map(([what]) => `${what} in ${file}`);
  });
}

describe("a deleted voice", () => {
  for (const [how, remove] of [
    [
      "one by one",
      async (store: Store, voices: StoredVoice[]) => {
        for (const { voice } of voices) assert.ok(await store.removeVoice(KEY.keyId, voice.voiceId));
      },
    ],
    ["with their key", async (store: Store) => assert.ok(await store.revokeKey(KEY.keyId, 9))],
  ] as const) {
    it(`leaves no byte in any file when voices are deleted ${how}, while the store is open`, async () => {
      const folder = temporaryFolder();
      const store = await libsqlStore(folder);
      try {
        const voices = await addVoices(store, 8);
        assert.ok(tracesIn(folder, voices[0]!).length >= 9, "all of it is there before");
        await remove(store, voices);
        await until("nothing is left", () => voices.every((voice) => tracesIn(folder, voice).length === 0));
      } finally {
        await store.close();
      }
    });
  }

  it("leaves the other voices as they were", async () => {
    const folder = temporaryFolder();
    const store = await libsqlStore(folder);
    try {
      const [first, ...others] = await addVoices(store, 4);
      await store.removeVoice(KEY.keyId, first!.voice.name);
      for (const { voice, audio } of others)
        assert.deepEqual(Buffer.from((await store.voiceAudio(voice.voiceId))!), audio);
      await until("nothing is left", () => tracesIn(folder, first!).length === 0);
    } finally {
      await store.close();
    }
  });
});
