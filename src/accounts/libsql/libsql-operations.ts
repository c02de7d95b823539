import type Database from "libsql";
import { readsOn, writesOn } from "./ledger.ts";
import { openDatabase, openForReading } from "./libsql-database.ts";

export interface LedgerThreadData {
  readonly part: "reads" | "writes";
  readonly path: string;
  /** Milliseconds to wait for a database locked by another process. */
  readonly patienceMs: number;
}

type Operation = (...parameters: unknown[]) => unknown;

/** Returns the operations of a thread by name. The first call opens the database; `open` does nothing else. */
export function ledgerOperations(site: LedgerThreadData): Readonly<Record<string, Operation>> {
  const { part, path, patienceMs } = site;
  const ledger: () => object =
    part === "reads"
      ? opened(() => openForReading(path, patienceMs), readsOn)
      : opened(() => openDatabase(path, { limitMs: patienceMs }), writesOn);
  const operation = (name: string, ...parameters: unknown[]): unknown => {
    const operations = ledger() as Readonly<Record<string, Operation>>;
    return name === "open" ? undefined : operations[name]!(...parameters);
  };
  const get: ProxyHandler<object>["get"] = (_, name) => operation.bind(null, String(name));
  return new Proxy({}, { get });
}

/** Opens at the first call, and again at the next if that failed. */
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
