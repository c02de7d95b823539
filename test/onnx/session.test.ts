import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openSession } from "../../src/onnx/session.ts";
import { float32, floatsOf, idRow, idsOf } from "../../src/onnx/tensor.ts";
import { readVerifiedFile } from "../../src/onnx/verified-file.ts";
import { collectGarbage } from "../collect-garbage.ts";
import { until } from "../waiting.ts";

const TEXT_GRAPH = fileURLToPath(new URL("../../../voices/heart/split/text.onnx", import.meta.url));
const WORD_GRAPH = fileURLToPath(new URL("../../../voices/heart/oov.onnx", import.meta.url));

test("a graph runs with float32 and int64 tensors, and says which output is missing", async () => {
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

test("an open session does not keep the bytes that it was opened from", async () => {
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

test("a session that was released says so, and may be released again", async () => {
  const session = await openSession(await readFile(WORD_GRAPH), "oov.onnx");
  await session.release();
  await session.release();
  await assert.rejects(session.run({ chars: idRow([1]) }), /oov\.onnx was released/);
});

test("what guards against being ended is told around native code, and not while a run waits for the event loop", async () => {
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

test("bytes that are no graph are refused in one sentence that names the file", async () => {
  await assert.rejects(
    openSession(new Uint8Array(64), "split/text.onnx"),
    /^Error: split\/text\.onnx is not a graph/,
  );
});

describe("a file with a list of digests beside it", () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "antiphon-checked-"));
    const digest = createHash("sha256").update("good").digest("hex");
    await writeFile(path("good"), "good");
    await writeFile(path("damaged"), "goof");
    await writeFile(path("unlisted"), "good");
    await writeFile(
      path("SHA256SUMS"),
      ["good", "damaged", "missing"].map((name) => `${digest}  ${name}\n`).join(""),
    );
  });
  after(() => rm(folder, { recursive: true }));

  test("is read when its digest is right", async () => {
    assert.equal(new TextDecoder().decode(await readVerifiedFile(path("good"))), "good");
  });

  for (const [name, why] of [
    ["damaged", /damaged: .*|damaged is damaged/],
    ["missing", /missing is missing/],
    ["unlisted", /unlisted is not listed/],
  ] as const) {
    test(`is refused by name when it is ${name}`, async () => {
      await assert.rejects(readVerifiedFile(path(name)), why);
    });
  }
});
