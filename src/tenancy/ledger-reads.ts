import type Database from "libsql";
import { type KeyRow, keyOf, type TotalsRow, totalsOf } from "./ledger-rows.ts";
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
