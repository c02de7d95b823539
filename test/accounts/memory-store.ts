import { fromTicks, toTicks } from "../../src/accounts/rows.ts";
import {
  type KeyRecord,
  nameKeyOf,
  type Store,
  StoreError,
  type UsageRecord,
  type UsageTotals,
  type VoiceRecord,
} from "../../src/accounts/store.ts";

interface Meter {
  requests: number;
  inputChars: number;
  inputTicks: bigint;
  outputTicks: bigint;
  lastRequestTsS: number | null;
}

/** Keys and usage in memory. */
export function memoryStore(): Store {
  const keys = new Map<string, { key: KeyRecord; readonly hash: string }>();
  const meters = new Map<string, Meter>();
  const events = new Set<string>();
  const voices: { readonly voice: VoiceRecord; readonly audio: Uint8Array }[] = [];
  let closed = false;

  function check(): void {
    if (closed) throw new StoreError("closed", "The store of keys and usage is closed: open it again.");
  }

  function create(key: KeyRecord, hash: string): void {
    check();
    if (keys.has(key.keyId) || [...keys.values()].some((kept) => kept.hash === hash)) {
      throw new StoreError("failed", `The key ${key.keyId} is there already: make another.`);
    }
    keys.set(key.keyId, { key, hash });
    meters.set(key.keyId, {
      requests: 0,
      inputChars: 0,
      inputTicks: 0n,
      outputTicks: 0n,
      lastRequestTsS: null,
    });
  }

  function placeOf(keyId: string, idOrName: string): number {
    check();
    const own = (voice: VoiceRecord) => voice.keyId === keyId;
    const byId = voices.findIndex(({ voice }) => own(voice) && voice.voiceId === idOrName);
    if (byId >= 0) return byId;
    return voices.findIndex(({ voice }) => own(voice) && nameKeyOf(voice.name) === nameKeyOf(idOrName));
  }

  return {
    async addVoice(voice, audio, maxVoices) {
      check();
      if (!keys.has(voice.keyId)) throw new StoreError("failed", `There is no key ${voice.keyId}.`);
      if (keys.get(voice.keyId)?.key.revokedTsS != null) return "revoked";
      if (voices.filter((each) => each.voice.keyId === voice.keyId).length >= maxVoices) return "full";
      if (placeOf(voice.keyId, voice.name) >= 0) return "taken";
      voices.push({ voice, audio: audio.slice() });
      return "added";
    },

    async listVoices(keyId) {
      check();
      return voices.map(({ voice }) => voice).filter((voice) => keyId === undefined || voice.keyId === keyId);
    },

    async findVoice(keyId, idOrName) {
      return voices[placeOf(keyId, idOrName)]?.voice ?? null;
    },

    async voiceAudio(voiceId) {
      check();
      return voices.find(({ voice }) => voice.voiceId === voiceId)?.audio.slice() ?? null;
    },

    async removeVoice(keyId, idOrName) {
      const place = placeOf(keyId, idOrName);
      return place < 0 ? null : voices.splice(place, 1)[0]!.voice;
    },

    async createKey(key, hash) {
      create(key, hash);
    },

    async createFirstKey(key, hash) {
      check();
      if (keys.size > 0) return false;
      create(key, hash);
      return true;
    },

    async findKey(hash) {
      check();
      return [...keys.values()].find((kept) => kept.hash === hash) ?? null;
    },

    async listKeys() {
      check();
      return [...keys.values()].map(({ key }) => key);
    },

    async updateKey(keyId, { label, rpm, burst }) {
      check();
      const kept = keys.get(keyId);
      if (kept === undefined || kept.key.revokedTsS !== null) return null;
      const { key: old } = kept;
      const key = { ...old, label: label ?? old.label, rpm: rpm ?? old.rpm, burst: burst ?? old.burst };
      keys.set(keyId, { ...kept, key });
      return key;
    },

    async revokeKey(keyId, tsS) {
      check();
      const kept = keys.get(keyId);
      if (kept === undefined) return false;
      const others = voices.filter(({ voice }) => voice.keyId !== keyId);
      voices.splice(0, voices.length, ...others);
      if (kept.key.revokedTsS === null) keys.set(keyId, { ...kept, key: { ...kept.key, revokedTsS: tsS } });
      return true;
    },

    async commit(records) {
      check();
      const stranger = records.find(({ keyId }) => !keys.has(keyId));
      if (stranger !== undefined) {
        throw new StoreError("failed", `There is no key ${stranger.keyId} to meter: nothing was counted.`);
      }
      for (const record of records) {
        if (events.has(record.eventId)) continue;
        events.add(record.eventId);
        count(meters.get(record.keyId)!, record);
      }
    },

    async totals(keyId) {
      check();
      const asked = keyId === undefined ? [...meters] : [...meters].filter(([id]) => id === keyId);
      return asked.map(([id, meter]) => totalsOf(id, meter));
    },

    isWell: () => true,

    async close() {
      closed = true;
    },
  };
}

function count(meter: Meter, record: UsageRecord): void {
  meter.requests += 1;
  meter.inputChars += record.inputChars;
  meter.inputTicks += BigInt(toTicks(record.inputAudioS));
  meter.outputTicks += BigInt(toTicks(record.outputAudioS));
  meter.lastRequestTsS = Math.max(meter.lastRequestTsS ?? record.tsS, record.tsS);
}

function totalsOf(keyId: string, meter: Meter): UsageTotals {
  return {
    keyId,
    requests: meter.requests,
    inputChars: meter.inputChars,
    inputAudioS: fromTicks(meter.inputTicks),
    outputAudioS: fromTicks(meter.outputTicks),
    lastRequestTsS: meter.lastRequestTsS,
  };
}
