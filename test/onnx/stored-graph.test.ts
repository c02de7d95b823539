import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dequantiseGraph } from "../../src/onnx/dequantise-graph.ts";
import { GraphFile } from "../../src/onnx/graph-file.ts";
import { encodeMessage, integer, message, text } from "../../src/onnx/protobuf.ts";
import { openSession } from "../../src/onnx/session.ts";
import {
  bytesIn,
  extractSubgraph,
  floatsIn,
  readGraph,
  type StoredGraph,
  toGraphFile,
  type ValueInfo,
} from "../../src/onnx/stored-graph.ts";
import { float32, floatsOf } from "../../src/onnx/tensor.ts";

const floats = (...shape: (number | string)[]): ValueInfo => ({ type: "float32", shape });

async function ran(
  graph: StoredGraph,
  inputs: Record<string, { end: ValueInfo; data: readonly number[]; shape: readonly number[] }>,
  output: string,
): Promise<number[]> {
  const ends = Object.fromEntries(Object.entries(inputs).map(([name, { end }]) => [name, end]));
  const session = await openSession(
    Buffer.concat(toGraphFile(graph, ends, { [output]: floats("N") }).pieces()),
    "A graph",
  );
  const fed = Object.entries(inputs).map(
    ([name, { data, shape }]) => [name, float32(Float32Array.from(data), shape)] as const,
  );
  try {
    return [...floatsOf(await session.run(Object.fromEntries(fed)), output)];
  } finally {
    await session.release();
  }
}

/** y = x · 2 + 1, z = y · y */
function small(): GraphFile {
  const graph = new GraphFile();
  const x = graph.input("x", "float32", [3]);
  graph.addNamed("y", "Add", [graph.add("Mul", [x, graph.number(2)]), graph.number(1)]);
  graph.addNamed("z", "Mul", ["y", "y"]);
  graph.output("z", [3]);
  return graph;
}

describe("readGraph", () => {
  test("reads a graph that computes the same when written again", async () => {
    const graph = readGraph(Buffer.concat(small().pieces()));
    assert.deepEqual([graph.inputs, graph.outputs], [["x"], ["z"]]);
    const x = { end: floats(3), data: [1, 2, 3], shape: [3] };
    assert.deepEqual(await ran(graph, { x }, "z"), [9, 25, 49]);
  });

  test("reads a graph whose subgraphs keep only what they need", async () => {
    const graph = readGraph(Buffer.concat(small().pieces()));
    const front = extractSubgraph(graph, { of: "x" }, { half: "y" });
    const back = extractSubgraph(graph, { half: "y" }, { z: "z" });
    assert.deepEqual([front.nodes.length, back.nodes.length, back.constants.size], [2, 1, 0]);
    const of = { end: floats(3), data: [1, 2, 3], shape: [3] };
    const half = await ran(front, { of }, "half");
    assert.deepEqual(half, [3, 5, 7]);
    assert.deepEqual(await ran(back, { half: { ...of, data: half } }, "z"), [9, 25, 49]);
    assert.throws(() => extractSubgraph(graph, {}, { z: "z" }), /nothing that gives x/);
    assert.throws(() => extractSubgraph(graph, { x: "x" }, { z: "nowhere" }), /nothing that gives nowhere/);
  });

  test("reads constants in every encoding", () => {
    const tensor = (name: string, type: number, dims: number[], data: Parameters<typeof encodeMessage>[0]) =>
      message(5, [...dims.map((size) => integer(1, size)), integer(2, type), text(8, name), ...data]);
    const bytes = (values: ArrayBufferView) =>
      new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const packed = (numbers: readonly number[]) => Uint8Array.from(numbers);
    const model = encodeMessage([
      message(7, [
        tensor("raw", 1, [2], [{ number: 9, value: bytes(Float32Array.of(1.5, -2)) }]),
        tensor("floats", 1, [2], [{ number: 4, value: bytes(Float32Array.of(0.5, 3)) }]),
        tensor("float", 1, [], [{ number: 4, value: bytes(Float32Array.of(7)), fixed: 5 }]),
        tensor("bytes", 2, [3], [{ number: 5, value: packed([200, 1, 7, 9]) }]),
        tensor("signed", 3, [1], [integer(5, -3)]),
        tensor("long", 7, [1], [integer(7, -1)]),
      ]),
    ]);
    const { constants } = readGraph(model);
    assert.deepEqual([...floatsIn(constants.get("raw")!)], [1.5, -2]);
    assert.deepEqual([...floatsIn(constants.get("floats")!)], [0.5, 3]);
    assert.deepEqual([...floatsIn(constants.get("float")!)], [7]);
    assert.deepEqual([...bytesIn(constants.get("bytes")!)], [200, 7, 9]);
    assert.deepEqual([...bytesIn(constants.get("signed")!)], [-3]);
    assert.deepEqual([...constants.get("long")!.data()], new Array(8).fill(255));
  });

  test("rejects truncated graphs and constants of a wrong shape", () => {
    const whole = Buffer.concat(small().pieces());
    for (let length = 0; length < whole.length; length += 7) {
      assert.throws(() => readGraph(whole.subarray(0, length)), { name: "WeightsError" });
    }
    const wrong = encodeMessage([
      message(7, [
        message(5, [integer(1, 3), integer(2, 1), text(8, "w"), { number: 9, value: new Uint8Array(4) }]),
      ]),
    ]);
    assert.throws(() => readGraph(wrong), /w has not its shape/);
  });
});

describe("dequantiseGraph", () => {
  const weight = Int8Array.of(10, -20, 30, 40, -50, 60);

  /** A matrix [2, 3] with a scale and a zero point per column. */
  function product(): StoredGraph {
    const graph = new GraphFile();
    const x = graph.input("x", "float32", [1, 2]);
    const [quantised, scale, zero] = graph.addMany("DynamicQuantizeLinear", [x], 3);
    const zeros = graph.constant(Int8Array.of(0, 1, 2), [3]);
    const sum = graph.add("MatMulInteger", [quantised!, graph.constant(weight, [2, 3]), zero!, zeros]);
    const scales = graph.constant(Float32Array.of(0.1, 0.2, 0.3), [3]);
    graph.addNamed("y", "Mul", [graph.add("Cast", [sum], { to: 1 }), graph.add("Mul", [scale!, scales])]);
    graph.output("y", [1, 3]);
    return readGraph(Buffer.concat(graph.pieces()));
  }

  test("computes with the values of the 8-bit weights", async () => {
    const x = { end: floats(1, 2), data: [1, 2], shape: [1, 2] };
    const ends = { x: "x" };
    const plain = extractSubgraph(dequantiseGraph(product()), ends, { y: "y" });
    assert.deepEqual(
      plain.nodes.map(({ operation }) => operation),
      ["MatMul"],
    );
    const y = await ran(plain, { x }, "y");
    const wanted = [0, 1, 2].map(
      (column) => [0.1, 0.2, 0.3][column]! * (weight[column]! - column + 2 * (weight[3 + column]! - column)),
    );
    for (const [at, value] of y.entries())
      assert.ok(Math.abs(value - wanted[at]!) < 1e-5, `${y} for ${wanted}`);
    // Close to the quantised result.
    const rough = await ran(product(), { x }, "y");
    for (const [at, value] of y.entries()) assert.ok(Math.abs(value - rough[at]!) < 0.2, `${rough} for ${y}`);
  });

  test("rejects another layout of the quantisation", () => {
    const graph = new GraphFile();
    const x = graph.input("x", "uint8", [1, 2]);
    const zero = graph.constant(Uint8Array.of(0), []);
    const sum = graph.add("MatMulInteger", [x, graph.constant(weight, [2, 3]), zero, zero]);
    graph.addNamed("y", "Neg", [sum]);
    graph.output("y", [1, 3], "int32");
    const stored = readGraph(Buffer.concat(graph.pieces()));
    assert.throws(() => dequantiseGraph(stored), /quantised in a way that is not read here/);
  });
});
