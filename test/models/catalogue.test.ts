import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { createCatalogue } from "../../src/models/catalogue.ts";
import { findModel, PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { never, speakAll } from "../core/scripts.ts";
import { FakeCheckpoints, publicModel } from "./fake-checkpoints.ts";

test("lists the four public models: the default first, the compact one last, each with both modes", () => {
  const catalogue = createCatalogue({
    models: PUBLIC_MODELS,
    checkpoints: [new FakeCheckpoints().make("heart", 1)],
    memoryBudgetBytes: 1,
  });
  const cards = catalogue.cards();
  assert.deepEqual(
    cards.map(({ id }) => id),
    ["svc-beta-v0.3", "svc-beta-v0.2", "svc-beta-v0.1", "svc-atom-beta-v0.1"],
  );
  assert.deepEqual(
    cards.map(({ isDefault }) => isDefault),
    [true, false, false, false],
  );
  for (const { modes, speakers, displayName, description } of cards) {
    assert.deepEqual(modes, ["converse", "tts"]);
    assert.deepEqual(speakers, ["0", "1"]);
    assert.ok(displayName.length > 0 && description.includes("heart"));
  }
  assert.equal(new Set(PUBLIC_MODELS.map(({ preset }) => JSON.stringify(preset))).size, 4);
});

test("resolves null to the default model and returns none for an unknown or empty id", () => {
  const id = (asked: string | null) => findModel(PUBLIC_MODELS, asked)?.card.id;
  assert.equal(id(null), "svc-beta-v0.3");
  assert.equal(id("svc-beta-v0.1"), "svc-beta-v0.1");
  for (const unknown of ["", "SVC-BETA-V0.1", "__proto__"]) assert.equal(id(unknown), undefined);
});

test("reports unused knobs per model, from its checkpoint and preset", () => {
  const checkpoint = { ...new FakeCheckpoints().make("one", 1) };
  const catalogue = createCatalogue({
    models: [publicModel("a", "one", true), publicModel("b", "two")],
    checkpoints: [
      { ...checkpoint, unusedKnobs: ({ name }) => ({ topK: `There is no list in ${name}.` }) },
      { ...checkpoint, name: "two" },
    ],
    memoryBudgetBytes: 2,
  });
  assert.deepEqual(catalogue.unusedKnobs(), { a: { topK: "There is no list in a." }, b: {} });
});

test("concurrent leases share one load, and models of one checkpoint share one instance", async () => {
  const fakes = new FakeCheckpoints();
  const [a, b] = [publicModel("a", "one", true), publicModel("b", "one")];
  const catalogue = createCatalogue({
    models: [a, b],
    checkpoints: [fakes.make("one", 1)],
    memoryBudgetBytes: 1,
  });
  const leases = Promise.all([
    catalogue.lease(a, never()),
    catalogue.lease(b, never()),
    catalogue.lease(a, never()),
  ]);
  await setImmediate();
  assert.equal(fakes.instances.length, 1);
  fakes.instances[0]?.finishLoad();
  const [first, second, third] = await leases;
  assert.equal(first.model, second.model);
  assert.equal(first.model, third.model);
  assert.deepEqual(second.preset, { name: "b" });
  assert.equal(second.card.id, "b");
  assert.equal(catalogue.resident()[0]?.leases, 3);
  for (const lease of [first, first, second, third]) lease.release();
  assert.equal(catalogue.resident()[0]?.leases, 0);
  assert.equal((await speakAll(first.model)).report.stop, "finished");
});

test("a failed load rejects its waiters and names the checkpoint; the next lease retries", async () => {
  const { catalogue, fakes, b } = three();
  const failing = Promise.allSettled([catalogue.lease(b, never()), catalogue.lease(b, never())]);
  await setImmediate();
  fakes.instances[0]?.failLoad(new Error("model.onnx is cut short"));
  for (const end of await failing) {
    assert.ok(end.status === "rejected" && end.reason instanceof SpeechFailedError);
    assert.match(end.reason.message, /two.*model\.onnx is cut short/);
  }
  assert.deepEqual(catalogue.resident(), []);
  const again = catalogue.lease(b, never());
  await setImmediate();
  fakes.instances[1]?.finishLoad();
  (await again).release();
});

test("a load that throws synchronously is a failed load", async () => {
  const model = publicModel("a", "one", true);
  const load = () => {
    throw new Error("no such folder");
  };
  const checkpoints = [{ name: "one", memoryBytes: 1, load }];
  const catalogue = createCatalogue({ models: [model], checkpoints, memoryBudgetBytes: 1 });
  await assert.rejects(catalogue.warm(), SpeechFailedError);
});

test("warms a dozen checkpoints concurrently without a Node warning", async () => {
  const fakes = new FakeCheckpoints();
  const names = Array.from({ length: 12 }, (_, index) => `checkpoint-${index}`);
  const catalogue = createCatalogue({
    models: names.map((name) => publicModel(name, name, true)),
    checkpoints: names.map((name) => fakes.make(name, 1)),
    memoryBudgetBytes: names.length,
  });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const warm = catalogue.warm();
  await setImmediate();
  for (const instance of fakes.instances) instance.finishLoad();
  await warm;
  await setImmediate();
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("warming loads the resident models, which are never unloaded", async () => {
  const { catalogue, fakes, b, c } = three();
  const warm = catalogue.warm();
  await setImmediate();
  fakes.instances[0]?.finishLoad();
  await warm;
  for (const model of [b, c, b]) await leaseAndRelease(catalogue, fakes, model);
  assert.deepEqual(
    fakes.in("loaded").map(({ checkpoint }) => checkpoint),
    ["one", "two"],
  );
});

test("a lease without room waits for a release and can be aborted", async () => {
  const { catalogue, fakes, b, c } = three();
  const leasing = catalogue.lease(b, never());
  await setImmediate();
  fakes.instances[0]?.finishLoad();
  const held = await leasing;
  const controller = new AbortController();
  const impatient = catalogue.lease(c, controller.signal);
  const patient = catalogue.lease(c, never());
  await setImmediate();
  assert.equal(fakes.instances.length, 1);
  controller.abort(new Error("gone"));
  await assert.rejects(impatient, /gone/);
  held.release();
  await setImmediate();
  assert.equal(fakes.instances[0]?.state, "closing");
  assert.equal(fakes.instances.length, 1, "it loads before there is room");
  fakes.instances[0]?.finishClose();
  await setImmediate();
  fakes.instances[1]?.finishLoad();
  (await patient).release();
});

test("a lease with an aborted signal loads nothing", async () => {
  const { catalogue, fakes, b } = three();
  await assert.rejects(catalogue.lease(b, AbortSignal.abort(new Error("gone"))), /gone/);
  assert.equal(fakes.instances.length, 0);
});

test("rejects a model larger than memoryBudgetMb at startup", () => {
  const fakes = new FakeCheckpoints();
  const checkpoints = [fakes.make("one", 3 * 2 ** 20), fakes.make("two", 2 * 2 ** 20)];
  const models = [publicModel("a", "one", true), publicModel("b", "two")];
  assert.throws(
    () => createCatalogue({ models, checkpoints, memoryBudgetBytes: 4 * 2 ** 20 }),
    /b needs 5 MiB.*4 MiB of memoryBudgetMb/,
  );
  assert.throws(
    () => createCatalogue({ models, checkpoints, memoryBudgetBytes: 2 ** 20 }),
    /a needs 3 MiB.*memoryBudgetMb/,
  );
  createCatalogue({ models, checkpoints, memoryBudgetBytes: 5 * 2 ** 20 });
});

test("the default budget fits the resident models plus the largest other one, at least 4 GiB", async () => {
  const fakes = new FakeCheckpoints();
  const gib = 2 ** 30;
  const checkpoints = [fakes.make("one", 8 * gib), fakes.make("two", 3 * gib), fakes.make("three", 2 * gib)];
  const models = [publicModel("a", "one", true), publicModel("b", "two"), publicModel("c", "three")];
  const loadedOf = async (offered: typeof models) => {
    const catalogue = createCatalogue({ models: offered, checkpoints, memoryBudgetBytes: null });
    for (const model of offered) await leaseAndRelease(catalogue, fakes, model);
    return catalogue.resident().map(({ checkpoint }) => checkpoint);
  };
  assert.deepEqual(await loadedOf(models), ["one", "three"], "11 GiB: room for the larger of two others");
  assert.deepEqual(await loadedOf(models.slice(1)), ["three"], "4 GiB: not 3 and 2");
});

test("rejects a model with an unknown checkpoint at startup, naming both", () => {
  const models = [publicModel("a", "lost", true)];
  assert.throws(
    () => createCatalogue({ models, checkpoints: [], memoryBudgetBytes: 1 }),
    /model a names the checkpoint lost/,
  );
});

test("closing unloads everything, rejects waiters and refuses new leases", async () => {
  const { catalogue, fakes, b, c } = three();
  const leasing = catalogue.lease(b, never());
  await setImmediate();
  fakes.instances[0]?.finishLoad();
  await leasing;
  const waiting = assert.rejects(catalogue.lease(c, never()), SpeechFailedError);
  const closing = Promise.all([catalogue.close(), catalogue.close()]);
  await waiting;
  await setImmediate();
  for (const instance of fakes.in("closing")) instance.finishClose();
  await closing;
  assert.equal(fakes.usedBytes, 0);
  assert.deepEqual(catalogue.resident(), []);
  await assert.rejects(catalogue.lease(b, never()), SpeechFailedError);
});

/** `a` is resident; there is room for one of `b` and `c`. */
function three() {
  const fakes = new FakeCheckpoints();
  const [a, b, c] = [publicModel("a", "one", true), publicModel("b", "two"), publicModel("c", "three")];
  const checkpoints = [fakes.make("one", 1), fakes.make("two", 2), fakes.make("three", 2)];
  const catalogue = createCatalogue({ models: [a, b, c], checkpoints, memoryBudgetBytes: 3 });
  return { catalogue, fakes, a, b, c };
}

async function leaseAndRelease(
  catalogue: ReturnType<typeof createCatalogue>,
  fakes: FakeCheckpoints,
  model: ReturnType<typeof publicModel>,
): Promise<void> {
  const leasing = catalogue.lease(model, never());
  await setImmediate();
  for (const instance of fakes.in("closing")) instance.finishClose();
  await setImmediate();
  for (const instance of fakes.in("loading")) instance.finishLoad();
  (await leasing).release();
}
