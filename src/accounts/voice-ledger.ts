import type Database from "libsql";
import { inTransaction } from "./libsql-database.ts";
import { VOICE_COLUMNS, type VoiceRow, voiceOf, voiceValues } from "./voice-rows.ts";
import { nameKeyOf, type VoiceAdded, type VoiceRecord } from "./voice-store.ts";

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
