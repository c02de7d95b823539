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
  type KeyChanges,
  type KeyRecord,
  nameKeyOf,
  type UsageRecord,
  type VoiceAdded,
  type VoiceRecord,
} from "../store.ts";
import { emptyLog, inTransaction } from "./libsql-database.ts";

/** Blocking reads from an open database. */
export type LedgerReads = ReturnType<typeof readsOn>;

/**
 * Prepares the statements. Passes single parameters as arrays, because the binding takes a lone object (or null) as
 * named parameters. Throws database errors.
 */
export function readsOn(database: Database.Database) {
  const selectKey = database.prepare("SELECT * FROM keys WHERE hash = ?");
  const selectKeys = database.prepare("SELECT * FROM keys ORDER BY created_ts, key_id");
  // Two statements: SQLite would plan one with an optional condition as a full scan.
  const totals = `SELECT key_id, requests, input_chars, input_ticks, output_ticks, last_ts
    FROM keys LEFT JOIN usage_totals USING (key_id)`;
  const selectTotals = database.prepare(`${totals} ORDER BY created_ts, key_id`).safeIntegers();
  const selectTotalsOfKey = database.prepare(`${totals} WHERE key_id = ?`).safeIntegers();

  return {
    ...voiceReadsOn(database),
    findKey(hash: string) {
      const row = selectKey.get([hash]) as KeyRow | undefined;
      return row === undefined ? null : { key: keyOf(row), hash: row.hash };
    },
    listKeys() {
      return (selectKeys.all() as KeyRow[]).map(keyOf);
    },
    totals(keyId?: string) {
      const rows = keyId === undefined ? selectTotals.all() : selectTotalsOfKey.all([keyId]);
      return (rows as TotalsRow[]).map(totalsOf);
    },
  };
}

/** Blocking writes to an open database. Skipped after `lateAtMs` (monotonic). */
export type LedgerWrites = ReturnType<typeof writesOn>;

/** How long events are kept to recognise repeated commits, which happen within seconds. */
const EVENTS_KEPT_S = 86_400;
/** More than one, to catch up with leftovers; few, to keep commits short. */
const FORGOTTEN_AN_EVENT = 4;

/** Prepares the statements. Throws database errors. */
export function writesOn(database: Database.Database) {
  const insertKey = database.prepare(
    "INSERT INTO keys (key_id, hash, label, rpm, burst, created_ts, revoked_ts) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const selectAnyKey = database.prepare("SELECT 1 FROM keys LIMIT 1");
  const updateValues = database.prepare(
    `UPDATE keys SET label = coalesce(?, label), rpm = coalesce(?, rpm), burst = coalesce(?, burst)
     WHERE key_id = ? AND revoked_ts IS NULL RETURNING *`,
  );
  const updateRevoked = database.prepare(
    "UPDATE keys SET revoked_ts = coalesce(revoked_ts, ?) WHERE key_id = ?",
  );
  const deleteVoices = database.prepare("DELETE FROM voices WHERE key_id = ?");
  const insertEvent = database.prepare(
    `INSERT INTO usage_events (event_id, key_id, input_chars, input_ticks, output_ticks, ts)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  // Ids from `newEventId` are ordered by time, so the oldest are found without an index. Age is measured by when they
  // were recorded; other ids may be kept longer, never shorter.
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
    createKey(key: KeyRecord, hash: string, lateAtMs: number) {
      inTransaction(database, () => insert(key, hash), lateAtMs);
    },
    /** Returns false if there already is a key. */
    createFirstKey(key: KeyRecord, hash: string, lateAtMs: number) {
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
    updateKey(keyId: string, { label, rpm, burst }: KeyChanges, lateAtMs: number) {
      const values = [label ?? null, rpm ?? null, burst ?? null, keyId];
      const update = () => updateValues.all(values) as KeyRow[];
      const [row] = inTransaction(database, update, lateAtMs);
      return row === undefined ? null : keyOf(row);
    },
    /** Also deletes the key's voices, which could not be used or deleted any more. */
    revokeKey(keyId: string, tsS: number, lateAtMs: number) {
      const revoke = (): boolean => {
        deleteVoices.run([keyId]);
        return updateRevoked.run(tsS, keyId).changes === 1;
      };
      const isRevoked = inTransaction(database, revoke, lateAtMs);
      emptyLog(database);
      return isRevoked;
    },
    commit(records: readonly UsageRecord[], lateAtMs: number) {
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

/** Finds by key and by id or folded name. If one voice's name is another's id, the id has precedence. */
const FOUND = `FROM voices WHERE key_id = ?1 AND (voice_id = ?2 OR name_key = ?3)
  ORDER BY voice_id = ?2 DESC LIMIT 1`;

function voiceReadsOn(database: Database.Database) {
  const voicesWhere = (condition: string) =>
    database.prepare(`SELECT ${VOICE_COLUMNS} FROM voices ${condition} ORDER BY created_ts, voice_id`);
  const selectVoices = voicesWhere("");
  const selectVoicesOfKey = voicesWhere("WHERE key_id = ?");
  const selectVoice = database.prepare(`SELECT ${VOICE_COLUMNS} ${FOUND}`);
  const selectAudio = database.prepare("SELECT audio FROM voices WHERE voice_id = ?");
  return {
    listVoices(keyId?: string) {
      const rows = keyId === undefined ? selectVoices.all() : selectVoicesOfKey.all([keyId]);
      return (rows as VoiceRow[]).map(voiceOf);
    },
    findVoice(keyId: string, idOrName: string) {
      const row = selectVoice.get([keyId, idOrName, nameKeyOf(idOrName)]) as VoiceRow | undefined;
      return row === undefined ? null : voiceOf(row);
    },
    voiceAudio(voiceId: string) {
      const row = selectAudio.get([voiceId]) as { readonly audio: Uint8Array } | undefined;
      // Copied, since the binding's buffer may be part of a larger one.
      return row === undefined ? null : new Uint8Array(row.audio);
    },
  };
}

function voiceWritesOn(database: Database.Database) {
  const selectCount = database.prepare("SELECT count(*) AS voices FROM voices WHERE key_id = ?");
  const selectRevoked = database.prepare("SELECT 1 FROM keys WHERE key_id = ? AND revoked_ts IS NOT NULL");
  const insertVoice = database.prepare(
    `INSERT INTO voices (${VOICE_COLUMNS}, name_key, audio) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key_id, name_key) DO NOTHING`,
  );
  const selectVoice = database.prepare(`SELECT ${VOICE_COLUMNS} ${FOUND}`);
  const deleteVoice = database.prepare("DELETE FROM voices WHERE voice_id = ?");
  return {
    addVoice: (voice: VoiceRecord, audio: Uint8Array, maxVoices: number, lateAtMs: number): VoiceAdded =>
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
    removeVoice(keyId: string, idOrName: string, lateAtMs: number) {
      const remove = (): VoiceRecord | null => {
        const row = selectVoice.get([keyId, idOrName, nameKeyOf(idOrName)]) as VoiceRow | undefined;
        if (row === undefined) return null;
        deleteVoice.run([row.voice_id]);
        return voiceOf(row);
      };
      const removed = inTransaction(database, remove, lateAtMs);
      if (removed !== null) emptyLog(database);
      return removed;
    },
  };
}
