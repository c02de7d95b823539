import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  type KeyRecord,
  newEventId,
  type Store,
  StoreError,
  type UsageRecord,
  type VoiceRecord,
} from "../../src/accounts/store.ts";

const HASH_A = "a".repeat(64);
const HASH_B = "b".repeat(64);

/** Tests that every store has to pass. `open` returns a new, empty one. */
export function storeConformance(name: string, open: () => Promise<Store>): void {
  describe(`a store: ${name}`, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    after(() => store.close());

    it("is empty at first", async () => {
      assert.deepEqual(await store.listKeys(), []);
      assert.deepEqual(await store.totals(), []);
      assert.equal(await store.findKey(HASH_A), null);
    });

    it("finds a key by its hash, and lists keys oldest first", async () => {
      const older = keyRecord("key_older", 1.5);
      const newer = keyRecord("key_newer", 2.25);
      await store.createKey(older, HASH_A);
      await store.createKey(newer, HASH_B);
      assert.deepEqual(await store.findKey(HASH_A), { key: older, hash: HASH_A });
      assert.deepEqual(await store.listKeys(), [older, newer]);
      assert.equal(await store.findKey("c".repeat(64)), null);
    });

    it("refuses a second key with the same id or hash", async () => {
      await assert.rejects(store.createKey(keyRecord("key_older", 3), "d".repeat(64)), StoreError);
      await assert.rejects(store.createKey(keyRecord("key_other", 3), HASH_A), StoreError);
      assert.equal((await store.listKeys()).length, 2);
    });

    it("updates the given values of a key, and returns null for an unknown or revoked one", async () => {
      const changes = { rpm: 30, label: "Büro 2" };
      const updated = { ...keyRecord("key_older", 1.5), ...changes };
      assert.deepEqual(await store.updateKey("key_older", changes), updated);
      assert.deepEqual(await store.findKey(HASH_A), { key: updated, hash: HASH_A });
      assert.deepEqual(await store.updateKey("key_older", { burst: 4 }), { ...updated, burst: 4 });
      assert.equal(await store.updateKey("key_nobody", { burst: 4 }), null);
    });

    it("revokes a key once, and keeps the time", async () => {
      assert.equal(await store.revokeKey("key_newer", 10.5), true);
      assert.equal((await store.findKey(HASH_B))?.key.revokedTsS, 10.5);
      assert.equal(await store.revokeKey("key_newer", 11), true);
      assert.equal((await store.listKeys())[1]?.revokedTsS, 10.5);
      assert.equal(await store.updateKey("key_newer", { burst: 4 }), null);
      assert.equal(await store.revokeKey("key_nobody", 12), false);
    });

    it("has zeros for an unused key, and nothing for an unknown one", async () => {
      const zeros = { requests: 0, inputChars: 0, inputAudioS: 0, outputAudioS: 0, lastRequestTsS: null };
      assert.deepEqual(await store.totals("key_older"), [{ keyId: "key_older", ...zeros }]);
      assert.deepEqual(await store.totals("key_nobody"), []);
    });

    it("adds up usage per key, with the newest time", async () => {
      await store.commit([
        usage("1", "key_older", 5.5),
        usage("2", "key_newer", 6),
        usage("3", "key_older", 4),
      ]);
      await store.commit([]);
      const [older, newer] = await store.totals();
      assert.deepEqual(older, {
        keyId: "key_older",
        requests: 2,
        inputChars: 20,
        inputAudioS: 1,
        outputAudioS: 0.16,
        lastRequestTsS: 5.5,
      });
      assert.equal(newer?.requests, 1);
    });

    it("counts an event once, however often it is committed", async () => {
      const before = await store.totals();
      await store.commit([usage("1", "key_older", 99), usage("1", "key_older", 99)]);
      await store.commit([usage("2", "key_newer", 99)]);
      assert.deepEqual(await store.totals(), before);
      await store.commit([usage("4", "key_newer", 7), usage("4", "key_newer", 7)]);
      assert.equal((await store.totals("key_newer"))[0]?.requests, 2);
    });

    it("commits all of a group or nothing", async () => {
      const before = await store.totals();
      const group = [usage("5", "key_older", 8), usage("6", "key_nobody", 8)];
      await assert.rejects(store.commit(group), StoreError);
      assert.deepEqual(await store.totals(), before);
      await store.commit([usage("5", "key_older", 8)]);
      assert.equal((await store.totals("key_older"))[0]?.requests, 3);
    });

    it("shows changes at once", async () => {
      for (let round = 0; round < 50; round++) {
        const keyId = `key_round${round}`;
        const hash = `${round}`.padStart(64, "0");
        assert.equal(await store.findKey(hash), null);
        await store.createKey(keyRecord(keyId, 30 + round), hash);
        assert.equal((await store.findKey(hash))?.key.revokedTsS, null);
        await store.commit([usage(`round${round}`, keyId, 1)]);
        assert.equal((await store.totals(keyId))[0]?.requests, 1);
        await store.revokeKey(keyId, 40);
        assert.equal((await store.findKey(hash))?.key.revokedTsS, 40);
        assert.equal((await store.listKeys()).at(-1)?.keyId, keyId);
      }
    });

    it("adds up a hundred thousand odd durations exactly", async () => {
      await store.createKey(keyRecord("key_sums", 20), "e".repeat(64));
      const records = Array.from({ length: 100_000 }, (_, i) => ({
        ...usage(`sum${i}`, "key_sums", 1),
        inputAudioS: 1 / 44_100,
        outputAudioS: 0.1,
      }));
      for (let i = 0; i < records.length; i += 10_000) await store.commit(records.slice(i, i + 10_000));
      const [sums] = await store.totals("key_sums");
      assert.equal(sums?.inputAudioS, 100_000 / 44_100);
      assert.equal(sums?.outputAudioS, 10_000);
    });

    it("makes one first key for concurrent callers, and none if any exists", async () => {
      const other = await open();
      try {
        const all = Array.from({ length: 8 }, (_, i) =>
          other.createFirstKey(keyRecord(`key_${i}`, 1), `${i}`.repeat(64)),
        );
        const made = await Promise.all(all);
        assert.equal(made.filter((isMade) => isMade).length, 1);
        const keyId = `key_${made.indexOf(true)}`;
        assert.deepEqual(await other.listKeys(), [keyRecord(keyId, 1)]);
        assert.equal((await other.totals(keyId))[0]?.requests, 0);
        await other.revokeKey(keyId, 2);
        assert.equal(await other.createFirstKey(keyRecord("key_late", 3), HASH_A), false);
        assert.equal((await other.listKeys()).length, 1);
      } finally {
        await other.close();
      }
    });

    it("keeps a key's voices, and finds them by id or name in any case", async () => {
      await store.createKey(keyRecord("key_voices", 50), "7".repeat(64));
      await store.createKey(keyRecord("key_strange", 51), "8".repeat(64));
      const anna = voiceRecord("voice_a", "key_voices", "Anna Ω", 1);
      const ben = { ...voiceRecord("voice_b", "key_voices", "Ben", 2), refText: null, cautions: [] };
      const sound = Uint8Array.from({ length: 300_000 }, (_, at) => at % 251);
      assert.equal(await store.addVoice(anna, sound, 2), "added");
      assert.equal(await store.addVoice(ben, sound.subarray(5, 9), 2), "added");
      assert.deepEqual(await store.listVoices("key_voices"), [anna, ben]);
      assert.deepEqual(await store.listVoices("key_strange"), []);
      assert.deepEqual(await store.listVoices(), [anna, ben]);
      for (const asked of ["voice_a", "Anna Ω", "aNNA ω"])
        assert.deepEqual(await store.findVoice("key_voices", asked), anna);
      for (const asked of ["voice_A", "Ann", "", "voice_a%"])
        assert.equal(await store.findVoice("key_voices", asked), null);
      assert.equal(await store.findVoice("key_strange", "voice_a"), null);
      assert.deepEqual(await store.voiceAudio("voice_a"), sound);
      assert.deepEqual([...(await store.voiceAudio("voice_b"))!], [5, 6, 7, 8]);
      assert.equal(await store.voiceAudio("voice_c"), null);
    });

    it("limits voices per key, with unique names", async () => {
      const again = voiceRecord("voice_c", "key_voices", "ben", 3);
      assert.equal(await store.addVoice(again, new Uint8Array(1), 3), "taken");
      assert.equal(await store.addVoice({ ...again, name: "Cleo" }, new Uint8Array(1), 2), "full");
      assert.equal(await store.addVoice({ ...again, keyId: "key_strange" }, new Uint8Array(1), 1), "added");
      await assert.rejects(
        store.addVoice(voiceRecord("voice_d", "key_nobody", "D", 1), new Uint8Array(1), 1),
        StoreError,
      );
      await store.createKey(keyRecord("key_many", 52), "9".repeat(64));
      const all = Array.from({ length: 8 }, (_, i) =>
        store.addVoice(voiceRecord(`voice_m${i}`, "key_many", `Voice ${i}`, i), new Uint8Array(1), 3),
      );
      assert.equal((await Promise.all(all)).filter((outcome) => outcome === "added").length, 3);
      assert.equal((await store.listVoices("key_many")).length, 3);
    });

    it("deletes a voice of the key, once, and all of a revoked key", async () => {
      assert.equal(await store.removeVoice("key_strange", "voice_a"), null);
      assert.equal((await store.removeVoice("key_voices", "ANNA ω"))?.voiceId, "voice_a");
      assert.equal(await store.removeVoice("key_voices", "voice_a"), null);
      assert.equal(await store.voiceAudio("voice_a"), null);
      assert.equal((await store.listVoices("key_voices")).length, 1);
      await store.revokeKey("key_many", 60);
      assert.deepEqual(await store.listVoices("key_many"), []);
      assert.equal((await store.listVoices("key_strange")).length, 1);
      await store.revokeKey("key_strange", 60);
      await store.revokeKey("key_voices", 60);
      assert.deepEqual(await store.listVoices(), []);
    });

    it("keeps no voice of a key that is revoked meanwhile", async () => {
      const late = voiceRecord("voice_late", "key_many", "Late", 61);
      assert.equal(await store.addVoice(late, new Uint8Array(1), 3), "revoked");
      for (let i = 0; i < 8; i++) {
        const keyId = `key_racing${i}`;
        await store.createKey(keyRecord(keyId, 62), `ab${i}`.padEnd(64, "0"));
        const voice = voiceRecord(`voice_racing${i}`, keyId, "Racing", 63);
        await Promise.all([store.addVoice(voice, new Uint8Array(100_000), 3), store.revokeKey(keyId, 64)]);
      }
      assert.deepEqual(await store.listVoices(), []);
    });

    it("rejects everything with a StoreError after close", async () => {
      const other = await open();
      await other.close();
      await other.close();
      await assert.rejects(
        other.listKeys(),
        (error) => error instanceof StoreError && error.problem === "closed",
      );
      await assert.rejects(other.commit([usage("9", "key_older", 1)]), StoreError);
    });
  });
}

function keyRecord(keyId: string, createdTsS: number): KeyRecord {
  return { keyId, label: `${keyId} – Ω`, rpm: 600, burst: 60, createdTsS, revokedTsS: null };
}

export function voiceRecord(voiceId: string, keyId: string, name: string, createdTsS: number): VoiceRecord {
  return {
    voiceId,
    keyId,
    name,
    description: "„A voice“",
    refText: "It’s a 𝄞.",
    consent: "She agrees.",
    createdTsS,
    durationS: 7.25,
    trust: 0.75,
    cautions: ["noise", "short"],
  };
}

const eventIds = new Map<string, string>();

function usage(event: string, keyId: string, tsS: number): UsageRecord {
  const eventId = eventIds.get(event) ?? newEventId();
  eventIds.set(event, eventId);
  return { eventId, keyId, inputChars: 10, inputAudioS: 0.5, outputAudioS: 0.08, tsS };
}
