import assert from "node:assert/strict";
import { it } from "node:test";
import { GraphFile } from "../../src/onnx/graph-file.ts";
import { type Bits, BLOCK, blocksIn } from "../../src/onnx/quantising-kernel.ts";
import { openSession } from "../../src/onnx/session.ts";
import { float32, floatsOf } from "../../src/onnx/tensor.ts";
import fc from "../properties.ts";
import { blocksInJavaScript } from "./blocks-in-javascript.ts";

const matrices = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 70 }))
  .chain(([rows, columns]) =>
    fc.record({
      rows: fc.constant(rows),
      columns: fc.constant(columns),
      numbers: fc.float32Array({
        minLength: rows * columns,
        maxLength: rows * columns,
        min: -100,
        max: 100,
        noNaN: true,
      }),
    }),
  );

/** Dequantises the blocks. */
function restored(
  data: Uint8Array,
  scales: Float32Array,
  rows: number,
  columns: number,
  bits: Bits,
): number[] {
  const blocks = blocksIn(columns);
  return Array.from({ length: rows * columns }, (_, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    const place = row * blocks * BLOCK + column;
    const byte = bits === 8 ? data[place]! : (data[place >> 1]! >> (4 * (place & 1))) & 15;
    return (byte - 2 ** (bits - 1)) * scales[row * blocks + Math.floor(column / BLOCK)]!;
  });
}

for (const bits of [8, 4] as const) {
  it(`${bits}-bit blocks are as exact as their scale allows`, () => {
    fc.assert(
      fc.property(matrices, ({ rows, columns, numbers }) => {
        const { data, scales } = blocksInJavaScript(numbers, rows, columns, bits);
        const found = restored(data, scales, rows, columns, bits);
        for (const [at, number] of numbers.entries()) {
          const block = Math.floor(at / columns) * blocksIn(columns) + Math.floor((at % columns) / BLOCK);
          // 4-bit codes are not symmetric.
          const allowed = Math.abs(scales[block]!) * (bits === 8 ? 0.5 : 1) * 1.001 + 1e-37;
          assert.ok(Math.abs(found[at]! - number) <= allowed, `${number} became ${found[at]}`);
        }
      }),
    );
  });

  it(`onnxruntime multiplies by ${bits}-bit blocks`, async () => {
    const [rows, columns] = [5, 48];
    const matrix = Float32Array.from({ length: rows * columns }, (_, at) => Math.sin(at * at));
    const { data, scales } = blocksInJavaScript(matrix, rows, columns, bits);
    const exact = restored(data, scales, rows, columns, bits);
    const graph = new GraphFile();
    const x = graph.input("x", "float32", [1, columns]);
    const blob = (BLOCK * bits) / 8;
    const operands = [
      graph.constant(data, [rows, blocksIn(columns), blob]),
      graph.constant(scales, [rows * blocksIn(columns)]),
    ];
    graph.addMany("com.microsoft.MatMulNBits", [x, ...operands], ["y"], {
      K: columns,
      N: rows,
      bits,
      block_size: BLOCK,
      accuracy_level: 4,
    });
    graph.output("y", [1, rows]);
    const session = await openSession(Buffer.concat(graph.pieces()), "product");
    const input = Float32Array.from({ length: columns }, (_, at) => Math.cos(3 * at));
    const y = floatsOf(await session.run({ x: float32(input, [1, columns]) }), "y");
    await session.release();
    for (let row = 0; row < rows; row++) {
      const wanted = input.reduce((sum, value, at) => sum + value * exact[row * columns + at]!, 0);
      // x is quantised to 8 bits, too.
      assert.ok(Math.abs(y[row]! - wanted) < 0.1, `${y[row]}, not ${wanted}`);
    }
  });
}
