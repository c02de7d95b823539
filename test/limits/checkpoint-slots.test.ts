import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { CheckpointSlots } from "../../src/limits/checkpoint-slots.ts";
import type { Slot, UtteranceSlotOptions } from "../../src/limits/slot-utterance.ts";

const OPTIONS: UtteranceSlotOptions = {
  concurrency: 2,
  keyConcurrency: 2,
  queueDepth: 10,
  keyQueueDepth: 1,
  queueWaitMs: 60_000,
};

let admissions: CheckpointSlots | null = null;
const slots: Slot[] = [];
afterEach(() => {
  admissions?.close();
  for (const slot of slots.splice(0)) slot.release();
});

function admissionsOf(
  elsewhere: Readonly<Record<string, number>>,
  options: Partial<UtteranceSlotOptions> = {},
  keepsSlots = false,
) {
  const own = Object.entries(elsewhere).map(([name, slots]) => [name, { slots, keepsSlots }] as const);
  const made = new CheckpointSlots({ ...OPTIONS, ...options }, new Map(own));
  admissions = made;
  const enter = async (checkpoint: string): Promise<void> => {
    slots.push(await made.of(checkpoint).enter("a", new AbortController().signal, () => {}));
  };
  const wait = (checkpoint: string): void => {
    enter(checkpoint).catch(() => {});
  };
  return { made, enter, wait };
}

test("a remote checkpoint has its own slots; all others share the local ones", async () => {
  const { made, enter, wait } = admissionsOf({ farm: 1 });
  await enter("heart");
  await enter("another");
  await enter("farm");
  assert.deepEqual([made.active, made.queued], [3, 0]);
  wait("farm");
  assert.deepEqual([made.active, made.queued], [3, 1]);
  slots.at(-1)!.release();
  assert.deepEqual([made.active, made.queued], [3, 0]);
});

test("refusalFor reports a full queue only if every checkpoint is full", async () => {
  const { made, enter, wait } = admissionsOf({ farm: 1 });
  await enter("farm");
  wait("farm");
  assert.equal(made.refusalFor("a"), null);
  await Promise.all([enter("heart"), enter("heart")]);
  wait("heart");
  const refusal = made.refusalFor("a");
  assert.ok(refusal instanceof ServiceError && refusal.status === 429);
  assert.equal(made.refusalFor("b"), null);
});

test("a key's limit applies to remote slots; without one, a key alone gets every slot", async () => {
  const open = async (keyConcurrency: number): Promise<number> => {
    const { made, enter, wait } = admissionsOf(
      { farm: 4 },
      { concurrency: 3, keyConcurrency, keyQueueDepth: 9 },
    );
    await enter("farm");
    for (let times = 0; times < 5; times++) wait("farm");
    await Promise.resolve();
    return made.active;
  };
  assert.equal(await open(3), 4);
  assert.equal(await open(2), 2);
});

test("kept slots are never exceeded, even while an utterance is paused", async () => {
  for (const [keepsSlots, active] of [
    [false, 1],
    [true, 0],
  ] as const) {
    const { made, enter } = admissionsOf({ csm: 1 }, {}, keepsSlots);
    await enter("csm");
    slots.at(-1)!.pause();
    const other = made.of("csm").enter("b", new AbortController().signal, () => {});
    other.then((slot) => slots.push(slot)).catch(() => {});
    await Promise.resolve();
    assert.deepEqual([made.active, made.queued], [active, 1 - active]);
    for (const slot of slots.splice(0)) slot.release();
    made.close();
  }
});

test("close refuses new requests for every checkpoint", async () => {
  const { made, enter } = admissionsOf({ farm: 1 });
  made.close();
  for (const checkpoint of ["heart", "farm"]) await assert.rejects(enter(checkpoint), ServiceError);
  assert.equal(made.refusalFor("a")?.status, 502);
});
