import { databasePath } from "./database-path.ts";
import type { LedgerReads } from "./ledger-reads.ts";
import { type LedgerThreadOptions, ledgerThread } from "./ledger-thread.ts";
import type { LedgerWrites } from "./ledger-writes.ts";
import { monotonicMs } from "./monotonic-clock.ts";
import type { Store } from "./store.ts";

export interface LibsqlStoreOptions extends Partial<LedgerThreadOptions> {
  /** Longest wait for another process that holds the database, in milliseconds. */
  readonly patienceMs?: number;
}

/** Opening again takes up to twice the patience, and the call itself waits once more. */
const PATIENCE_MS = 5_000;
const DEADLINE_MS = 20_000;
/** An opening may bring a large database to a new version. */
const OPENING_DEADLINE_MS = 600_000;

const REPEATABLE = { repeatable: true };

/**
 * Keys and usage in `antiphon.db` in a folder, which is made if it is not there. The database runs in threads of its
 * own, so that the event loop never waits for a disk: one writes and one reads, so that nobody who only asks for a key
 * waits for a lock. A thread that fails is replaced.
 *
 * @throws StoreError when the folder is unusable or the database is damaged.
 */
export async function libsqlStore(dataDir: string, options: LibsqlStoreOptions = {}): Promise<Store> {
  const { patienceMs = PATIENCE_MS, deadlineMs = DEADLINE_MS } = options;
  const path = databasePath(dataDir);
  const writer = ledgerThread<LedgerWrites>({ part: "writes", path, patienceMs }, { ...options, deadlineMs });
  const reader = ledgerThread<LedgerReads>({ part: "reads", path, patienceMs }, { ...options, deadlineMs });
  const late = () => monotonicMs() + deadlineMs;
  async function close(): Promise<void> {
    await reader.close();
    await writer.close();
  }
  try {
    await writer.open(OPENING_DEADLINE_MS);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    createKey: (key, hash) => writer.call("createKey", [key, hash, late()]),
    createFirstKey: (key, hash) => writer.call("createFirstKey", [key, hash, late()]),
    findKey: (hash) => reader.call("findKey", [hash], REPEATABLE),
    listKeys: () => reader.call("listKeys", [], REPEATABLE),
    revokeKey: (keyId, tsS) => writer.call("revokeKey", [keyId, tsS, late()], REPEATABLE),
    commit: (records) => writer.call("commit", [records, late()], REPEATABLE),
    totals: (keyId) => reader.call("totals", [keyId], REPEATABLE),
    isWell: () => reader.isWell() && writer.isWell(),
    close,
  };
}
