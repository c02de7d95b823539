import type { QueryConfig } from "pg";
import { type KeyRow, toTicks } from "../rows.ts";
import type { KeyChanges, KeyRecord, UsageRecord } from "../store.ts";

/** Result for one hash. */
export type FoundRow = (KeyRow | { readonly [Column in keyof KeyRow]: null }) & {
  /** Whether a standby answered, which may lag behind its primary. */
  readonly is_standby: boolean;
};

/**
 * Returns the statements of a store in a schema. Each is complete, qualifies its tables and is unnamed, so that it can
 * run on any connection, also through pgbouncer in transaction mode.
 *
 * @param schema a name without quotes, as in `store.schema`
 */
export function statementsIn(schema: string) {
  const keys = `"${schema}".keys`;
  const columns = "key_id, hash, label, rpm, burst, created_ts, revoked_ts";
  const valuesOf = (key: KeyRecord, hash: string) => [
    key.keyId,
    hash,
    key.label,
    key.rpm,
    key.burst,
    key.createdTsS,
    key.revokedTsS,
  ];
  const commitText = commitIn(schema);
  return {
    createKey: (key: KeyRecord, hash: string): QueryConfig => ({
      text: `INSERT INTO ${keys} (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      values: valuesOf(key, hash),
    }),
    /** Creates a key if there is none. Only under {@link migrationLock}. */
    createOnlyKey: (key: KeyRecord, hash: string): QueryConfig => ({
      text: `INSERT INTO ${keys} (${columns})
             SELECT $1, $2, $3, $4::integer, $5::integer, $6::double precision, $7::double precision
             WHERE NOT EXISTS (SELECT FROM ${keys}) RETURNING key_id`,
      values: valuesOf(key, hash),
    }),
    /** Returns one {@link FoundRow} per hash. */
    findKeys: (hashes: readonly string[]): QueryConfig => ({
      text: `SELECT pg_is_in_recovery() AS is_standby, key.*
             FROM unnest($1::text[]) AS asked (hash) LEFT JOIN ${keys} AS key ON key.hash = asked.hash`,
      values: [hashes],
    }),
    listKeys: (): QueryConfig => ({
      text: `SELECT ${columns} FROM ${keys} ORDER BY created_ts, key_id COLLATE "C"`,
    }),
    /** Returns the changed {@link KeyRow}; none for an unknown or revoked key. */
    updateKey: (keyId: string, { label, rpm, burst }: KeyChanges): QueryConfig => ({
      text: `UPDATE ${keys} SET label = coalesce($1, label), rpm = coalesce($2, rpm), burst = coalesce($3, burst)
             WHERE key_id = $4 AND revoked_ts IS NULL RETURNING ${columns}`,
      values: [label ?? null, rpm ?? null, burst ?? null, keyId],
    }),
    revokeKey: (keyId: string, tsS: number): QueryConfig => ({
      text: `UPDATE ${keys} SET revoked_ts = coalesce(revoked_ts, $1) WHERE key_id = $2 RETURNING key_id`,
      values: [tsS, keyId],
    }),
    /** Follows `revokeKey` in its transaction: a statement does not see rows that were added while it waited. */
    removeVoices: (keyId: string): QueryConfig => ({
      text: `DELETE FROM "${schema}".voices WHERE key_id = $1`,
      values: [keyId],
    }),
    commit: (records: readonly UsageRecord[]): QueryConfig => ({
      text: commitText,
      values: [
        records.map(({ eventId }) => eventId),
        records.map(({ keyId }) => keyId),
        records.map(({ inputChars }) => inputChars),
        records.map(({ inputAudioS }) => toTicks(inputAudioS)),
        records.map(({ outputAudioS }) => toTicks(outputAudioS)),
        records.map(({ tsS }) => tsS),
      ],
    }),
    totals: (keyId: string | null): QueryConfig => ({
      text: `SELECT key_id, requests, input_chars, input_ticks, output_ticks, last_ts
             FROM ${keys} LEFT JOIN "${schema}".usage_totals USING (key_id)
             ${keyId === null ? "" : "WHERE key_id = $1"} ORDER BY created_ts, key_id COLLATE "C"`,
      values: keyId === null ? [] : [keyId],
    }),
  };
}

/** Takes the lock for migrations and for creating the first key, until the transaction ends. */
export function migrationLock(schema: string): QueryConfig {
  return { text: "SELECT pg_advisory_xact_lock($1, hashtext($2))", values: [LOCKS, schema] };
}

/** Tries to take the same lock; the result is `is_held`. */
export function freeMigrationLock(schema: string): QueryConfig {
  return { text: "SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS is_held", values: [LOCKS, schema] };
}

/** Namespace of our advisory locks: `anti` in ASCII. */
const LOCKS = 0x616e7469;

/**
 * Commits a group: events first, then totals, in the same order on all servers to prevent deadlocks. Writes the
 * totals of every key even if nothing is added: a transaction without changes would be confirmed without waiting for
 * the disk and the standby, although an earlier attempt may still be waiting for them.
 */
function commitIn(schema: string): string {
  return `
    WITH given AS (
      SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::double precision[])
        AS one (event_id, key_id, input_chars, input_ticks, output_ticks, ts)
    ), fresh AS (
      INSERT INTO "${schema}".usage_events (event_id, key_id, input_chars, input_ticks, output_ticks, ts)
      SELECT * FROM given ORDER BY event_id
      ON CONFLICT DO NOTHING
      RETURNING key_id, input_chars, input_ticks, output_ticks, ts
    ), added AS (
      SELECT 1 AS requests, fresh.* FROM fresh
      UNION ALL SELECT 0, key_id, 0, 0, 0, NULL FROM given
    )
    INSERT INTO "${schema}".usage_totals AS total (key_id, requests, input_chars, input_ticks, output_ticks, last_ts)
    SELECT key_id, sum(requests), sum(input_chars), sum(input_ticks), sum(output_ticks), max(ts)
    FROM added GROUP BY key_id ORDER BY key_id
    ON CONFLICT (key_id) DO UPDATE SET
      requests = total.requests + excluded.requests,
      input_chars = total.input_chars + excluded.input_chars,
      input_ticks = total.input_ticks + excluded.input_ticks,
      output_ticks = total.output_ticks + excluded.output_ticks,
      last_ts = greatest(total.last_ts, excluded.last_ts)`;
}
