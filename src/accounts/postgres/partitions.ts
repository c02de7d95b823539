import type { QueryConfig } from "pg";
import { monotonicMs } from "../deadline.ts";
import type { DatabaseConnections, Run } from "./connections.ts";
import { freeMigrationLock } from "./statements.ts";

/**
 * Creates partitions for the coming days and drops those older than `keptDays`. Usage events lie in one partition per
 * day of their ids, so that a whole day can be dropped. Events with other ids go to `usage_events_rest` and expire by
 * the time they were recorded. One server at a time does this.
 *
 * @throws database errors
 */
export async function maintainPartitions(
  connections: DatabaseConnections,
  schema: string,
  { keptDays, maxMs }: { readonly keptDays: number; readonly maxMs: number },
): Promise<void> {
  const alone = (work: (run: Run) => Promise<void>) =>
    connections.transaction(async (run) => {
      const [lock] = await run<{ is_held: boolean }>(freeMigrationLock(schema));
      if (lock!.is_held) await work(run);
    }, monotonicMs() + maxMs);
  await alone((run) => createPartitions(run, schema));
  await alone((run) => dropDays(run, schema, keptDays));
  await alone(async (run) => {
    const text = `DELETE FROM "${schema}".usage_events_rest WHERE recorded_ts < now() - $1 * interval '1 day'`;
    await run({ text, values: [keptDays] });
  });
}

/** Creates missing partitions from yesterday to some days ahead. */
export async function createPartitions(run: Run, schema: string): Promise<void> {
  const today = await todayOf(run);
  const there = await daysOf(run, schema);
  for (let day = today - 1; day <= today + DAYS_AHEAD; day++) {
    if (!there.includes(nameOf(day))) for (const statement of makingOf(day, schema)) await run(statement);
  }
}

async function dropDays(run: Run, schema: string, keptDays: number): Promise<void> {
  const oldest = (await todayOf(run)) - keptDays;
  // Commits wait while this waits for readers.
  await run({ text: `SET LOCAL lock_timeout = ${MAX_LOCK_MS}` });
  for (const name of await daysOf(run, schema)) {
    if (dayOf(name) < oldest) await run({ text: `DROP TABLE "${schema}"."${name}"` });
  }
}

const DAYS_AHEAD = 3;
const DAY_MS = 86_400_000;
const MAX_LOCK_MS = 250;

/**
 * Creates a day's partition and moves events to it that came early. Unlike CREATE TABLE … PARTITION OF, this blocks
 * neither commits to other days nor reads.
 */
function makingOf(day: number, schema: string): QueryConfig[] {
  const [name, rest] = [`"${schema}".${nameOf(day)}`, `"${schema}".usage_events_rest`];
  const [from, to] = [`'${firstIdOf(day)}'`, `'${firstIdOf(day + 1)}'`];
  return [
    `LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE`,
    `CREATE TABLE ${name} (LIKE "${schema}".usage_events INCLUDING ALL)`,
    `WITH moved AS (DELETE FROM ${rest} WHERE event_id >= ${from} AND event_id < ${to} RETURNING *)
     INSERT INTO ${name} SELECT * FROM moved`,
    `ALTER TABLE "${schema}".usage_events ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`,
  ].map((text) => ({ text }));
}

/** Returns the days since 1970 by the database's clock. */
async function todayOf(run: Run): Promise<number> {
  const [row] = await run<{ today: number }>({
    text: "SELECT floor(extract(epoch FROM now()) / 86400)::integer AS today",
  });
  return row!.today;
}

async function daysOf(run: Run, schema: string): Promise<string[]> {
  const rows = await run<{ name: string }>({
    text: `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
           WHERE inhparent = $1::regclass AND relname ~ '^usage_events_\\d{8}$' ORDER BY relname`,
    values: [`"${schema}".usage_events`],
  });
  return rows.map(({ name }) => name);
}

/** As in `usage_events_20261123`. */
function nameOf(day: number): string {
  return `usage_events_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

function dayOf(name: string): number {
  const [, year, month, date] = /_(\d{4})(\d\d)(\d\d)$/.exec(name)!;
  return Date.UTC(Number(year), Number(month) - 1, Number(date)) / DAY_MS;
}

/** Returns the smallest event id of a day: its time in milliseconds, then zeros. */
function firstIdOf(day: number): string {
  const time = (day * DAY_MS).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
