import type Database from "libsql";
import {
  type KeyRow,
  keyOf,
  type TotalsRow,
  toTicks,
  totalsOf,
  VOICE_COLUMNS,
  type VoiceRow,
  voiceOf,
  voiceValues,
} from "../rows.ts";
import {
  type KeyRecord,
  nameKeyOf,
  type UsageRecord,
  type UsageTotals,
  type VoiceAdded,
  type VoiceRecord,
} from "../store.ts";
import { inTransaction } from "./libsql-database.ts";

/** What a store reads from an open database; each blocks until it is done. */
export interface LedgerReads extends VoiceReads {
  findKey(hash: string): { readonly key: KeyRecord; readonly hash: string } | null;
  listKeys(): KeyRecord[];
  totals(keyId?: string): UsageTotals[];
}

/**
 * Prepares the statements once. Single parameters are bound as an array, since the binding takes a lone object, null
 * among them, for named parameters. Throws what the database throws.
 */
export function readsOn(database: Database.Database): LedgerReads {
  const selectKey = database.prepare("SELECT * FROM keys WHERE hash = ?");
  const selectKeys = database.prepare("SELECT * FROM keys ORDER BY created_ts, key_id");
  // Two statements: one with an optional condition is planned as if it had none, and reads every key.
  const totals = `SELECT key_id, requests, input_chars, input_ticks, output_ticks, last_ts
    FROM keys LEFT JOIN usage_totals USING (key_id)`;
  const selectTotals = database.prepare(`${totals} ORDER BY created_ts, key_id`).safeIntegers();
  const selectTotalsOfKey = database.prepare(`${totals} WHERE key_id = ?`).safeIntegers();

  return {
    ...voiceReadsOn(database),
    findKey(hash) {
      const row = selectKey.get([hash]) as KeyRow | undefined;
      return row === undefined ? null : { key: keyOf(row), hash: row.hash };
    },
    listKeys() {
      return (selectKeys.all() as KeyRow[]).map(keyOf);
    },
    totals(keyId) {
      const rows = keyId === undefined ? selectTotals.all() : selectTotalsOfKey.all([keyId]);
      return (rows as TotalsRow[]).map(totalsOf);
    },
  };
}

/**
 * What a store writes to an open database; each blocks until it is done. What would be written after `lateAtMs` by the
 * monotonic clock is not.
 */
export interface LedgerWrites extends VoiceWrites {
  createKey(key: KeyRecord, hash: string, lateAtMs: number): void;
  /** False where there is a key already. */
  createFirstKey(key: KeyRecord, hash: string, lateAtMs: number): boolean;
  /** With its voices: nobody could use or delete them any more. */
  revokeKey(keyId: string, tsS: number, lateAtMs: number): boolean;
  commit(records: readonly UsageRecord[], lateAtMs: number): void;
}

/** Events are kept so that one that comes again is known; they are repeated within seconds, if at all. */
const EVENTS_KEPT_S = 86_400;
/** More than one, so that what was left over is caught up with; few, so that no commit takes long. */
const FORGOTTEN_AN_EVENT = 4;

/** Prepares the statements once. Throws what the database throws. */
export function writesOn(database: Database.Database): LedgerWrites {
  const insertKey = database.prepare(
    "INSERT INTO keys (key_id, hash, label, rpm, burst, created_ts, revoked_ts) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const selectAnyKey = database.prepare("SELECT 1 FROM keys LIMIT 1");
  const updateRevoked = database.prepare(
    "UPDATE keys SET revoked_ts = coalesce(revoked_ts, ?) WHERE key_id = ?",
  );
  const deleteVoices = database.prepare("DELETE FROM voices WHERE key_id = ?");
  const insertEvent = database.prepare(
    `INSERT INTO usage_events (event_id, key_id, input_chars, input_ticks, output_ticks, ts)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  // Ids that begin with their time (newEventId) lie in that order, so that the oldest are found without an index. Their age
  // is told by when they were recorded here; an id of another kind may be kept for longer, and never for less.
  const forgetOldestEvents = database.prepare(
    `DELETE FROM usage_events WHERE event_id IN (SELECT event_id FROM usage_events ORDER BY event_id LIMIT ?1)
     AND recorded_ts < unixepoch('subsec') - ${EVENTS_KEPT_S}`,
  );
  const addToTotals = database.prepare(
    `INSERT INTO usage_totals (key_id, requests, input_chars, input_ticks, output_ticks, last_ts)
     VALUES (?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       requests = requests + 1,
       input_chars = input_chars + excluded.input_chars,
       input_ticks = input_ticks + excluded.input_ticks,
       output_ticks = output_ticks + excluded.output_ticks,
       last_ts = max(last_ts, excluded.last_ts)`,
  );

  function count({ eventId, keyId, inputChars, inputAudioS, outputAudioS, tsS }: UsageRecord): void {
    const usage = [keyId, inputChars, toTicks(inputAudioS), toTicks(outputAudioS), tsS];
    const isNew = insertEvent.run([eventId, ...usage]).changes === 1;
    if (isNew) addToTotals.run(usage);
  }

  function insert({ keyId, label, rpm, burst, createdTsS, revokedTsS }: KeyRecord, hash: string): void {
    insertKey.run([keyId, hash, label, rpm, burst, createdTsS, revokedTsS]);
  }

  return {
    ...voiceWritesOn(database),
    createKey(key, hash, lateAtMs) {
      inTransaction(database, () => insert(key, hash), lateAtMs);
    },
    createFirstKey(key, hash, lateAtMs) {
      return inTransaction(
        database,
        () => {
          if (selectAnyKey.get() !== undefined) return false;
          insert(key, hash);
          return true;
        },
        lateAtMs,
      );
    },
    revokeKey(keyId, tsS, lateAtMs) {
      const revoke = (): boolean => {
        deleteVoices.run([keyId]);
        return updateRevoked.run(tsS, keyId).changes === 1;
      };
      return erasing(database, () => inTransaction(database, revoke, lateAtMs));
    },
    commit(records, lateAtMs) {
      inTransaction(
        database,
        () => {
          for (const record of records) count(record);
          forgetOldestEvents.run([FORGOTTEN_AN_EVENT * records.length]);
        },
        lateAtMs,
      );
    },
  };
}

/** What a store reads of voices from an open database; each blocks until it is done. */
export interface VoiceReads {
  listVoices(keyId?: string): VoiceRecord[];
  findVoice(keyId: string, idOrName: string): VoiceRecord | null;
  voiceAudio(voiceId: string): Uint8Array | null;
}

/** Finds by a key, an id and a folded name; where a voice has the other's id for a name, the id counts. */
const FOUND = `FROM voices WHERE key_id = ?1 AND (voice_id = ?2 OR name_key = ?3)
  ORDER BY voice_id = ?2 DESC LIMIT 1`;

/** Prepares the statements once. Throws what the database throws. */
export function voiceReadsOn(database: Database.Database): VoiceReads {
  const voicesWhere = (condition: string) =>
    database.prepare(`SELECT ${VOICE_COLUMNS} FROM voices ${condition} ORDER BY created_ts, voice_id`);
  const selectVoices = voicesWhere("");
  const selectVoicesOfKey = voicesWhere("WHERE key_id = ?");
  const selectVoice = database.prepare(`SELECT ${VOICE_COLUMNS} ${FOUND}`);
  const selectAudio = database.prepare("SELECT audio FROM voices WHERE voice_id = ?");
  return {
    listVoices(keyId) {
      const rows = keyId === undefined ? selectVoices.all() : selectVoicesOfKey.all([keyId]);
      return (rows as VoiceRow[]).map(voiceOf);
    },
    findVoice(keyId, idOrName) {
      const row = selectVoice.get([keyId, idOrName, nameKeyOf(idOrName)]) as VoiceRow | undefined;
      return row === undefined ? null : voiceOf(row);
    },
    voiceAudio(voiceId) {
      const row = selectAudio.get([voiceId]) as { readonly audio: Uint8Array } | undefined;
      // In a buffer of its own: the binding's may be a part of a larger one.
      return row === undefined ? null : new Uint8Array(row.audio);
    },
  };
}

/** What a store writes of voices; each blocks until it is done. What would be written after `lateAtMs` is not. */
export interface VoiceWrites {
  addVoice(voice: VoiceRecord, audio: Uint8Array, maxVoices: number, lateAtMs: number): VoiceAdded;
  removeVoice(keyId: string, idOrName: string, lateAtMs: number): VoiceRecord | null;
}

/** Prepares the statements once. Throws what the database throws. */
export function voiceWritesOn(database: Database.Database): VoiceWrites {
  const selectCount = database.prepare("SELECT count(*) AS voices FROM voices WHERE key_id = ?");
  const selectRevoked = database.prepare("SELECT 1 FROM keys WHERE key_id = ? AND revoked_ts IS NOT NULL");
  const insertVoice = database.prepare(
    `INSERT INTO voices (${VOICE_COLUMNS}, name_key, audio) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key_id, name_key) DO NOTHING`,
  );
  const selectVoice = database.prepare(`SELECT ${VOICE_COLUMNS} ${FOUND}`);
  const deleteVoice = database.prepare("DELETE FROM voices WHERE voice_id = ?");
  return {
    addVoice: (voice, audio, maxVoices, lateAtMs) =>
      inTransaction(
        database,
        () => {
          if (selectRevoked.get([voice.keyId]) !== undefined) return "revoked";
          const { voices } = selectCount.get([voice.keyId]) as { readonly voices: number };
          if (voices >= maxVoices) return "full";
          const values = [...voiceValues(voice), nameKeyOf(voice.name), Buffer.from(audio)];
          return insertVoice.run(values).changes === 1 ? "added" : "taken";
        },
        lateAtMs,
      ),
    removeVoice: (keyId, idOrName, lateAtMs) =>
      erasing(database, () =>
        inTransaction(
          database,
          () => {
            const row = selectVoice.get([keyId, idOrName, nameKeyOf(idOrName)]) as VoiceRow | undefined;
            if (row === undefined) return null;
            deleteVoice.run([row.voice_id]);
            return voiceOf(row);
          },
          lateAtMs,
        ),
      ),
  };
}

/** Has what `work` deletes overwritten in the file, too. */
export function erasing<T>(database: Database.Database, work: () => T): T {
  database.pragma("secure_delete = ON");
  try {
    return work();
  } finally {
    database.pragma("secure_delete = OFF");
  }
}
