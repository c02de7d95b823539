import type Database from "libsql";
import { fromTicks } from "./audio-ticks.ts";
import type { KeyRecord, UsageTotals } from "./store.ts";

/** What a store reads from an open database; each blocks until it is done. */
export interface LedgerReads {
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
  const selectTotals = database
    .prepare(
      `SELECT key_id, requests, usage_totals.input_chars, input_ticks, output_ticks, last_ts
       FROM keys LEFT JOIN usage_totals USING (key_id)
       WHERE ?1 IS NULL OR key_id = ?1 ORDER BY created_ts, key_id`,
    )
    .safeIntegers();

  return {
    findKey(hash) {
      const row = selectKey.get([hash]) as KeyRow | undefined;
      return row === undefined ? null : { key: keyOf(row), hash: row.hash };
    },
    listKeys() {
      return (selectKeys.all() as KeyRow[]).map(keyOf);
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
