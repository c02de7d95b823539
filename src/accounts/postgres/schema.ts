import { monotonicMs } from "../deadline.ts";
import { DatabaseConnections, type Run } from "./connections.ts";
import { createPartitions } from "./partitions.ts";
import {
  asStoreError,
  foreignError,
  inconsistentError,
  newerError,
  notDurableError,
  StandbyError,
  type StorePlace,
  stateOf,
  tooOldError,
} from "./postgres-errors.ts";
import { migrationLock } from "./statements.ts";
import type { StoreAddress } from "./store-address.ts";

/** Migrating large tables takes time, and others wait for it. */
const MAX_MIGRATION_MS = 600_000;
/** Reading all events may take long. */
const MAX_READ_MS = 3_600_000;

/**
 * Verifies that a database is usable, and creates or migrates its schema. Of servers that start together, one
 * migrates in a transaction while the others wait.
 *
 * @throws StoreError if the database is too old, or the schema is newer or foreign; database errors
 */
export async function prepareSchema(
  connections: DatabaseConnections,
  where: StorePlace,
  untilMs: number,
): Promise<void> {
  const [server] = await connections.run<ServerRow>({ text: SERVER }, untilMs);
  const { version_number, version, is_standby, synchronous_commit } = server!;
  if (version_number < OLDEST * 10_000) throw tooOldError(where, version, `${OLDEST}`);
  if (is_standby) throw new StandbyError();
  if (synchronous_commit === "off") throw notDurableError(where);
  const read: Run = (statement) => connections.run(statement, untilMs);
  const { version: found } = await asOurs(where, stateIn(read, where.schema));
  if (found > MIGRATIONS.length) throw newerError(where, found, MIGRATIONS.length);
  if (found === MIGRATIONS.length) return;
  const migrated = connections.transaction((run) => migrate(run, where.schema), untilMs + MAX_MIGRATION_MS);
  await asOurs(where, migrated);
}

/**
 * Sums all stored events and compares them with the totals, in one snapshot, while servers commit. Checks our tables;
 * `pg_amcheck` checks PostgreSQL's pages.
 *
 * @throws StoreError if the database cannot be used, or totals are smaller than their events
 */
export async function checkSchema(
  address: StoreAddress,
  { schema, timeoutMs }: { readonly schema: string; readonly timeoutMs: number },
): Promise<void> {
  const where = { place: address.place, schema };
  const connections = new DatabaseConnections(address, { connections: 1, timeoutMs });
  try {
    await prepareSchema(connections, where, monotonicMs() + timeoutMs);
    const untilMs = monotonicMs() + MAX_READ_MS;
    const [wrong] = await connections.transaction(
      (run) => run<{ key_id: string }>({ text: comparedIn(schema) }),
      untilMs,
    );
    if (wrong !== undefined) throw inconsistentError(where, wrong.key_id);
  } catch (error) {
    throw asStoreError(error, where);
  } finally {
    await connections.close();
  }
}

/** Tested with 13, 15 and 18. */
const OLDEST = 13;

const SERVER = `SELECT current_setting('server_version_num')::integer AS version_number,
  current_setting('server_version') AS version, pg_is_in_recovery() AS is_standby,
  current_setting('synchronous_commit') AS synchronous_commit`;

interface ServerRow {
  readonly version_number: number;
  readonly version: string;
  readonly is_standby: boolean;
  readonly synchronous_commit: string;
}

async function migrate(run: Run, schema: string): Promise<void> {
  await run(migrationLock(schema));
  const { version, hasSchema } = await stateIn(run, schema);
  if (version >= MIGRATIONS.length) return;
  // IF NOT EXISTS would need the right to create schemas even where the schema exists.
  if (!hasSchema) await run({ text: `CREATE SCHEMA "${schema}"` });
  for (const step of MIGRATIONS.slice(version))
    await run({ text: step.replaceAll("{schema}", `"${schema}"`) });
  await run({ text: `UPDATE "${schema}".schema_version SET version = ${MIGRATIONS.length}` });
  await createPartitions(run, schema);
}

/** Version 0 means that nothing exists yet. */
async function stateIn(run: Run, schema: string): Promise<{ version: number; hasSchema: boolean }> {
  const [state] = await run<{ has_schema: boolean; has_version: boolean }>({ text: STATE, values: [schema] });
  const { has_schema: hasSchema, has_version } = state!;
  if (!has_version) return { version: 0, hasSchema };
  const [row] = await run<{ version: number }>({ text: `SELECT version FROM "${schema}".schema_version` });
  return { version: row?.version ?? 0, hasSchema };
}

/** Read from the catalogue: `to_regclass` may be older than the lock. */
const STATE = `SELECT
  EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS has_schema,
  EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
          WHERE nspname = $1 AND relname = 'schema_version') AS has_version`;

/** Rejects with a `foreignError` if a table of that name exists (42P07) or has other columns (42703). */
async function asOurs<T>(where: StorePlace, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const state = stateOf(error);
    if (state === "42P07" || state === "42703") throw foreignError(where, (error as Error).message);
    throw error;
  }
}

/** Finds one key whose totals are missing or smaller than its events. */
function comparedIn(schema: string): string {
  return `
    SELECT event.key_id FROM (
      SELECT key_id, count(*) AS requests, sum(input_chars) AS input_chars, sum(input_ticks) AS input_ticks,
             sum(output_ticks) AS output_ticks, max(ts) AS last_ts
      FROM "${schema}".usage_events GROUP BY key_id
    ) AS event
    LEFT JOIN "${schema}".usage_totals AS total USING (key_id)
    LEFT JOIN "${schema}".keys AS key USING (key_id)
    WHERE key.hash IS NULL OR total.requests IS NULL OR total.requests < event.requests
       OR total.input_chars < event.input_chars OR total.input_ticks < event.input_ticks
       OR total.output_ticks < event.output_ticks OR total.last_ts < event.last_ts
    ORDER BY key_id LIMIT 1`;
}

/**
 * Each entry migrates from the version of its index to the next; `{schema}` stands for the quoted name. Entries are
 * only ever added.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE {schema}.schema_version (version integer NOT NULL);
   INSERT INTO {schema}.schema_version VALUES (0);
   CREATE TABLE {schema}.keys (
     key_id text PRIMARY KEY,
     hash text NOT NULL UNIQUE,
     label text NOT NULL,
     rpm integer NOT NULL,
     burst integer NOT NULL,
     created_ts double precision NOT NULL,
     revoked_ts double precision
   );
   CREATE TABLE {schema}.usage_events (
     event_id uuid PRIMARY KEY,
     key_id text NOT NULL,
     input_chars bigint NOT NULL,
     input_ticks bigint NOT NULL,
     output_ticks bigint NOT NULL,
     ts double precision NOT NULL,
     recorded_ts timestamptz NOT NULL DEFAULT now()
   ) PARTITION BY RANGE (event_id);
   CREATE TABLE {schema}.usage_events_rest PARTITION OF {schema}.usage_events DEFAULT;
   CREATE TABLE {schema}.usage_totals (
     key_id text PRIMARY KEY REFERENCES {schema}.keys,
     requests bigint NOT NULL,
     input_chars bigint NOT NULL,
     input_ticks bigint NOT NULL,
     output_ticks bigint NOT NULL,
     last_ts double precision
   ) WITH (fillfactor = 50);`,
  // Recordings are already compressed.
  `CREATE TABLE {schema}.voices (
     voice_id text PRIMARY KEY,
     key_id text NOT NULL REFERENCES {schema}.keys,
     name text NOT NULL,
     name_key text NOT NULL,
     description text NOT NULL,
     ref_text text,
     consent text NOT NULL,
     created_ts double precision NOT NULL,
     duration_s double precision NOT NULL,
     trust double precision NOT NULL,
     cautions text NOT NULL,
     audio bytea NOT NULL,
     UNIQUE (key_id, name_key)
   );
   ALTER TABLE {schema}.voices ALTER COLUMN audio SET STORAGE EXTERNAL;`,
];
