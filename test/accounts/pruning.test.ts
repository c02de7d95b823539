import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type Database from "libsql";
import { type LedgerWrites, readsOn, writesOn } from "../../src/accounts/libsql/ledger.ts";
import { openDatabase } from "../../src/accounts/libsql/libsql-database.ts";
import { newEventId, type UsageRecord } from "../../src/accounts/store.ts";
import fc from "../properties.ts";
import { temporaryFolder } from "./folders.ts";

const NEVER = Number.POSITIVE_INFINITY;
const KEY = { keyId: "key_a", label: "a", rpm: 60, burst: 60, createdTsS: 1, revokedTsS: null };
const folder = temporaryFolder();
let databases = 0;

function withLedger(work: (ledger: LedgerWrites, database: Database.Database) => void): void {
  const database = openDatabase(join(folder, `${databases++}.db`));
  try {
    const ledger = writesOn(database);
    ledger.createKey(KEY, "a".repeat(64), NEVER);
    work(ledger, database);
  } finally {
    database.close();
  }
}

function event(eventId = newEventId()): UsageRecord {
  return { eventId, keyId: "key_a", inputChars: 3, inputAudioS: 0.25, outputAudioS: 0.08, tsS: 5 };
}

function age(database: Database.Database, hours: number): void {
  database.prepare("UPDATE usage_events SET recorded_ts = recorded_ts - ?").run(3_600 * hours);
}

function remembered(database: Database.Database): string[] {
  const rows = database.prepare("SELECT event_id FROM usage_events ORDER BY event_id").all();
  return (rows as { event_id: string }[]).map((row) => row.event_id);
}

describe("counted events", () => {
  it("are pruned after a day, a few with every commit", () => {
    withLedger((ledger, database) => {
      const old = Array.from({ length: 100 }, () => event());
      ledger.commit(old, NEVER);
      age(database, 23);
      ledger.commit([event()], NEVER);
      assert.equal(remembered(database).length, 101);
      age(database, 2);
      let left = 100;
      while (left > 0) {
        ledger.commit([event(), event(), event()], NEVER);
        const kept = new Set(remembered(database));
        const now = old.filter(({ eventId }) => kept.has(eventId)).length;
        assert.ok(now < left, "fewer with every commit");
        assert.ok(left - now <= 12, `${left - now} at once`);
        left = now;
      }
    });
  });

  it("count once within a day and stay in the totals", () => {
    const step = fc.oneof(
      fc.record({ commit: fc.array(fc.nat(40), { maxLength: 12 }) }),
      fc.record({ ageH: fc.integer({ min: 1, max: 30 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        withLedger((ledger, database) => {
          let ids = Array.from({ length: 41 }, () => newEventId());
          const counted = new Set<string>();
          for (const one of steps) {
            if ("ageH" in one) {
              age(database, one.ageH);
              // No client repeats an event hours later.
              ids = ids.map(() => newEventId());
              continue;
            }
            ledger.commit(
              one.commit.map((index) => event(ids[index])),
              NEVER,
            );
            for (const index of one.commit) counted.add(ids[index]!);
          }
          const [totals] = readsOn(database).totals();
          const { size } = counted;
          const sums = [totals?.requests, totals?.inputChars, totals?.inputAudioS, totals?.outputAudioS];
          assert.deepEqual(sums, [size, 3 * size, 0.25 * size, Math.round(2_257_920 * size) / 28_224_000]);
        });
      }),
      { numRuns: 60 },
    );
  });

  it("without a time in their id are not pruned early", () => {
    withLedger((ledger, database) => {
      ledger.commit([event("0"), event("zzz")], NEVER);
      for (let i = 0; i < 20; i++) ledger.commit([event(), event("0"), event("zzz")], NEVER);
      assert.equal(readsOn(database).totals()[0]?.requests, 22);
    });
  });
});
