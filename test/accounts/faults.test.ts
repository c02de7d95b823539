import assert from "node:assert/strict";
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import Database from "libsql";
import { checkDatabase } from "../../src/accounts/libsql/libsql-database.ts";
import { databasePath, libsqlStore } from "../../src/accounts/libsql/libsql-store.ts";
import { fromTicks, toTicks } from "../../src/accounts/rows.ts";
import { type Store, StoreError, type StoreProblem } from "../../src/accounts/store.ts";
import { until, within } from "../waiting.ts";
import { temporaryFolder } from "./folders.ts";

const PATIENT = { deadlineMs: 120_000 };
const COMMITTER = fileURLToPath(new URL("./committer.js", import.meta.url));

/** Standard input tells a committer that its parent is alive. */
const STDIO: SpawnOptions["stdio"] = ["pipe", "pipe", "inherit"];

interface Committer {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<void>;
  acknowledged(count: number): Promise<void>;
}

function follow(child: ChildProcess): Committer {
  after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout! });
  reader.on("line", (line) => lines.push(line));
  const ended = Promise.all([once(child, "exit"), once(reader, "close")]).then(() => {});
  after(() => child.kill("SIGKILL"));
  return {
    child,
    lines,
    ended,
    async acknowledged(count) {
      const enough = until(`${count} acknowledged commits`, () => acksIn(lines).length >= count);
      await Promise.race([enough, ended.then(() => assert.fail(lines.join("\n")))]);
    },
  };
}

function committer(dataDir: string, count: number, options: SpawnOptions = {}): Committer {
  return follow(spawn(process.execPath, [COMMITTER, dataDir, `${count}`], { ...options, stdio: STDIO }));
}

function acksIn(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith("ack ")).map((line) => line.slice(4));
}

/** Resolves when all commits were acknowledged; rejects with the output otherwise. */
async function completed({ child, lines, ended }: Committer, count: number): Promise<void> {
  await within("the committer's end", ended, PATIENT);
  const acks = acksIn(lines).length;
  const said = lines.filter((line) => !line.startsWith("ack ")).join("\n");
  assert.ok(
    acks === count && child.exitCode === 0,
    `${acks} of ${count} acknowledged, exit code ${child.exitCode}: ${said}`,
  );
}

/** Opens the store concurrently; if one is refused, closes the others and throws. */
async function openedTogether(dataDir: string, count: number): Promise<Store[]> {
  const results = await Promise.allSettled(Array.from({ length: count }, () => libsqlStore(dataDir)));
  const stores = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (refusals.length === 0) return stores;
  await Promise.all(stores.map((store) => store.close()));
  throw new AggregateError(refusals, refusals.map(String).join("\n"));
}

/** Returns the ledger's event ids; checks that the totals are their sum. */
function auditedEvents(dataDir: string): Set<string> {
  const database = new Database(join(dataDir, "antiphon.db"));
  const sums = database
    .prepare(
      `SELECT key_id, count(*) requests, sum(input_chars) input_chars, sum(input_ticks) input_ticks,
              sum(output_ticks) output_ticks, max(ts) last_ts
       FROM usage_events GROUP BY key_id ORDER BY key_id`,
    )
    .all();
  assert.deepEqual(database.prepare("SELECT * FROM usage_totals ORDER BY key_id").all(), sums);
  const events = database.prepare("SELECT event_id FROM usage_events").all() as { event_id: string }[];
  database.close();
  return new Set(events.map((row) => row.event_id));
}

async function refusal(dataDir: string, problem: StoreProblem): Promise<string> {
  const error: unknown = await libsqlStore(dataDir).then(
    async (store) => {
      await store.close();
      return new Error("it opened");
    },
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StoreError, String(error));
  assert.equal(error.problem, problem);
  assert.ok(error.message.includes(join(dataDir, "antiphon.db")), error.message);
  assert.match(error.message, /^The .*: .*\.$/);
  return error.message;
}

async function soundDatabase(): Promise<string> {
  const dataDir = temporaryFolder();
  const filled = committer(dataDir, 2_000);
  await completed(filled, 2_000);
  return dataDir;
}

/** Overwrites most of a page. */
function damage(dataDir: string, page: number, offset: number): void {
  const file = openSync(join(dataDir, "antiphon.db"), "r+");
  writeSync(file, Buffer.alloc(3_000, 0x5a), 0, 3_000, (page - 1) * 4_096 + offset);
  closeSync(file);
}

describe("the committer process", () => {
  it("ends when its parent is gone", async () => {
    const { child, acknowledged, ended } = committer(temporaryFolder(), 0);
    await acknowledged(1);
    child.stdin!.end();
    await ended;
    assert.equal(child.signalCode, "SIGKILL", "by its own hand");
  });
});

describe("a libsql store", () => {
  it("neither loses nor repeats acknowledged events when killed", async () => {
    const dataDir = temporaryFolder();
    const acknowledged: string[] = [];
    for (const kills of [1, 250, 900]) {
      const victim = committer(dataDir, 0);
      await victim.acknowledged(kills);
      victim.child.kill("SIGKILL");
      await within("the killed committer's end", victim.ended);
      acknowledged.push(...acksIn(victim.lines));
      const events = auditedEvents(dataDir);
      assert.deepEqual(
        acknowledged.filter((id) => !events.has(id)),
        [],
      );
    }
    const store = await libsqlStore(dataDir);
    try {
      const before = await store.totals();
      const again = { inputChars: 7, inputAudioS: 0.5, outputAudioS: 0.08, tsS: 1e9 };
      await store.commit(
        acknowledged.map((eventId) => ({ eventId, keyId: eventId.split("-")[0]!, ...again })),
      );
      assert.deepEqual(await store.totals(), before, "an event that is committed again counts nothing");
    } finally {
      await store.close();
    }
  });

  it("adds up if several processes create one data directory", async () => {
    const dataDir = join(temporaryFolder(), "not", "there", "yet");
    const all = [1, 2, 3].map(() => committer(dataDir, 300));
    await Promise.all(all.map((one) => completed(one, 300)));
    for (const { lines } of all) assert.equal(lines.at(-1), "total 300");
    assert.equal(auditedEvents(dataDir).size, 900);
  });

  it("opens for concurrent callers on a new data directory", async () => {
    for (let round = 0; round < 3; round++) {
      const dataDir = temporaryFolder();
      const stores = await openedTogether(dataDir, 6);
      try {
        for (const store of stores) assert.deepEqual(await store.totals(), []);
      } finally {
        await Promise.all(stores.map((store) => store.close()));
      }
    }
  });

  it("reports a full disk, keeps acknowledged events, and stays readable", async () => {
    const dataDir = temporaryFolder();
    const limited = `ulimit -f 300; exec "$0" "$@"`;
    const line = ["-c", limited, process.execPath, COMMITTER, dataDir, "0"];
    const full = follow(spawn("/bin/sh", line, { stdio: STDIO }));
    await within("the disk to be full", full.ended, PATIENT);
    const acks = acksIn(full.lines);
    assert.ok(acks.length > 0, "something was committed first");
    const refused = full.lines.find((line) => line.startsWith("refused"));
    assert.match(refused ?? "", /^refused disk The disk of the database .*antiphon\.db is full or failing/);
    assert.equal(full.lines.at(-1), `total ${acks.length}`);
    const events = auditedEvents(dataDir);
    assert.deepEqual(
      acks.filter((id) => !events.has(id)),
      [],
    );
    assert.equal(events.size, acks.length, "what was refused was not counted");
  });

  it("refuses a file that is no database, and leaves it unchanged", async () => {
    const dataDir = temporaryFolder();
    const path = join(dataDir, "antiphon.db");
    writeFileSync(path, "this is no database\n".repeat(400));
    assert.match(await refusal(dataDir, "damaged"), /is damaged .*restore it from a backup, or move it away/);
    assert.equal(readFileSync(path, "utf8"), "this is no database\n".repeat(400));
  });

  it("refuses a damaged schema at start", async () => {
    const dataDir = await soundDatabase();
    damage(dataDir, 1, 100);
    assert.match(await refusal(dataDir, "damaged"), /restore it from a backup, or move it away/);
  });

  it("opens with a damaged page, and reports it when it reads the page", async () => {
    const dataDir = await soundDatabase();
    const database = new Database(join(dataDir, "antiphon.db"));
    const [hashes] = database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_keys_2'")
      .all() as { rootpage: number }[];
    database.close();
    damage(dataDir, hashes!.rootpage, 0);
    const store = await libsqlStore(dataDir);
    try {
      assert.equal((await store.totals())[0]?.requests, 2_000);
      await assert.rejects(
        store.findKey("a".repeat(64)),
        (error) => error instanceof StoreError && error.problem === "damaged" && !error.isTransient,
      );
    } finally {
      await store.close();
    }
  });

  it("finds a damaged page in a check", async () => {
    const dataDir = await soundDatabase();
    checkDatabase(databasePath(dataDir));
    damage(dataDir, 13, 500);
    assert.throws(
      () => checkDatabase(databasePath(dataDir)),
      (error) => error instanceof StoreError && error.problem === "damaged" && /page 13/.test(error.message),
    );
    const empty = temporaryFolder();
    assert.throws(() => checkDatabase(databasePath(empty)), /There is no database .*antiphon\.db/);
    assert.deepEqual(readdirSync(empty), [], "and makes none");
  });

  it("refuses a database of a later version", async () => {
    const dataDir = await soundDatabase();
    const database = new Database(join(dataDir, "antiphon.db"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    assert.match(await refusal(dataDir, "newer"), /written by a later Antiphon \(version 99/);
  });

  it("refuses a data directory that is a file, and a database that is a folder", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "file");
    writeFileSync(file, "");
    assert.match(await refusal(file, "unwritable"), /\(EEXIST: .*--data-dir/);
    mkdirSync(join(folder, "antiphon.db"));
    await refusal(folder, "unwritable");
  });

  it("refuses a read-only data directory, new or used", async (t) => {
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    if (spawnSync(process.execPath, ["--check", COMMITTER], user).status !== 0) {
      t.skip("this checkout cannot be read by an ordinary user");
      return;
    }
    for (const dataDir of [temporaryFolder(), await soundDatabase()]) {
      chmodSync(dataDir, 0o555);
      const barred = committer(dataDir, 1, user);
      await within("the committer's end", barred.ended);
      assert.match(barred.lines.join("\n"), /^refused unwritable The database .*antiphon\.db cannot be/);
    }
  });

  it("converts durations of every usual rate without loss", () => {
    for (const rateHz of [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000]) {
      for (const samples of [1, 7, 1_919, 123_456_789]) {
        const ticks = toTicks(samples / rateHz);
        assert.equal(ticks % (ticks / samples), 0);
        assert.equal(fromTicks(BigInt(ticks)), samples / rateHz, `${samples} samples at ${rateHz} Hz`);
      }
    }
  });
});
