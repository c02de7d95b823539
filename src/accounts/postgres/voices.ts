import type { QueryConfig } from "pg";
import { VOICE_COLUMNS, type VoiceRow, voiceOf, voiceValues } from "../voice-rows.ts";
import { nameKeyOf, type VoiceStore } from "../voice-store.ts";
import type { RetryingDatabase } from "./retrying-database.ts";

/** The voices of a store in a schema. */
export function voicesIn(database: RetryingDatabase, schema: string, timeoutMs: number): VoiceStore {
  const { connections } = database;
  const voices = `"${schema}".voices`;
  /** Finds by a key, an id and a folded name; where a voice has the other's id for a name, the id counts. */
  const found = `FROM ${voices} WHERE key_id = $1 AND (voice_id = $2 OR name_key = $3)
    ORDER BY voice_id = $2 DESC LIMIT 1`;
  const asked = (keyId: string, idOrName: string) => [keyId, idOrName, nameKeyOf(idOrName)];
  const one = async (statement: QueryConfig) =>
    database.retry(timeoutMs, async ({ untilMs }) => {
      const [row] = await connections.run<VoiceRow>(statement, untilMs);
      return row === undefined ? null : voiceOf(row);
    });
  return {
    addVoice: (voice, audio, maxVoices) =>
      database.retry(timeoutMs, ({ untilMs }) =>
        connections.transaction(async (run) => {
          // One after the other for each key, so that none is counted twice.
          const [key] = await run<{ is_revoked: boolean }>({
            text: `SELECT revoked_ts IS NOT NULL AS is_revoked FROM "${schema}".keys WHERE key_id = $1 FOR UPDATE`,
            values: [voice.keyId],
          });
          if (key?.is_revoked === true) return "revoked";
          const nameKey = nameKeyOf(voice.name);
          const rows = await run<{ voice_id: string; name_key: string }>({
            text: `SELECT voice_id, name_key FROM ${voices} WHERE key_id = $1`,
            values: [voice.keyId],
          });
          // A try whose answer was lost has kept it.
          if (rows.some(({ voice_id }) => voice_id === voice.voiceId)) return "added";
          if (rows.length >= maxVoices) return "full";
          if (rows.some(({ name_key }) => name_key === nameKey)) return "taken";
          await run({
            text: `INSERT INTO ${voices} (${VOICE_COLUMNS}, name_key, audio)
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
            values: [...voiceValues(voice), nameKey, Buffer.from(audio)],
          });
          return "added";
        }, untilMs),
      ),
    listVoices: (keyId) =>
      database.retry(timeoutMs, async ({ untilMs }) => {
        const text = `SELECT ${VOICE_COLUMNS} FROM ${voices}
                      ${keyId === undefined ? "" : "WHERE key_id = $1"} ORDER BY created_ts, voice_id COLLATE "C"`;
        const values = keyId === undefined ? [] : [keyId];
        return (await connections.run<VoiceRow>({ text, values }, untilMs)).map(voiceOf);
      }),
    findVoice: (keyId, idOrName) =>
      one({ text: `SELECT ${VOICE_COLUMNS} ${found}`, values: asked(keyId, idOrName) }),
    voiceAudio: (voiceId) =>
      database.retry(timeoutMs, async ({ untilMs }) => {
        const text = `SELECT audio FROM ${voices} WHERE voice_id = $1`;
        const [row] = await connections.run<{ audio: Buffer }>({ text, values: [voiceId] }, untilMs);
        return row === undefined ? null : new Uint8Array(row.audio);
      }),
    removeVoice: (keyId, idOrName) =>
      one({
        text: `DELETE FROM ${voices} WHERE voice_id = (SELECT voice_id ${found}) RETURNING ${VOICE_COLUMNS}`,
        values: asked(keyId, idOrName),
      }),
  };
}
