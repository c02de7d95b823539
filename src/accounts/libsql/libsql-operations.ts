import type Database from "libsql";
import { type LedgerReads, type LedgerWrites, readsOn, writesOn } from "./ledger.ts";
import { openDatabase, openForReading } from "./libsql-database.ts";

export interface LedgerThreadData {
  readonly part: "reads" | "writes";
  readonly path: string;
  /** Milliseconds to wait for a database locked by another process. */
  readonly patienceMs: number;
}

/** Operations of a thread. Its first call opens the database; `open` does nothing else. */
export type LedgerOperations = { open(): void } & (LedgerReads | LedgerWrites);

export function ledgerOperations({ part, path, patienceMs }: LedgerThreadData): LedgerOperations {
  return part === "reads" ? reading(path, patienceMs) : writing(path, patienceMs);
}

function reading(path: string, patienceMs: number): LedgerOperations {
  const reads = opened(() => openForReading(path, patienceMs), readsOn);
  return {
    open: () => void reads(),
    findKey: (hash) => reads().findKey(hash),
    listKeys: () => reads().listKeys(),
    totals: (keyId) => reads().totals(keyId),
    listVoices: (keyId) => reads().listVoices(keyId),
    findVoice: (...parameters) => reads().findVoice(...parameters),
    voiceAudio: (voiceId) => reads().voiceAudio(voiceId),
  };
}

function writing(path: string, patienceMs: number): LedgerOperations {
  const writes = opened(() => openDatabase(path, { limitMs: patienceMs }), writesOn);
  return {
    open: () => void writes(),
    createKey: (...parameters) => writes().createKey(...parameters),
    createFirstKey: (...parameters) => writes().createFirstKey(...parameters),
    updateKey: (...parameters) => writes().updateKey(...parameters),
    revokeKey: (...parameters) => writes().revokeKey(...parameters),
    commit: (...parameters) => writes().commit(...parameters),
    addVoice: (...parameters) => writes().addVoice(...parameters),
    removeVoice: (...parameters) => writes().removeVoice(...parameters),
  };
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
