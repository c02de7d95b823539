import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libsqlStore } from "../../src/accounts/libsql/libsql-store.ts";
import { newEventId, type Store } from "../../src/accounts/store.ts";
import { type Tenancy, tenancyOn } from "../../src/accounts/tenancy.ts";
import { NO_POSTGRES, startPostgres } from "../../test/accounts/postgres/postgres-server.ts";
import { openPostgres } from "../../test/accounts/postgres/postgres-stores.ts";
import { percentile } from "../load/percentile.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import type { Row } from "../row.ts";

const KEYS = 100;
const IN_FLIGHT = 64;

/**
 * A PostgreSQL server on the same machine with 16 MiB of shared buffers and `fsync` on, and libsql on the
 * same disk: 5,000 commits, 64 at once for five seconds, 5,000 lookups.
 */
export const storePostgres: Row = {
  id: "store-postgres",
  what: "a durable commit of usage in PostgreSQL beside it, 100 keys: one at a time; 64 at once; a key's lookup; the same in libsql",
  goal: "p95 ≤ 1.5 ms; ≥ 10,000 a second",
  async measure({ isQuick, note }) {
    if (NO_POSTGRES !== null) throw new NotMeasuredError(NO_POSTGRES);
    const folder = await mkdtemp(join(tmpdir(), "antiphon-bench-"));
    try {
      const server = await startPostgres({ settings: { fsync: "on" } });
      const postgres = await measured(await openPostgres(await server.url()), isQuick);
      note(`PostgreSQL: ${inWords(postgres)}`);
      const libsql = await measured(await libsqlStore(folder), isQuick);
      await server.kill("SIGINT");
      return {
        measured: `${inWords(postgres)} (libsql: ${inWords(libsql)})`,
        isMet: postgres.commitMs.p95 <= 1.5 && postgres.aSecond >= 10_000,
      };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

interface Times {
  readonly p50: number;
  readonly p95: number;
}

interface Found {
  readonly commitMs: Times;
  readonly aSecond: number;
  readonly lookupMs: Times;
}

/** Measures a new store as a server uses it, and closes it. */
async function measured(store: Store, isQuick: boolean): Promise<Found> {
  const server = tenancyOn(store, { anonymous: { rpm: 60, burst: 60 } });
  try {
    const keys: { readonly key: string; readonly keyId: string }[] = [];
    for (let i = 0; i < KEYS; i++) {
      const { key, record } = await server.createKey({ label: "bench", rpm: 60, burst: 60 });
      keys.push({ key, keyId: record.keyId });
    }
    const commit = (i: number) => commitOne(server, keys[i % KEYS]!.keyId);
    const lookup = (i: number) => server.authenticate(keys[i % KEYS]!.key);
    const times = isQuick ? 500 : 5_000;
    await tookMs(commit, times / 5);
    const commitMs = await tookMs(commit, times);
    await aSecond(commit, 500);
    const commits = await aSecond(commit, isQuick ? 1_000 : 5_000);
    await tookMs(lookup, times / 5);
    return { commitMs, aSecond: commits, lookupMs: await tookMs(lookup, times) };
  } finally {
    await server.close();
  }
}

function commitOne(server: Tenancy, keyId: string): Promise<void> {
  const used = { inputChars: 100, inputAudioS: 0, outputAudioS: 5.6 };
  return server.commit({ eventId: newEventId(), keyId, ...used, tsS: Date.now() / 1_000 });
}

/** How long each takes, one after the other, in milliseconds. */
async function tookMs(work: (i: number) => Promise<unknown>, times: number): Promise<Times> {
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const beganMs = performance.now();
    await work(i);
    took.push(performance.now() - beganMs);
  }
  return { p50: percentile(took, 0.5), p95: percentile(took, 0.95) };
}

/** How many are done in a second. */
async function aSecond(work: (i: number) => Promise<unknown>, forMs: number): Promise<number> {
  const beganMs = performance.now();
  let done = 0;
  const working = async () => {
    while (performance.now() - beganMs < forMs) await work(done++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, working));
  return (done * 1_000) / (performance.now() - beganMs);
}

function inWords({ commitMs, aSecond: commits, lookupMs }: Found): string {
  return (
    `p50 ${commitMs.p50.toFixed(2)} ms, p95 ${commitMs.p95.toFixed(2)} ms; ` +
    `${(commits / 1_000).toFixed(1)} thousand a second; lookup p95 ${lookupMs.p95.toFixed(2)} ms`
  );
}
