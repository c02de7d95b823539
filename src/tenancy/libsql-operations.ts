import type Database from "libsql";
import { type Ledger, ledgerOn } from "./ledger.ts";
import { openDatabase } from "./libsql-database.ts";

/** Where a thread of the database works. */
export interface LedgerSite {
  readonly path: string;
  /** Longest wait for another process that holds the database, in milliseconds. */
  readonly patienceMs: number;
}

/** What a thread of the database can be called for. Its first call opens it, `open` does nothing else. */
export type LedgerOperations = Ledger & { open(): void };

export function ledgerOperations({ path, patienceMs }: LedgerSite): LedgerOperations {
  const ledger = opened(() => openDatabase(path, { limitMs: patienceMs }), ledgerOn);
  return {
    open: () => void ledger(),
    createKey: (...parameters) => ledger().createKey(...parameters),
    findKey: (hash) => ledger().findKey(hash),
    listKeys: () => ledger().listKeys(),
    revokeKey: (...parameters) => ledger().revokeKey(...parameters),
    commit: (...parameters) => ledger().commit(...parameters),
    totals: (keyId) => ledger().totals(keyId),
  };
}

/** Opens at the first use, and again at the next one for as long as that is refused. */
function opened<L>(open: () => Database.Database, on: (database: Database.Database) => L): () => L {
  let ledger: L | null = null;
  return () => {
    if (ledger !== null) return ledger;
    const database = open();
    try {
      ledger = on(database);
      return ledger;
    } catch (error) {
      database.close();
      throw error;
    }
  };
}
