import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { openWeights } from "../../src/onnx/weights-folder.ts";
import {
  bytesToWrite,
  CHUNK_BYTES,
  isIntact,
  readMetadata,
  type TensorGroup,
  writeSafetensors,
} from "../../src/onnx/write-safetensors.ts";

const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
after(() => rm(folder, { recursive: true }));
const { signal } = new AbortController();

const numbers = Float32Array.of(1.5, -2, 3);
const small: TensorGroup = {
  tensors: [
    { name: "odd", dtype: "U8", shape: [3] },
    { name: "numbers", dtype: "F32", shape: [3, 1] },
  ],
  make: () => [Uint8Array.of(1), Uint8Array.of(2, 3), new Uint8Array(numbers.buffer)],
};

/** More than one write, in pieces that fit no chunk. The buffer is reused. */
const LARGE = 6 * CHUNK_BYTES + 12_345;
const large: TensorGroup = {
  tensors: [{ name: "large", dtype: "U8", shape: [LARGE] }],
  *make() {
    const piece = new Uint8Array(1_000_003);
    for (let done = 0; done < LARGE; done += piece.length) {
      for (let at = 0; at < piece.length; at += 997) piece[at] = done + at;
      yield piece.subarray(0, LARGE - done);
    }
  },
};

it("writeSafetensors writes what openWeights reads", async () => {
  const path = join(folder, "written.safetensors");
  await writeSafetensors(path, [small, large], { made_by: "a test" });
  const weights = await openWeights(folder, "written.safetensors");
  try {
    assert.deepEqual(await weights.read("numbers", [3, 1]), numbers);
    assert.equal(weights.variables.get("odd")!.type, "uint8");
    const { from, bytes } = weights.variables.get("large")!;
    const file = await readFile(path);
    let at = from;
    for (const piece of large.make() as Iterable<Uint8Array>) {
      assert.ok(file.subarray(at, at + piece.length).equals(piece));
      at += piece.length;
    }
    assert.equal(at, from + bytes);
    assert.equal(file.length, bytesToWrite([small, large], { made_by: "a test" }));
  } finally {
    await weights.close();
  }
  assert.equal((await readMetadata(path))?.made_by, "a test");
  assert.ok(await isIntact(path, signal));
});

it("isIntact detects any changed, missing or additional byte", async () => {
  const path = join(folder, "damaged.safetensors");
  await writeSafetensors(path, [small, large]);
  const whole = await readFile(path);
  const { size: head } = { size: 8 + Number(whole.readBigUInt64LE()) };
  const seal = whole.indexOf("sealed_sha256");
  const file = await open(path, "r+");
  try {
    const chunk = head + CHUNK_BYTES;
    for (const at of [0, 8, seal, seal + 20, head - 1, head, chunk - 1, chunk, whole.length - 1]) {
      await file.write(Uint8Array.of(whole[at]! ^ 1), 0, 1, at);
      assert.equal(await isIntact(path, signal), false, `byte ${at}`);
      await file.write(whole, at, 1, at);
    }
    assert.equal(await isIntact(path, signal), true);
    await truncate(path, whole.length - 1);
    assert.equal(await isIntact(path, signal), false);
    await file.write(whole.subarray(-1), 0, 1, whole.length - 1);
    await file.write(Uint8Array.of(0), 0, 1, whole.length);
    assert.equal(await isIntact(path, signal), false);
  } finally {
    await file.close();
  }
});

it("isIntact rejects a missing, foreign or unsealed file", async () => {
  const path = join(folder, "other.safetensors");
  assert.equal(await isIntact(path, signal), false);
  for (const content of ["", "no weights at all", "\u0002\0\0\0\0\0\0\0{}"]) {
    await writeFile(path, content);
    assert.equal(await isIntact(path, signal), false, content);
  }
  assert.equal(await readMetadata(join(folder, "nowhere")), null);
});

it("isIntact ends with its signal", async () => {
  const path = join(folder, "asked.safetensors");
  await writeSafetensors(path, [large]);
  await assert.rejects(isIntact(path, AbortSignal.abort(new Error("enough"))), /enough/);
});

it("writeSafetensors rejects tensors that are too long or fail, even late", async () => {
  const path = join(folder, "wrong.safetensors");
  const wrong: TensorGroup = {
    tensors: [{ name: "a", dtype: "U8", shape: [2] }],
    make: () => [new Uint8Array(3)],
  };
  await assert.rejects(writeSafetensors(path, [large, wrong]), /^Error: a: 3 bytes, not 2\.$/);
  const failing: TensorGroup = {
    ...wrong,
    // biome-ignore lint/correctness/useYield: it fails first.
    *make() {
      throw new Error("out of numbers");
    },
  };
  await assert.rejects(writeSafetensors(path, [large, failing]), /out of numbers/);
});
