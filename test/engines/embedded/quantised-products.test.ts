import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { quantiseProducts } from "../../../src/engines/embedded/quantised-products.ts";
import { GraphFile } from "../../../src/onnx/graph-file.ts";
import { openSession, saturatesIn8Bits } from "../../../src/onnx/session.ts";
import { readGraph, type StoredGraph, toGraphFile, type ValueInfo } from "../../../src/onnx/stored-graph.ts";
import { float32, floatsOf } from "../../../src/onnx/tensor.ts";

const SCALE = 0.01;
const [INS, OUTS] = [6, 5];
const MATRIX = Int8Array.from({ length: INS * OUTS }, (_, at) => ((at * 37) % 255) - 127);

/** y = z = x · matrix, with int8 matrices that are dequantised, as in the voice's files. */
function products(type: Int8Array | Float32Array = MATRIX): StoredGraph {
  const graph = new GraphFile();
  const x = graph.input("x", "float32", ["rows", INS]);
  const matrix = graph.constant(type, [INS, OUTS], "matrix");
  for (const output of ["y", "z"]) {
    const unfolded = graph.add("Mul", [graph.add("Cast", [matrix], { to: 1 }), graph.number(SCALE)]);
    graph.addNamed(output, "MatMul", [x, unfolded]);
    graph.output(output, ["rows", OUTS]);
  }
  return readGraph(Buffer.concat(graph.pieces()));
}

async function ran(
  graph: StoredGraph,
  input: { readonly end: ValueInfo; readonly data: Float32Array; readonly shape: readonly number[] },
  isExactIn8Bits = false,
): Promise<Record<string, Float32Array>> {
  const outputs = Object.fromEntries(graph.outputs.map((name) => [name, FLOATS]));
  const file = toGraphFile(graph, { x: input.end }, outputs);
  const session = await openSession(Buffer.concat(file.pieces()), "A graph", { isExactIn8Bits });
  try {
    const results = await session.run({ x: float32(input.data, input.shape) });
    return Object.fromEntries(graph.outputs.map((name) => [name, floatsOf(results, name)]));
  } finally {
    await session.release();
  }
}

const FLOATS: ValueInfo = { type: "float32", shape: ["N", "M"] };

describe("quantiseProducts", () => {
  const rows = Float32Array.from({ length: 3 * INS }, (_, at) => Math.sin(1 + at));
  const x = { end: { type: "float32", shape: ["rows", INS] }, data: rows, shape: [3, INS] } as const;
  /** x rounded to 256 steps of its range, times the matrix. */
  const wanted = Float32Array.from({ length: 3 * OUTS }, (_, at) => {
    const [least, largest] = [Math.min(0, ...rows), Math.max(0, ...rows)];
    const step = (largest - least) / 255;
    const [row, out] = [Math.floor(at / OUTS), at % OUTS];
    let sum = 0;
    for (let k = 0; k < INS; k++) sum += Math.round(rows[row * INS + k]! / step) * MATRIX[k * OUTS + out]!;
    return sum * step * SCALE;
  });

  for (const hasOwnMatrices of [false, true]) {
    test(`multiplies rounded inputs, with ${hasOwnMatrices ? "a matrix each" : "one shared matrix"}`, async () => {
      const graph = quantiseProducts(products(), hasOwnMatrices);
      assert.equal(
        graph.nodes.some(({ operation }) => operation === "MatMul"),
        false,
      );
      const exact = await ran(graph, x, hasOwnMatrices && (await saturatesIn8Bits()));
      for (const found of [exact.y!, exact.z!])
        found.forEach((value, at) => {
          assert.ok(Math.abs(value - wanted[at]!) < 1e-5, `${at}: ${value}, not ${wanted[at]}`);
        });
    });
  }

  test("rejects a matrix that is not int8", () => {
    assert.throws(() => quantiseProducts(products(new Float32Array(INS * OUTS)), false), {
      name: "WeightsError",
      message: "The graph has no int8 matrix matrix.",
    });
  });

  test("keeps depthwise convolutions with their padding and dilation", async () => {
    const graph = new GraphFile();
    const [channels, columns, width] = [8, 20, 3];
    const filters = Float32Array.from({ length: channels * width }, (_, at) => Math.cos(at));
    graph.addMany(
      "Conv",
      [graph.input("x", "float32", [1, channels, "T"]), graph.constant(filters, [channels, 1, width])],
      ["y"],
      { group: channels, kernel_shape: [width], pads: [2, 4], dilations: [2] },
    );
    graph.output("y", [1, channels, "T"]);
    const stored = readGraph(Buffer.concat(graph.pieces()));
    const data = Float32Array.from({ length: channels * columns }, (_, at) => Math.sin(3 * at));
    const input = {
      end: { type: "float32", shape: [1, channels, "T"] },
      data,
      shape: [1, channels, columns],
    } as const;
    const [before, after] = [await ran(stored, input), await ran(quantiseProducts(stored, false), input)];
    assert.equal(before.y!.length, channels * (columns + 2));
    before.y!.forEach((value, at) => {
      assert.ok(Math.abs(value - after.y![at]!) < 1e-5, String(at));
    });
  });
});
