import type { QueryConfig } from "pg";
import { GroupCommit } from "../group-commit.ts";
import {
  type KeyRow,
  keyOf,
  type TotalsRow,
  totalsOf,
  VOICE_COLUMNS,
  type VoiceRow,
  voiceOf,
  voiceValues,
} from "../rows.ts";
import {
  type KeyRecord,
  nameKeyOf,
  type Store,
  StoreError,
  type StoreWatch,
  type VoiceStore,
} from "../store.ts";
import { maintainPartitions } from "./partitions.ts";
import { StandbyError, stateOf } from "./postgres-errors.ts";
import { RetryingDatabase } from "./retrying-database.ts";
import { prepareSchema } from "./schema.ts";
import { type FoundRow, migrationLock, statementsIn } from "./statements.ts";
import type { StoreAddress } from "./store-address.ts";

export interface PostgresStoreOptions extends StoreWatch {
  /** Schema of our tables, created if missing. Lower-case letters, digits and underscores. */
  readonly schema: string;
  /** Maximum open connections. */
  readonly connections: number;
  /** Milliseconds for connecting, one statement, and every operation but a commit. */
  readonly timeoutMs: number;
  /** Milliseconds for which a commit is retried. */
  readonly commitTimeoutMs: number;
  /** Days for which events are kept, to recognise repeated commits. */
  readonly eventsKeptDays: number;
}

/**
 * Opens keys and usage in a PostgreSQL database shared by any number of servers. Transient failures (lost
 * connections, restarts, a failover) are retried until the time limit. Commits may always be repeated, since events
 * have ids.
 *
 * @throws StoreError if the database cannot be used
 */
export async function postgresStore(address: StoreAddress, options: PostgresStoreOptions): Promise<Store> {
  const { schema, timeoutMs, commitTimeoutMs } = options;
  const database = new RetryingDatabase(address, schema, options);
  const { connections } = database;
  const statements = statementsIn(schema);

  // A lookup may wait for the running group before its own group starts.
  const lookups = new GroupCommit<string, Found | null>((hashes) =>
    database.retry(timeoutMs / 2, async ({ untilMs }) => {
      const rows = await connections.run<FoundRow>(statements.findKeys(hashes), untilMs);
      if (rows[0]?.is_standby !== false) throw new StandbyError();
      const found = new Map(rows.map((row) => [row.hash, row]));
      return hashes.map((hash) => foundOf(found.get(hash)));
    }),
  );

  /** Whether an attempt with a lost answer has created the key. */
  async function isMade({ keyId }: KeyRecord, hash: string, untilMs: number): Promise<boolean> {
    const rows = await connections.run<FoundRow>(statements.findKeys([hash]), untilMs);
    return rows.some(({ key_id }) => key_id === keyId);
  }

  try {
    const where = { place: address.place, schema };
    await database.retry(timeoutMs, ({ untilMs }) => prepareSchema(connections, where, untilMs));
  } catch (error) {
    await database.close();
    throw error;
  }
  const stopMaintenance = scheduleMaintenance(database, options);

  return {
    ...voicesIn(database, schema, timeoutMs),
    createKey: (key, hash) =>
      database.retry(timeoutMs, async ({ untilMs, nth }) => {
        try {
          await connections.run(statements.createKey(key, hash), untilMs);
        } catch (error) {
          if (stateOf(error) !== "23505") throw error;
          if (nth === 1 || !(await isMade(key, hash, untilMs)))
            throw new StoreError("failed", `The key ${key.keyId} is there already: make another.`);
        }
      }),
    createFirstKey: (key, hash) =>
      database.retry(timeoutMs, async ({ untilMs, nth }) => {
        const made = await connections.transaction(async (run) => {
          await run(migrationLock(schema));
          return (await run(statements.createOnlyKey(key, hash))).length > 0;
        }, untilMs);
        return made || (nth > 1 && (await isMade(key, hash, untilMs)));
      }),
    findKey: (hash) => lookups.add(hash),
    listKeys: () =>
      database.retry(timeoutMs, async ({ untilMs }) => {
        return (await connections.run<KeyRow>(statements.listKeys(), untilMs)).map(keyOf);
      }),
    updateKey: (keyId, changes) =>
      database.retry(timeoutMs, async ({ untilMs }) => {
        const [row] = await connections.run<KeyRow>(statements.updateKey(keyId, changes), untilMs);
        return row === undefined ? null : keyOf(row);
      }),
    revokeKey: (keyId, tsS) =>
      database.retry(timeoutMs, ({ untilMs }) =>
        connections.transaction(async (run) => {
          const isThere = (await run(statements.revokeKey(keyId, tsS))).length > 0;
          await run(statements.removeVoices(keyId));
          return isThere;
        }, untilMs),
      ),
    commit: (records) =>
      database.retry(commitTimeoutMs, async ({ untilMs }) => {
        await connections.run(statements.commit(records), untilMs);
      }),
    totals: (keyId) =>
      database.retry(timeoutMs, async ({ untilMs }) => {
        return (await connections.run<TotalsRow>(statements.totals(keyId ?? null), untilMs)).map(totalsOf);
      }),
    // Always true: all servers share the database, so during an outage no other server is better off.
    isWell: () => true,
    async close() {
      stopMaintenance();
      await database.close();
    },
  };
}

/** Maintains partitions from time to time. Returns a function that stops it. */
function scheduleMaintenance(database: RetryingDatabase, options: PostgresStoreOptions): () => void {
  const { schema, timeoutMs: maxMs, eventsKeptDays: keptDays } = options;
  const maintain = () =>
    database.inBackground(
      () => maintainPartitions(database.connections, schema, { keptDays, maxMs }),
      "old usage is kept",
    );
  const timers = [setTimeout(maintain, KEEPING_MS.first), setInterval(maintain, KEEPING_MS.next)];
  for (const timer of timers) timer.unref();
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Milliseconds until partitions are maintained. Not at once: most commands end before that. */
const KEEPING_MS = { first: 10_000, next: 3_600_000 };

type Found = { readonly key: KeyRecord; readonly hash: string };

function foundOf(row: FoundRow | undefined): Found | null {
  return row === undefined || row.key_id === null ? null : { key: keyOf(row), hash: row.hash };
}

export function voicesIn(database: RetryingDatabase, schema: string, timeoutMs: number): VoiceStore {
  const { connections } = database;
  const voices = `"${schema}".voices`;
  /** Finds by key and by id or folded name. If one voice's name is another's id, the id has precedence. */
  const found = `FROM ${voices} WHERE key_id = $1 AND (voice_id = $2 OR name_key = $3)
    ORDER BY voice_id = $2 DESC LIMIT 1`;
  const asked = (keyId: string, idOrName: string) => [keyId, idOrName, nameKeyOf(idOrName)];
  const one = async (statement: QueryConfig) =>
    database.retry(timeoutMs, async ({ untilMs }) => {
      const [row] = await connections.run<VoiceRow>(statement, untilMs);
      return row === undefined ? null : voiceOf(row);
    });
  return {
    addVoice: (voice, audio, maxVoices) =>
      database.retry(timeoutMs, ({ untilMs }) =>
        connections.transaction(async (run) => {
          // Serialised per key, so that the limit holds.
          const [key] = await run<{ is_revoked: boolean }>({
            text: `SELECT revoked_ts IS NOT NULL AS is_revoked FROM "${schema}".keys WHERE key_id = $1 FOR UPDATE`,
            values: [voice.keyId],
          });
          if (key?.is_revoked === true) return "revoked";
          const nameKey = nameKeyOf(voice.name);
          const rows = await run<{ voice_id: string; name_key: string }>({
            text: `SELECT voice_id, name_key FROM ${voices} WHERE key_id = $1`,
            values: [voice.keyId],
          });
          // An attempt with a lost answer has stored it.
          if (rows.some(({ voice_id }) => voice_id === voice.voiceId)) return "added";
          if (rows.length >= maxVoices) return "full";
          if (rows.some(({ name_key }) => name_key === nameKey)) return "taken";
          await run({
            text: `INSERT INTO ${voices} (${VOICE_COLUMNS}, name_key, audio)
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
            values: [...voiceValues(voice), nameKey, Buffer.from(audio)],
          });
          return "added";
        }, untilMs),
      ),
    listVoices: (keyId) =>
      database.retry(timeoutMs, async ({ untilMs }) => {
        const text = `SELECT ${VOICE_COLUMNS} FROM ${voices}
                      ${keyId === undefined ? "" : "WHERE key_id = $1"} ORDER BY created_ts, voice_id COLLATE "C"`;
        const values = keyId === undefined ? [] : [keyId];
        return (await connections.run<VoiceRow>({ text, values }, untilMs)).map(voiceOf);
      }),
    findVoice: (keyId, idOrName) =>
      one({ text: `SELECT ${VOICE_COLUMNS} ${found}`, values: asked(keyId, idOrName) }),
    voiceAudio: (voiceId) =>
      database.retry(timeoutMs, async ({ untilMs }) => {
        const text = `SELECT audio FROM ${voices} WHERE voice_id = $1`;
        const [row] = await connections.run<{ audio: Buffer }>({ text, values: [voiceId] }, untilMs);
        return row === undefined ? null : new Uint8Array(row.audio);
      }),
    removeVoice: (keyId, idOrName) =>
      one({
        text: `DELETE FROM ${voices} WHERE voice_id = (SELECT voice_id ${found}) RETURNING ${VOICE_COLUMNS}`,
        values: asked(keyId, idOrName),
      }),
  };
}
