import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { CheckpointCache, type CheckpointLease } from "../../src/models/checkpoint-cache.ts";
import fc from "../properties.ts";
import { FakeCheckpoints, type Instance } from "./fake-checkpoints.ts";

const SIZES = [3, 2, 2, 4, 1];
const PINNED = "c0";
const BUDGET = 8;

const step = fc.record({
  kind: fc.constantFrom(
    "hold",
    "hold",
    "release",
    "abort",
    "finishLoad",
    "finishLoad",
    "failLoad",
    "finishClose",
  ),
  which: fc.nat(100),
});

test("any sequence of operations keeps the budget, evicts least recently used first, starves no request", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120, size: "max" }), async (steps) => {
      const world = new World();
      for (const { kind, which } of steps) {
        world.take(kind, which);
        await setImmediate();
        world.check();
      }
      await world.settle();
    }),
    { numRuns: 300 },
  );
});

interface Wish {
  readonly checkpoint: string;
  readonly controller: AbortController;
  state: "waiting" | "held" | "failed" | "aborted" | "released";
  hold: CheckpointLease | null;
}

/** A cache with fake checkpoints and a model of its expected state. */
class World {
  readonly #fakes = new FakeCheckpoints();
  readonly #checkpoints = SIZES.map((bytes, index) => this.#fakes.make(`c${index}`, bytes));
  readonly #residency = new CheckpointCache(BUDGET, new Set([PINNED]));
  readonly #wishes: Wish[] = [];
  readonly #lastUse = new Map<string, number>();
  readonly #faults: string[] = [];
  #clock = 0;
  #isEnding = false;

  constructor() {
    this.#fakes.onClose = (instance) => this.#noteUnloading(instance);
  }

  take(kind: string, which: number): void {
    this.#clock += 1;
    if (kind === "hold") this.#wish(which);
    else if (kind === "release") this.#release(pick(this.#in("held"), which));
    else if (kind === "abort") this.#abort(pick(this.#in("waiting"), which));
    else if (kind === "finishLoad") pick(this.#fakes.in("loading"), which)?.finishLoad();
    else if (kind === "failLoad") pick(this.#fakes.in("loading"), which)?.failLoad(new Error("lost"));
    else pick(this.#fakes.in("closing"), which)?.finishClose();
  }

  check(): void {
    assert.deepEqual(this.#faults, []);
    assert.ok(this.#fakes.usedBytes <= BUDGET, `${this.#fakes.usedBytes} of ${BUDGET} bytes`);
    for (const { hold, checkpoint } of this.#in("held")) {
      const instance = this.#fakes.instances.find(({ model }) => model === hold?.model);
      assert.equal(instance?.state, "loaded", `${checkpoint} is held`);
      assert.equal(instance.checkpoint, checkpoint);
    }
    const alive = this.#fakes.instances
      .filter(({ state }) => state !== "gone")
      .map(({ checkpoint }) => checkpoint);
    assert.equal(new Set(alive).size, alive.length, `twice in memory: ${alive}`);
  }

  /** Completes everything; then no request may be waiting. */
  async settle(): Promise<void> {
    for (let round = 0; round < 200 && this.#in("waiting").length > 0; round++) {
      for (const instance of this.#fakes.in("loading")) instance.finishLoad();
      for (const instance of this.#fakes.in("closing")) instance.finishClose();
      for (const wish of this.#in("held")) {
        this.#clock += 1;
        this.#release(wish);
      }
      await setImmediate();
      this.check();
    }
    assert.deepEqual(this.#in("waiting"), []);
    this.#isEnding = true;
    const closing = this.#residency.close();
    for (let round = 0; round < 5; round++) {
      for (const instance of this.#fakes.in("loading")) instance.finishLoad();
      for (const instance of this.#fakes.in("closing")) instance.finishClose();
      await setImmediate();
    }
    await closing;
    assert.equal(this.#fakes.usedBytes, 0);
  }

  #in(state: Wish["state"]): Wish[] {
    return this.#wishes.filter((wish) => wish.state === state);
  }

  #wish(which: number): void {
    const checkpoint = this.#checkpoints[which % this.#checkpoints.length] ?? assert.fail();
    const controller = new AbortController();
    const wish: Wish = { checkpoint: checkpoint.name, controller, state: "waiting", hold: null };
    this.#wishes.push(wish);
    this.#residency.acquire(checkpoint, controller.signal).then(
      (hold) => {
        wish.hold = hold;
        wish.state = "held";
      },
      (error: unknown) => {
        if (wish.state === "waiting") wish.state = "failed";
        assert.ok(
          wish.state === "aborted" ? error === controller.signal.reason : error instanceof SpeechFailedError,
        );
      },
    );
  }

  #release(wish: Wish | undefined): void {
    if (wish === undefined) return;
    wish.state = "released";
    this.#lastUse.set(wish.checkpoint, this.#clock);
    wish.hold?.release();
    wish.hold?.release();
  }

  #abort(wish: Wish | undefined): void {
    if (wish === undefined) return;
    wish.state = "aborted";
    const entry = this.#residency.list().find(({ checkpoint }) => checkpoint === wish.checkpoint);
    if (entry !== undefined && entry.state !== "unloading") this.#lastUse.set(wish.checkpoint, this.#clock);
    wish.controller.abort(new Error("gone"));
  }

  #noteUnloading({ checkpoint }: Instance): void {
    if (this.#isEnding) return;
    if (checkpoint === PINNED) this.#faults.push("a pinned checkpoint is unloaded");
    if (this.#in("held").some((wish) => wish.checkpoint === checkpoint)) {
      this.#faults.push(`${checkpoint} is unloaded while it is held`);
    }
    const usedAt = (name: string): number => this.#lastUse.get(name) ?? 0;
    for (const other of this.#residency.list()) {
      if (other.state !== "loaded" || other.leases > 0 || other.isPinned) continue;
      if (usedAt(other.checkpoint) < usedAt(checkpoint)) {
        this.#faults.push(`${checkpoint} is unloaded, but ${other.checkpoint} was unused for longer`);
      }
    }
  }
}

function pick<T>(from: readonly T[], which: number): T | undefined {
  return from[which % Math.max(1, from.length)];
}

test("unloads an unused checkpoint after its idle time unless it is leased again or pinned", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const fakes = new FakeCheckpoints();
  const residency = new CheckpointCache(10, new Set(["pinned"]));
  const signal = new AbortController().signal;
  const held = async (name: string): Promise<CheckpointLease> => {
    const holding = residency.acquire({ ...fakes.make(name, 1), idleUnloadMs: 1_000 }, signal);
    for (const instance of fakes.in("loading")) instance.finishLoad();
    await setImmediate();
    for (const instance of fakes.in("loading")) instance.finishLoad();
    return holding;
  };
  const states = () => residency.list().map(({ checkpoint, state }) => `${checkpoint} ${state}`);
  const [first, pinned] = [await held("a"), await held("pinned")];
  first.release();
  pinned.release();
  context.mock.timers.tick(999);
  const second = await held("a");
  context.mock.timers.tick(5_000);
  assert.deepEqual(states().sort(), ["a loaded", "pinned loaded"]);
  second.release();
  context.mock.timers.tick(1_000);
  assert.deepEqual(states().sort(), ["a unloading", "pinned loaded"]);
  await setImmediate();
  fakes.in("closing")[0]?.finishClose();
  await setImmediate();
  assert.deepEqual(states(), ["pinned loaded"]);
  const closing = residency.close();
  await setImmediate();
  for (const instance of fakes.in("closing")) instance.finishClose();
  await closing;
});

test("reports the load time to requests that waited for the load, and null to others", async () => {
  const fakes = new FakeCheckpoints();
  const residency = new CheckpointCache(10, new Set());
  const checkpoint = fakes.make("a", 1);
  const signal = new AbortController().signal;
  const both = Promise.all([residency.acquire(checkpoint, signal), residency.acquire(checkpoint, signal)]);
  await setImmediate();
  fakes.in("loading")[0]?.finishLoad();
  for (const { loadMs } of await both) assert.ok(loadMs !== null && loadMs >= 0);
  assert.equal((await residency.acquire(checkpoint, signal)).loadMs, null);
  const closing = residency.close();
  await setImmediate();
  for (const instance of fakes.in("closing")) instance.finishClose();
  await closing;
});
