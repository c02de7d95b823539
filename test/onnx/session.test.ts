import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { openSession } from "../../src/onnx/session.ts";
import { float32, floatsOf, idRow, idsOf } from "../../src/onnx/tensor.ts";
import { collectGarbage } from "../collect-garbage.ts";
import { until } from "../waiting.ts";

const TEXT_GRAPH = fileURLToPath(new URL("../../../voices/heart/split/text.onnx", import.meta.url));
const WORD_GRAPH = fileURLToPath(new URL("../../../voices/heart/oov.onnx", import.meta.url));

describe("openSession", () => {
  it("runs float32 and int64 tensors, and names a missing output", async () => {
    const words = await openSession(await readFile(WORD_GRAPH), "oov.onnx");
    const outputs = await words.run({ chars: idRow([30, 50, 17]) });
    assert.equal(idsOf(outputs, "ids").length, 12);
    assert.throws(() => floatsOf(outputs, "ids"), /no float32 output named "ids"/);
    await words.release();
    const text = await openSession(await readFile(TEXT_GRAPH), "text.onnx");
    assert.equal(floatsOf(await text.run({ ids: idRow([0, 50, 0]) }), "dur").length, 3);
    assert.throws(() => idsOf({ dur: float32(new Float32Array(1), [1]) }, "dur"), /no int64 output/);
    await text.release();
  });

  it("keeps no reference to the file's bytes", async () => {
    const open = async () => {
      const bytes = await readFile(WORD_GRAPH);
      return { session: await openSession(bytes, "oov.onnx"), bytes: new WeakRef(bytes) };
    };
    const { session, bytes } = await open();
    await until("the bytes to be collected", () => {
      collectGarbage();
      return bytes.deref() === undefined;
    });
    assert.equal(idsOf(await session.run({ chars: idRow([30, 50, 17]) }), "ids").length, 12);
    await session.release();
  });

  it("rejects runs once released, and may be released again", async () => {
    const session = await openSession(await readFile(WORD_GRAPH), "oov.onnx");
    await session.release();
    await session.release();
    await assert.rejects(session.run({ chars: idRow([1]) }), /oov\.onnx was released/);
  });

  it("calls its guard around native code, but not while a run waits for the event loop", async () => {
    const log: string[] = [];
    const guard = { enter: () => void log.push("enter"), leave: () => void log.push("leave") };
    const session = await openSession(await readFile(WORD_GRAPH), "oov.onnx", { guard });
    assert.deepEqual(log.splice(0), ["enter", "leave", "enter", "leave"]);
    setImmediate(() => log.push("before"));
    const run = session.run({ chars: idRow([30, 50, 17]) });
    setImmediate(() => log.push("after"));
    assert.deepEqual(log, []);
    await run;
    assert.deepEqual(log.splice(0), ["before", "enter", "leave"]);
    await assert.rejects(session.run({ letters: idRow([1]) }), /chars/);
    await session.release();
    await session.release();
    const calls = log.filter((entry) => entry !== "after");
    assert.equal(calls.filter((entry) => entry === "enter").length, calls.length / 2, log.join(" "));
    await assert.rejects(openSession(new Uint8Array(64), "damaged.onnx", { guard }));
    assert.equal(log.at(-1), "leave");
  });

  it("rejects bytes that are no graph, by the file's name", async () => {
    const opening = openSession(new Uint8Array(64), "split/text.onnx");
    await assert.rejects(opening, /^Error: split\/text\.onnx is not a graph/);
  });
});
