import { Grouped } from "../grouped.ts";
import { type KeyRow, keyOf, type TotalsRow, totalsOf } from "../ledger-rows.ts";
import { monotonicMs } from "../monotonic-clock.ts";
import type { KeyRecord, Store, StoreWatch } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { Connections } from "./connections.ts";
import { keepDays } from "./partitions.ts";
import { asStoreError, closed, passes, StandbyError, type StorePlace, stateOf } from "./postgres-errors.ts";
import { retried } from "./retried.ts";
import { prepareSchema } from "./schema.ts";
import { type FoundRow, migrationLock, statementsIn } from "./statements.ts";
import type { StoreAddress } from "./store-address.ts";

export interface PostgresStoreOptions extends StoreWatch {
  /** The schema that holds our tables, made if it is not there. Small letters, digits and underscores. */
  readonly schema: string;
  /** Connections that may be open at once. */
  readonly connections: number;
  /** How long connecting, one statement, and whatever somebody waits for but a commit, may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a commit is tried for, in milliseconds. */
  readonly commitTimeoutMs: number;
  /** For how many days events are kept, so that one that comes again is known. */
  readonly eventsKeptDays: number;
}

const AN_HOUR_MS = 3_600_000;

/**
 * Keys and usage in a PostgreSQL database, which any number of servers may share. What fails by what passes (a connection
 * that is cut, a database that is started again, a standby before its promotion) is tried again until its time is over.
 * A commit may be tried again whatever became of the first try, since its events have ids.
 *
 * @throws StoreError when the database cannot be reached or worked with.
 */
export async function postgresStore(address: StoreAddress, options: PostgresStoreOptions): Promise<Store> {
  const { schema, timeoutMs, commitTimeoutMs, eventsKeptDays, onFailure, onRecovery } = options;
  const { place } = address;
  const where: StorePlace = { place, schema };
  const connections = new Connections(address, options);
  const statements = statementsIn(schema);
  let isAway = false;
  let isClosed = false;

  function failed(error: unknown): boolean {
    const mayPass = passes(error) && !isClosed;
    if (mayPass && !isAway) {
      isAway = true;
      onFailure?.(asStoreError(error, where).message);
    }
    return mayPass;
  }

  /** @param work is told until when it may take, and which try it is */
  async function patiently<T>(
    longestMs: number,
    work: (untilMs: number, nth: number) => Promise<T>,
  ): Promise<T> {
    if (isClosed) throw closed(place);
    const untilMs = monotonicMs() + longestMs;
    try {
      const result = await retried((nth) => work(untilMs, nth), { untilMs, passes: failed });
      if (isAway) {
        isAway = false;
        onRecovery?.(`${place} answers again`);
      }
      return result;
    } catch (error) {
      throw asStoreError(error, where);
    }
  }

  async function isOurs(key: KeyRecord, hash: string, untilMs: number): Promise<boolean> {
    const rows = await connections.run<FoundRow>(statements.findKeys([hash]), untilMs);
    return rows.some(({ key_id }) => key_id === key.keyId);
  }

  // Whoever asks may have to wait for one group before their own.
  const lookups = new Grouped<string, Found | null>((hashes) =>
    patiently(timeoutMs / 2, async (untilMs) => {
      const rows = await connections.run<FoundRow>(statements.findKeys(hashes), untilMs);
      if (rows[0]?.is_standby !== false) throw new StandbyError();
      const found = new Map(rows.map((row) => [row.hash, row]));
      return hashes.map((hash) => foundOf(found.get(hash)));
    }),
  );

  async function keepEvents(): Promise<void> {
    const untilMs = () => monotonicMs() + timeoutMs;
    await keepDays(connections, schema, { keptDays: eventsKeptDays, untilMs });
  }

  try {
    await patiently(timeoutMs, (untilMs) => prepareSchema(connections, where, untilMs));
  } catch (error) {
    await connections.close();
    throw error;
  }
  const keeping = setInterval(() => void keepEvents().catch(() => {}), AN_HOUR_MS);
  keeping.unref();
  void keepEvents().catch(() => {});

  return {
    createKey: (key, hash) =>
      patiently(timeoutMs, async (untilMs, nth) => {
        try {
          await connections.run(statements.createKey(key, hash), untilMs);
        } catch (error) {
          if (stateOf(error) !== "23505") throw error;
          // A try whose answer was lost may have made it.
          if (nth === 1 || !(await isOurs(key, hash, untilMs))) throw there(key);
        }
      }),
    createFirstKey: (key, hash) =>
      patiently(timeoutMs, async (untilMs, nth) => {
        const made = await connections.transaction(async (run) => {
          await run(migrationLock(schema));
          return (await run(statements.createOnlyKey(key, hash))).length > 0;
        }, untilMs);
        return made || (nth > 1 && (await isOurs(key, hash, untilMs)));
      }),
    findKey: (hash) => lookups.add(hash),
    listKeys: () =>
      patiently(timeoutMs, async (untilMs) =>
        (await connections.run<KeyRow>(statements.listKeys(), untilMs)).map(keyOf),
      ),
    revokeKey: (keyId, tsS) =>
      patiently(timeoutMs, async (untilMs) => {
        return (await connections.run(statements.revokeKey(keyId, tsS), untilMs)).length > 0;
      }),
    async commit(records) {
      if (records.length === 0 && !isClosed) return;
      await patiently(commitTimeoutMs, (untilMs) => connections.run(statements.commit(records), untilMs));
    },
    totals: (keyId) =>
      patiently(timeoutMs, async (untilMs) =>
        (await connections.run<TotalsRow>(statements.totals(keyId ?? null), untilMs)).map(totalsOf),
      ),
    // All servers share it: when it is away, no other server is better off.
    isWell: () => true,
    async close() {
      isClosed = true;
      clearInterval(keeping);
      await connections.close();
    },
  };
}

type Found = { readonly key: KeyRecord; readonly hash: string };

function there({ keyId }: KeyRecord): StoreError {
  return new StoreError("failed", `The key ${keyId} is there already: make another.`);
}

function foundOf(row: FoundRow | undefined): Found | null {
  return row === undefined || row.key_id === null ? null : { key: keyOf(row), hash: row.hash };
}
