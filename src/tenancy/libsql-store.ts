import { join } from "node:path";
import { type LedgerThreadOptions, ledgerThread } from "./ledger-thread.ts";
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

/**
 * Keys and usage in `antiphon.db` in a folder, which is made if it is not there. The database runs in a thread of its
 * own, so that the event loop never waits for a disk. A thread that fails is replaced.
 *
 * @throws StoreError when the folder is unusable or the database is damaged.
 */
export async function libsqlStore(dataDir: string, options: LibsqlStoreOptions = {}): Promise<Store> {
  const { patienceMs = PATIENCE_MS, deadlineMs = DEADLINE_MS } = options;
  const path = join(dataDir, "antiphon.db");
  const thread = ledgerThread({ path, patienceMs }, { ...options, deadlineMs });
  const late = () => monotonicMs() + deadlineMs;
  try {
    await thread.call("open", [], { repeatable: true, deadlineMs: OPENING_DEADLINE_MS });
  } catch (error) {
    await thread.close();
    throw error;
  }
  return {
    createKey: (key, hash) => thread.call("createKey", [key, hash, late()]),
    findKey: (hash) => thread.call("findKey", [hash], { repeatable: true }),
    listKeys: () => thread.call("listKeys", [], { repeatable: true }),
    revokeKey: (keyId, tsS) => thread.call("revokeKey", [keyId, tsS, late()], { repeatable: true }),
    commit: (records) => thread.call("commit", [records, late()], { repeatable: true }),
    totals: (keyId) => thread.call("totals", [keyId], { repeatable: true }),
    isWell: () => thread.isWell(),
    close: () => thread.close(),
  };
}
