import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type MatrixRows, Quantiser, rowsOf, rowsOfPart } from "../../src/onnx/quantiser.ts";
import type { Bits } from "../../src/onnx/quantising-kernel.ts";
import { type FloatType, fromBfloat16, fromFloat16 } from "../../src/onnx/variable.ts";
import type { Weights } from "../../src/onnx/weights-folder.ts";
import fc from "../properties.ts";
import { blocksInJavaScript } from "./blocks-in-javascript.ts";

const quantiser = await Quantiser.create();
const { signal } = new AbortController();

interface Stored {
  readonly type: FloatType;
  readonly shape: readonly number[];
  readonly words: Uint32Array | Uint16Array;
}

/** Weights with one tensor, "w". */
function weightsOf({ type, shape, words }: Stored): Weights {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  return {
    variable: () => ({ type, shape, from: 0, bytes: bytes.length, file: "w.safetensors" }),
    async readInto(room: Uint8Array, _: string, from: number) {
      assert.ok(from + room.length <= bytes.length);
      room.set(bytes.subarray(from, from + room.length));
    },
  } as unknown as Weights;
}

function numbersOf({ type, words }: Stored): Float32Array {
  if (words instanceof Uint32Array) return new Float32Array(words.buffer, words.byteOffset, words.length);
  return type === "float16" ? fromFloat16(words) : fromBfloat16(words);
}

async function quantised(rows: MatrixRows, bits: Bits): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of quantiser.quantised(rows, bits, signal)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

function expected(numbers: Float32Array, rows: number, columns: number, bits: Bits): Buffer {
  const { data, scales } = blocksInJavaScript(numbers, rows, columns, bits);
  return Buffer.concat([data, Buffer.from(scales.buffer)]);
}

/** Zeros of both signs, the smallest and the largest numbers of each type, halves of a step. */
const EDGES: Readonly<Record<FloatType, readonly number[]>> = {
  float32: [
    ...[0, 0x8000_0000, 1, 0x8000_0001, 0xbe, 0x7f_ffff, 0x80_0000, 0x8080_0000],
    ...[0x7f7f_ffff, 0xff7f_ffff, 0x3f80_0000, 0xbf80_0000, 0x3f00_0000, 0xbf00_0000, 0x4100_0000],
  ],
  bfloat16: [0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x7f7f, 0xff7f, 0x3f80, 0xbf80, 0x3f00, 0xbf00, 0x4100],
  float16: [0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x7bff, 0xfbff, 0x3c00, 0xbc00, 0x3800, 0xb800],
};

/** The bits of finite numbers. */
const wordsOf: Readonly<Record<FloatType, fc.Arbitrary<number>>> = {
  float32: fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => {
    return new Uint32Array(Float32Array.of(value).buffer)[0]!;
  }),
  bfloat16: fc.integer({ min: 0, max: 0xffff }).filter((word) => (word & 0x7f80) !== 0x7f80),
  float16: fc.integer({ min: 0, max: 0xffff }).filter((word) => (word & 0x7c00) !== 0x7c00),
};

/** Matrices of edge cases, of typical numbers, of one size, or mixed. */
const matrices = (type: FloatType): fc.Arbitrary<Stored> => {
  const edge = fc.constantFrom(...EDGES[type]);
  const near = fc.integer({ min: -40, max: 40 }).map((step) => {
    const [word] = new Uint32Array(Float32Array.of(step / 16).buffer);
    if (type === "float32") return word!;
    if (type === "bfloat16") return word! >>> 16;
    const size = Math.abs(step / 16);
    return (step < 0 ? 0x8000 : 0) | Math.round(size * 512);
  });
  const word = fc.constantFrom(edge, near, wordsOf[type], fc.oneof(edge, near, wordsOf[type]));
  return fc
    .tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.oneof(fc.constantFrom(32, 64, 96), fc.integer({ min: 1, max: 70 })),
      word,
    )
    .chain(([rows, columns, each]) =>
      fc.array(each, { minLength: rows * columns, maxLength: rows * columns }).map((all) => ({
        type,
        shape: [rows, columns],
        words: type === "float32" ? Uint32Array.from(all) : Uint16Array.from(all),
      })),
    );
};

describe("Quantiser", () => {
  for (const type of ["float32", "bfloat16", "float16"] as const) {
    for (const bits of [4, 8] as const) {
      it(`computes ${bits}-bit blocks of ${type} exactly as the reference`, async () => {
        await fc.assert(
          fc.asyncProperty(matrices(type), async (stored) => {
            const [rows, columns] = stored.shape as [number, number];
            const found = await quantised(rowsOf(weightsOf(stored), "w"), bits);
            assert.deepEqual(found, expected(numbersOf(stored), rows, columns, bits));
          }),
          { numRuns: 300 },
        );
      });
    }

    it(`rejects infinite and NaN ${type}, and names the tensor`, async () => {
      const invalid = {
        float32: [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffff_ffff],
        bfloat16: [0x7f80, 0xff80, 0x7fc0],
        float16: [0x7c00, 0xfc00, 0x7e01],
      };
      for (const word of invalid[type]) {
        for (const at of [0, 31, 95]) {
          const words = type === "float32" ? new Uint32Array(96) : new Uint16Array(96);
          words[at] = word;
          const rows = rowsOf(weightsOf({ type, shape: [1, 96], words }), "w");
          for (const bits of [4, 8] as const)
            await assert.rejects(quantised(rows, bits), /^WeightsError: w has numbers that are infinite/);
        }
      }
    });
  }

  it("transposes a part of a stack, in slabs that end within it", async () => {
    // More than the 2^15 blocks of one slab.
    const [parts, columns, rows] = [2, 64, 17_000];
    const words = new Uint16Array(parts * columns * rows);
    for (let at = 0; at < words.length; at++) words[at] = 0x3c00 + ((at * 7_919) % 1_024);
    const stored: Stored = { type: "bfloat16", shape: [parts, columns, rows], words };
    const numbers = numbersOf(stored);
    for (let part = 0; part < parts; part++) {
      const turned = new Float32Array(columns * rows);
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          turned[row * columns + column] = numbers[(part * columns + column) * rows + row]!;
        }
      }
      const found = await quantised(rowsOfPart(weightsOf(stored), "w", part), 8);
      assert.ok(found.equals(expected(turned, rows, columns, 8)), `part ${part}`);
    }
  });

  it("joins the slabs of a large matrix", async () => {
    const [rows, columns] = [1_100, 2_048];
    const words = Uint32Array.from(
      { length: rows * columns },
      (_, at) => 0x3f80_0000 + ((at * 7_919) % 0x40_0000),
    );
    const stored: Stored = { type: "float32", shape: [rows, columns], words };
    const found = await quantised(rowsOf(weightsOf(stored), "w"), 4);
    assert.ok(found.equals(expected(numbersOf(stored), rows, columns, 4)));
  });

  it("fails a matrix whose read-ahead fails, and quantises the next", async () => {
    const words = new Uint32Array(1_100 * 2_048).fill(0x3f80_0000);
    const stored: Stored = { type: "float32", shape: [1_100, 2_048], words };
    const rows = rowsOf(weightsOf(stored), "w");
    const failing: MatrixRows = {
      ...rows,
      fill: (room, from, count) =>
        from > 0 ? Promise.reject(new Error("unreadable")) : rows.fill(room, from, count),
    };
    await assert.rejects(quantised(failing, 8), /unreadable/);
    assert.equal((await quantised(rows, 8)).length, 1_100 * 2_048 * (1 + 4 / 32));
  });

  it("ends with its signal", async () => {
    const stored: Stored = { type: "float32", shape: [1, 32], words: new Uint32Array(32) };
    const pieces = quantiser.quantised(
      rowsOf(weightsOf(stored), "w"),
      8,
      AbortSignal.abort(new Error("enough")),
    );
    await assert.rejects(pieces.next(), /enough/);
  });
});
