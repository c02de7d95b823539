import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import Database from "libsql";
import { type LibsqlStoreOptions, libsqlStore } from "../../src/accounts/libsql/libsql-store.ts";
import { type KeyRecord, type Store, StoreError, type UsageRecord } from "../../src/accounts/store.ts";
import { within } from "../waiting.ts";
import { FATES } from "./fates.ts";
import { temporaryFolder } from "./folders.ts";

const HASH = "a".repeat(64);
const KEY: KeyRecord = { keyId: "key_a", label: "a", rpm: 60, burst: 60, createdTsS: 1, revokedTsS: null };
const EVENT: UsageRecord = {
  eventId: "e1",
  keyId: "key_a",
  inputChars: 7,
  inputAudioS: 0.5,
  outputAudioS: 0.08,
  tsS: 5,
};

interface OddStore {
  readonly dataDir: string;
  readonly store: Store;
  readonly threads: readonly Worker[];
  readonly messages: readonly string[];
  /** Sets how the thread of the next call ends. */
  fate(fate: (typeof FATES)[keyof typeof FATES]): void;
}

async function withOddStore(options: LibsqlStoreOptions, work: (odd: OddStore) => Promise<void>) {
  const dataDir = temporaryFolder();
  const cells = new Int32Array(new SharedArrayBuffer(4));
  const threads: Worker[] = [];
  const messages: string[] = [];
  const store = await libsqlStore(dataDir, {
    startThread: (site) => {
      const thread = new Worker(new URL("./odd-ledger.js", import.meta.url), { workerData: { site, cells } });
      threads.push(thread);
      return thread;
    },
    onFailure: (message) => messages.push(message),
    onRecovery: (message) => messages.push(message),
    ...options,
  });
  try {
    await store.createKey(KEY, HASH);
    await work({ dataDir, store, threads, messages, fate: (fate) => Atomics.store(cells, 0, fate) });
  } finally {
    await store.close();
  }
}

function isUnavailable(error: unknown): boolean {
  assert.ok(error instanceof StoreError, String(error));
  assert.deepEqual([error.problem, error.isTransient], ["unavailable", true]);
  assert.match(error.message, /^The database .*antiphon\.db does not answer \(.*\): try again\.$/);
  return true;
}

describe("a store with failing or blocked threads", () => {
  it("reopens the database after its thread died while idle", async () => {
    await withOddStore({}, async ({ store, threads }) => {
      await store.findKey(HASH);
      assert.equal(threads.length, 2);
      for (const thread of threads) await thread.terminate();
      assert.equal(store.isWell(), false);
      assert.deepEqual(await store.listKeys(), [KEY]);
      await store.commit([EVENT]);
      assert.equal((await store.totals())[0]?.requests, 1);
      assert.equal(store.isWell(), true);
    });
  });

  for (const fate of ["diesBefore", "diesAfter"] as const) {
    it(`repeats idempotent work, and counts an event once, if the thread ${fate}`, async () => {
      await withOddStore({}, async (odd) => {
        const { store } = odd;
        odd.fate(FATES[fate]);
        await store.commit([EVENT]);
        odd.fate(FATES[fate]);
        assert.equal(await store.revokeKey("key_a", 9), true);
        odd.fate(FATES[fate]);
        assert.equal((await store.findKey(HASH))?.key.revokedTsS, 9);
        odd.fate(FATES[fate]);
        assert.equal((await store.listKeys()).length, 1);
        odd.fate(FATES[fate]);
        assert.deepEqual(await store.totals("key_a"), [
          {
            keyId: "key_a",
            requests: 1,
            inputChars: 7,
            inputAudioS: 0.5,
            outputAudioS: 0.08,
            lastRequestTsS: 5,
          },
        ]);
        assert.equal(store.isWell(), true);
      });
    });

    it(`does not create a key twice if the thread ${fate}`, async () => {
      await withOddStore({}, async (odd) => {
        const { store } = odd;
        odd.fate(FATES[fate]);
        await assert.rejects(store.createKey({ ...KEY, keyId: "key_b" }, "b".repeat(64)), isUnavailable);
        assert.equal((await store.listKeys()).length, fate === "diesBefore" ? 1 : 2);
      });
    });
  }

  it("reports failure and recovery without a path", async () => {
    await withOddStore({}, async (odd) => {
      odd.fate(FATES.diesBefore);
      await odd.store.commit([EVENT]);
      assert.deepEqual(odd.messages, [
        "the thread that writes keys and usage died (it ended by itself)",
        "the thread that writes keys and usage works again",
      ]);
    });
  });

  it("abandons a hung thread, whose refused writes are discarded", async () => {
    await withOddStore({ deadlineMs: 3_000, patienceMs: 60_000 }, async ({ dataDir, store, threads }) => {
      const holder = new Database(join(dataDir, "antiphon.db"));
      holder.exec("BEGIN IMMEDIATE");
      try {
        await assert.rejects(store.commit([EVENT]), isUnavailable);
        assert.equal(store.isWell(), false);
        const ended = new Promise((resolve) => threads[0]?.once("exit", resolve));
        holder.exec("COMMIT");
        await within("the end of the thread", ended);
      } finally {
        holder.close();
      }
      assert.equal((await store.totals())[0]?.requests, 0);
      await store.commit([{ ...EVENT, eventId: "e2" }]);
      assert.equal((await store.totals())[0]?.requests, 1);
      assert.equal(store.isWell(), true);
    });
  });

  it("reads keys and totals while a commit waits", async () => {
    await withOddStore({ patienceMs: 60_000 }, async ({ dataDir, store }) => {
      const holder = new Database(join(dataDir, "antiphon.db"));
      holder.exec("BEGIN IMMEDIATE");
      let isWaiting = true;
      const commit = store.commit([EVENT]).finally(() => {
        isWaiting = false;
      });
      try {
        assert.equal((await store.findKey(HASH))?.key.keyId, "key_a");
        assert.deepEqual(await store.listKeys(), [KEY]);
        assert.equal((await store.totals())[0]?.requests, 0);
        assert.equal(isWaiting, true);
      } finally {
        holder.exec("COMMIT");
        holder.close();
      }
      await commit;
      assert.equal((await store.totals())[0]?.requests, 1);
    });
  });

  it("reports a transient error if another process holds the database", async () => {
    await withOddStore({ patienceMs: 1 }, async ({ dataDir, store }) => {
      const holder = new Database(join(dataDir, "antiphon.db"));
      holder.exec("BEGIN IMMEDIATE");
      try {
        await assert.rejects(
          store.commit([EVENT]),
          (error) => error instanceof StoreError && error.problem === "busy" && error.isTransient,
        );
        assert.equal(store.isWell(), true, "its thread is not at fault");
        holder.exec("COMMIT");
      } finally {
        holder.close();
      }
      await store.commit([EVENT]);
    });
  });
});
