import type Database from "libsql";
import { fromTicks, toTicks } from "./audio-ticks.ts";
import { inTransaction } from "./libsql-database.ts";
import type { KeyRecord, UsageRecord, UsageTotals } from "./store.ts";

/**
 * The operations of a store on an open database, each of which blocks until it is done. What is to be written is not,
 * where that would be after `lateAtMs` by the monotonic clock.
 */
export interface Ledger {
  createKey(key: KeyRecord, hash: string, lateAtMs: number): void;
  findKey(hash: string): { readonly key: KeyRecord; readonly hash: string } | null;
  listKeys(): KeyRecord[];
  revokeKey(keyId: string, tsS: number, lateAtMs: number): boolean;
  commit(records: readonly UsageRecord[], lateAtMs: number): void;
  totals(keyId?: string): UsageTotals[];
}

/**
 * Prepares the statements once. Single parameters are bound as an array, since the binding takes a lone object, null
 * among them, for named parameters. Throws what the database throws.
 */
export function ledgerOn(database: Database.Database): Ledger {
  const insertKey = database.prepare(
    "INSERT INTO keys (key_id, hash, label, rpm, burst, created_ts, revoked_ts) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const selectKey = database.prepare("SELECT * FROM keys WHERE hash = ?");
  const selectKeys = database.prepare("SELECT * FROM keys ORDER BY created_ts, key_id");
  const updateRevoked = database.prepare(
    "UPDATE keys SET revoked_ts = coalesce(revoked_ts, ?) WHERE key_id = ?",
  );
  const insertEvent = database.prepare(
    `INSERT INTO usage_events (event_id, key_id, input_chars, input_ticks, output_ticks, ts)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
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
  const selectTotals = database
    .prepare(
      `SELECT key_id, requests, usage_totals.input_chars, input_ticks, output_ticks, last_ts
       FROM keys LEFT JOIN usage_totals USING (key_id)
       WHERE ?1 IS NULL OR key_id = ?1 ORDER BY created_ts, key_id`,
    )
    .safeIntegers();

  function count(record: UsageRecord): void {
    const { eventId, keyId, inputChars, tsS } = record;
    const inputTicks = toTicks(record.inputAudioS);
    const outputTicks = toTicks(record.outputAudioS);
    const { changes } = insertEvent.run(eventId, keyId, inputChars, inputTicks, outputTicks, tsS);
    if (changes === 1) addToTotals.run(keyId, inputChars, inputTicks, outputTicks, tsS);
  }

  return {
    createKey({ keyId, label, rpm, burst, createdTsS, revokedTsS }, hash, lateAtMs) {
      const row = [keyId, hash, label, rpm, burst, createdTsS, revokedTsS];
      inTransaction(database, () => insertKey.run(row), lateAtMs);
    },
    findKey(hash) {
      const row = selectKey.get([hash]) as KeyRow | undefined;
      return row === undefined ? null : { key: keyOf(row), hash: row.hash };
    },
    listKeys() {
      return (selectKeys.all() as KeyRow[]).map(keyOf);
    },
    revokeKey(keyId, tsS, lateAtMs) {
      return inTransaction(database, () => updateRevoked.run(tsS, keyId).changes === 1, lateAtMs);
    },
    commit(records, lateAtMs) {
      inTransaction(
        database,
        () => {
          for (const record of records) count(record);
        },
        lateAtMs,
      );
    },
    totals(keyId) {
      return (selectTotals.all([keyId ?? null]) as TotalsRow[]).map(totalsOf);
    },
  };
}

interface KeyRow {
  readonly key_id: string;
  readonly hash: string;
  readonly label: string;
  readonly rpm: number;
  readonly burst: number;
  readonly created_ts: number;
  readonly revoked_ts: number | null;
}

/** Integers as bigint; null where the key has no request yet. */
interface TotalsRow {
  readonly key_id: string;
  readonly requests: bigint | null;
  readonly input_chars: bigint | null;
  readonly input_ticks: bigint | null;
  readonly output_ticks: bigint | null;
  readonly last_ts: number | null;
}

function keyOf(row: KeyRow): KeyRecord {
  return {
    keyId: row.key_id,
    label: row.label,
    rpm: row.rpm,
    burst: row.burst,
    createdTsS: row.created_ts,
    revokedTsS: row.revoked_ts,
  };
}

function totalsOf(row: TotalsRow): UsageTotals {
  return {
    keyId: row.key_id,
    requests: Number(row.requests ?? 0n),
    inputChars: Number(row.input_chars ?? 0n),
    inputAudioS: fromTicks(row.input_ticks ?? 0n),
    outputAudioS: fromTicks(row.output_ticks ?? 0n),
    lastRequestTsS: row.last_ts,
  };
}
