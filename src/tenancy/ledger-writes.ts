import type Database from "libsql";
import { toTicks } from "./audio-ticks.ts";
import { countedEventsOn } from "./counted-events.ts";
import { inTransaction } from "./libsql-database.ts";
import type { KeyRecord, UsageRecord } from "./store.ts";

/**
 * What a store writes to an open database; each blocks until it is done. What would be written after `lateAtMs` by the
 * monotonic clock is not.
 */
export interface LedgerWrites {
  createKey(key: KeyRecord, hash: string, lateAtMs: number): void;
  /** False where there is a key already. */
  createFirstKey(key: KeyRecord, hash: string, lateAtMs: number): boolean;
  revokeKey(keyId: string, tsS: number, lateAtMs: number): boolean;
  commit(records: readonly UsageRecord[], lateAtMs: number): void;
}

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
  const events = countedEventsOn(database);
  const addToTotals = database.prepare(
    `INSERT INTO usage_totals (key_id, requests, input_chars, input_ticks, output_ticks, last_ts)
     VALUES (?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       requests = requests + 1,
       input_chars = input_chars + excluded.input_chars,
       input_ticks = input_ticks + excluded.input_ticks,
       output_ticks = output_ticks + excluded.output_ticks,
       last_ts = max(last_ts, excluded.last_ts)`,
  );

  function count(record: UsageRecord): void {
    if (!events.remember(record)) return;
    const { keyId, inputChars, inputAudioS, outputAudioS, tsS } = record;
    addToTotals.run([keyId, inputChars, toTicks(inputAudioS), toTicks(outputAudioS), tsS]);
  }

  function insert({ keyId, label, rpm, burst, createdTsS, revokedTsS }: KeyRecord, hash: string): void {
    insertKey.run([keyId, hash, label, rpm, burst, createdTsS, revokedTsS]);
  }

  return {
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
      return inTransaction(database, () => updateRevoked.run(tsS, keyId).changes === 1, lateAtMs);
    },
    commit(records, lateAtMs) {
      inTransaction(
        database,
        () => {
          for (const record of records) count(record);
          events.forget(FORGOTTEN_AN_EVENT * records.length);
        },
        lateAtMs,
      );
    },
  };
}
