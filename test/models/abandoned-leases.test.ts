import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { KeyedSemaphore } from "../../src/limits/keyed-semaphore.ts";
import { createCatalogue } from "../../src/models/catalogue.ts";
import { CheckpointCache } from "../../src/models/checkpoint-cache.ts";
import { EMBEDDED_CHECKPOINT, PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { createMetrics } from "../../src/requests/metrics.ts";
import { SpeechService } from "../../src/serving/reply/speech-service.ts";
import { never } from "../core/scripts.ts";
import { caller, PREPARED } from "../serving/service-over.ts";
import { FakeCheckpoints } from "./fake-checkpoints.ts";

/** More microtasks than any step takes. */
const MOST_TICKS = 24;
const NEVER_MS = 60_000;
const ALONE = { queueDepth: 1, keyQueueDepth: 1 } as const;

test("an abort at any microtask while a model loads leaves no lease", async () => {
  await atEveryTick(async (meet) => {
    const fakes = new FakeCheckpoints();
    const residency = new CheckpointCache(1, new Set());
    const controller = new AbortController();
    const holding = released(residency.acquire(fakes.make("a", 1), controller.signal));
    await setImmediate();
    await meet(() => fakes.instances[0]?.finishLoad(), controller);
    await holding;
    assert.deepEqual(leasesOf(residency), [0]);
  });
});

test("an abort at any microtask while acquiring a loaded model leaves no lease", async () => {
  await atEveryTick(async (meet) => {
    const fakes = new FakeCheckpoints();
    const residency = new CheckpointCache(1, new Set());
    const checkpoint = fakes.make("a", 1);
    const first = released(residency.acquire(checkpoint, never()));
    await setImmediate();
    fakes.instances[0]?.finishLoad();
    await first;
    const controller = new AbortController();
    let holding: Promise<void> | undefined;
    await meet(() => {
      holding = released(residency.acquire(checkpoint, controller.signal));
    }, controller);
    await holding;
    assert.deepEqual(leasesOf(residency), [0]);
  });
});

test("an abort at any microtask while waiting for memory leaves no lease", async () => {
  await atEveryTick(async (meet) => {
    const fakes = new FakeCheckpoints();
    const residency = new CheckpointCache(1, new Set());
    const first = released(residency.acquire(fakes.make("a", 1), never()));
    await setImmediate();
    fakes.instances[0]?.finishLoad();
    await first;
    const controller = new AbortController();
    const holding = released(residency.acquire(fakes.make("b", 1), controller.signal));
    await setImmediate();
    await meet(() => fakes.instances[0]?.finishClose(), controller);
    fakes.instances[1]?.finishLoad();
    await holding;
    assert.ok(leasesOf(residency).every((leases) => leases === 0));
    const next = released(residency.acquire(fakes.make("c", 1), never()));
    for (let turn = 0; turn < 3; turn++) {
      for (const instance of fakes.in("loading")) instance.finishLoad();
      for (const instance of fakes.in("closing")) instance.finishClose();
      await setImmediate();
    }
    await next;
  });
});

test("a client that disconnects at any microtask while leasing its model leaves no lease", async () => {
  await atEveryTick(async (meet) => {
    const fakes = new FakeCheckpoints();
    const catalogue = createCatalogue({
      models: PUBLIC_MODELS,
      checkpoints: [fakes.make(EMBEDDED_CHECKPOINT, 1)],
      memoryBudgetBytes: 1,
    });
    const service = new SpeechService(
      {
        lease: (model, signal) => catalogue.lease(model, signal),
        writer: null,
        writing: new KeyedSemaphore({ ...ALONE, what: "turns", total: 1, perKey: 1, waitMs: NEVER_MS }),
        meter: async () => {},
        telemetry: createMetrics("0").telemetry,
      },
      {
        ...ALONE,
        concurrency: 1,
        keyConcurrency: 1,
        queueWaitMs: NEVER_MS,
        frameTimeoutMs: NEVER_MS,
        loadTimeoutMs: NEVER_MS,
        maxAheadS: 0,
      },
    );
    const controller = new AbortController();
    const speech = service.speak(PREPARED, caller({ signal: controller.signal }));
    const first = Promise.allSettled([speech.next()]);
    await setImmediate();
    await meet(() => fakes.instances[0]?.finishLoad(), controller);
    await first;
    await speech.return(undefined as never).catch(() => {});
    assert.deepEqual([catalogue.resident()[0]?.leases, service.active], [0, 0]);
  });
});

type Meet = (happen: () => void, controller: AbortController) => Promise<void>;

/** Runs an attempt with the event and the abort at every distance, in both orders. */
async function atEveryTick(attempt: (meet: Meet) => Promise<void>): Promise<void> {
  for (let ticks = 0; ticks <= MOST_TICKS; ticks++) {
    for (const isAbortFirst of [false, true]) {
      await attempt(async (happen, controller) => {
        const abort = () => controller.abort(new Error("gone"));
        const [first, second] = isAbortFirst ? [abort, happen] : [happen, abort];
        first();
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        second();
        await setImmediate();
      });
    }
  }
}

/** Releases a lease once it is acquired. */
function released(holding: ReturnType<CheckpointCache["acquire"]>): Promise<void> {
  return holding.then(
    (hold) => hold.release(),
    () => {},
  );
}

function leasesOf(residency: CheckpointCache): number[] {
  return residency.list().map(({ leases }) => leases);
}
