import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  BLOCK,
  decodeF16,
  decodeF32,
  decodeQ41,
  encodeQ80,
  fromHalf,
  Q4_1_BYTES,
  Q8_0_BYTES,
  toHalf,
} from "../../../src/writers/gguf/blocks.ts";
import { rowAdder } from "../../../src/writers/gguf/low-rank.ts";
import { TOP } from "../../architecture/top.ts";
import fc from "../../properties.ts";

const golden = JSON.parse(readFileSync(join(TOP, "test/golden/gguf/blocks.json"), "utf8"));

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

function floatsOf(hex: string): Float32Array {
  return new Float32Array(bytesOf(hex).buffer);
}

function halvesOf(hex: string): Uint16Array {
  return new Uint16Array(bytesOf(hex).buffer);
}

function packed(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array((values.length / BLOCK) * Q8_0_BYTES);
  encodeQ80(values, bytes);
  return bytes;
}

describe("numbers in blocks", () => {
  test("are packed into 8 bits as the reference does, halves away from zero and all", () => {
    const { floats, blocks } = golden.q8_0;
    assert.equal(Buffer.from(packed(floatsOf(floats))).toString("hex"), blocks);
  });

  test("of 4 bits are unpacked as the reference does", () => {
    const { blocks, floats } = golden.q4_1;
    const bytes = bytesOf(blocks);
    const values = new Float32Array((bytes.length / Q4_1_BYTES) * BLOCK);
    decodeQ41(bytes, values);
    assert.deepEqual(values, floatsOf(floats));
  });

  test("of 8 bits are at most half a step from what they were", () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, min: -100, max: 100 }), { minLength: BLOCK, maxLength: BLOCK }),
        (numbers) => {
          const values = Float32Array.from(numbers);
          const bytes = packed(values);
          const scale = fromHalf(bytes[0]! | (bytes[1]! << 8));
          const most = Math.max(...values.map(Math.abs));
          // The scale itself is rounded to 11 bits, or to a step of the smallest halves.
          const rounding = 127 * Math.max(scale * 2 ** -11, 2 ** -25);
          assert.ok(Math.abs(127 * scale - most) <= rounding + most * 2 ** -20);
          for (const [i, value] of values.entries()) {
            const back = new Int8Array(bytes.buffer)[2 + i]! * scale;
            assert.ok(
              Math.abs(back - value) <= scale / 2 + rounding + most * 2 ** -20,
              `${value} is ${back}`,
            );
          }
        },
      ),
    );
  });

  test("that are not finite are refused", () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e8]) {
      for (const at of [0, 17, 31]) {
        const values = new Float32Array(BLOCK).fill(1);
        values[at] = wrong;
        assert.throws(() => packed(values), RangeError, `${wrong} at ${at}`);
      }
    }
  });
});

describe("16-bit floats", () => {
  const { bits, floats, between, nearest } = golden.f16;

  test("stand for what the reference says", () => {
    const values = new Float64Array(halvesOf(bits).length);
    decodeF16(bytesOf(bits), values);
    assert.deepEqual(Float32Array.from(values), floatsOf(floats));
  });

  test("are the nearest, as the reference says", () => {
    assert.deepEqual(Uint16Array.from(floatsOf(between), toHalf), halvesOf(nearest));
  });

  test("come back as they were, every one of them", () => {
    for (let half = 0; half < 65_536; half++) {
      const value = fromHalf(half);
      if (!Number.isNaN(value)) assert.equal(toHalf(value), half);
    }
    assert.equal(toHalf(fromHalf(0x7e01)), 0x7e00, "what is no number is one way to say so");
  });

  test("of two that are as near are the even one, and beyond the largest infinite", () => {
    assert.equal(toHalf(1 + 2 ** -11), 0x3c00);
    assert.equal(toHalf(1 + 3 * 2 ** -11), 0x3c02);
    assert.equal(toHalf(2 ** -25), 0);
    assert.equal(toHalf(3 * 2 ** -25), 2);
    assert.equal(toHalf(65_519), 0x7bff);
    assert.equal(toHalf(-65_520), 0xfc00);
  });
});

test("32-bit floats are read where they do not begin at a multiple of their size", () => {
  const bytes = new Uint8Array(9);
  new DataView(bytes.buffer).setFloat32(1, 1.5, true);
  new DataView(bytes.buffer).setFloat32(5, -0.25, true);
  const values = new Float64Array(2);
  decodeF32(bytes.subarray(1), values);
  assert.deepEqual([...values], [1.5, -0.25]);
});

test("a low-rank product is added row by row, whatever its rank", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 7 }), (rank, columns) => {
      const a = Float64Array.from({ length: rank * columns }, (_, i) => ((i * 7) % 5) - 2);
      const b = Float64Array.from({ length: 3 * rank }, (_, i) => ((i * 3) % 7) - 3);
      const add = rowAdder({ a, b, rank, scale: 0.5 });
      for (const index of [0, 1, 2]) {
        const row = new Float32Array(columns).fill(index);
        add(row, index);
        const expected = Float32Array.from(row, (_, column) => {
          let sum = 0;
          for (let k = 0; k < rank; k++) sum += b[index * rank + k]! * a[k * columns + column]!;
          return index + 0.5 * sum;
        });
        assert.deepEqual(row, expected);
      }
    }),
  );
});
