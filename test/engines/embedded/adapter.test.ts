import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import {
  type Adapter,
  applyAdapter,
  openFactorProduct,
  readAdapter,
  requireAdapterFits,
} from "../../../src/engines/embedded/adapter.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { WeightsError } from "../../../src/onnx/byte-source.ts";
import {
  bytesIn,
  floatsIn,
  readGraph,
  type StoredConstant,
  type StoredGraph,
  storedConstant,
} from "../../../src/onnx/stored-graph.ts";
import { readVerifiedFile } from "../../../src/onnx/verified-file.ts";
import fc from "../../properties.ts";
import { VOICE_DIR } from "./voice.ts";

const product = await openFactorProduct(undefined);
after(() => product.release());
const made = (graph: StoredGraph, adapter: Adapter) =>
  applyAdapter(graph, adapter, (factors, sum) => product.bind(factors, sum).run());

function graphWith(constants: Record<string, StoredConstant>): StoredGraph {
  return { nodes: [], constants: new Map(Object.entries(constants)), inputs: [], outputs: [] };
}

const floats = (values: Iterable<number>, ...shape: number[]) =>
  storedConstant("float32", shape, Float32Array.from(values));
const bytes = (values: Iterable<number>, ...shape: number[]) =>
  storedConstant("int8", shape, Int8Array.from(values));

describe("An adapter", () => {
  test("adds as many numbers to a constant, and leaves the others what they are", async () => {
    const graph = graphWith({ bias: floats([1, 2, 3], 3), other: floats([4], 1) });
    const { constants } = await made(graph, new Map([["bias", floats([0.5, 0, -1], 3)]]));
    assert.deepEqual([...floatsIn(constants.get("bias")!)], [1.5, 2, 2]);
    assert.equal(constants.get("other"), graph.constants.get("other"));
    assert.deepEqual([...floatsIn(graph.constants.get("bias")!)], [1, 2, 3]);
  });

  test("adds a product of low rank, to float32 and to 8 bits with a scale of their own", async () => {
    const size = fc.integer({ min: 1, max: 7 });
    const int8 = fc.integer({ min: -127, max: 127 });
    await fc.assert(
      fc.asyncProperty(
        size,
        size,
        size,
        fc.array(int8, { minLength: 200, maxLength: 200 }),
        async (rows, columns, rank, pool) => {
          const take = (from: number, count: number) =>
            Array.from({ length: count }, (_, at) => pool[(from + at * 7) % 200]!);
          const [base, u, v] = [take(0, rows * columns), take(3, rows * rank), take(5, rank * columns)];
          const scale = Float32Array.from({ length: rank }, (_, k) => 0.001 * (k + 1));
          const factors = (name: string): [string, StoredConstant][] => [
            [`${name}:u`, bytes(u, rows, rank)],
            [`${name}:v`, bytes(v, rank, columns)],
            [`${name}:scale`, floats(scale, rank)],
          ];
          const sum = (at: number, of: number) => {
            const [row, column] = [Math.floor(at / columns), at % columns];
            return scale.reduce(
              (total, each, k) => total + each * u[row * rank + k]! * v[k * columns + column]!,
              of,
            );
          };
          const graph = graphWith({
            whole: floats(base, rows, columns),
            m_quantized: bytes(base, rows, columns),
            m_scale: floats([0.02]),
          });
          const { constants } = await made(graph, new Map([...factors("whole"), ...factors("m_quantized")]));
          const whole = floatsIn(constants.get("whole")!);
          const [steps, [step]] = [
            bytesIn(constants.get("m_quantized")!),
            floatsIn(constants.get("m_scale")!),
          ];
          for (let at = 0; at < base.length; at++) {
            assert.ok(Math.abs(whole[at]! - sum(at, base[at]!)) < 1e-2);
            assert.ok(Math.abs(steps[at]! * step! - sum(at, 0.02 * base[at]!)) <= 0.51 * step!);
          }
        },
      ),
    );
  });

  test("that is of another size, lacks a factor, or is of a matrix without its scale, is refused", async () => {
    const factors = (rows: number, rank: number, columns: number, scales = rank): Adapter =>
      new Map([
        ["m_quantized:u", bytes(new Int8Array(rows * rank), rows, rank)],
        ["m_quantized:v", bytes(new Int8Array(rank * columns), rank, columns)],
        ["m_quantized:scale", floats(new Float32Array(scales), scales)],
      ]);
    const graph = graphWith({ m_quantized: bytes([1, 2, 3, 4], 2, 2), m_scale: floats([1]) });
    const lacking = new Map([...factors(2, 1, 2)].slice(0, 2));
    for (const adapter of [factors(2, 1, 3), factors(3, 1, 2), factors(2, 1, 2, 2), lacking])
      await assert.rejects(made(graph, adapter), WeightsError);
    await assert.rejects(
      made(graphWith({ m_quantized: bytes([1, 2, 3, 4], 2, 2) }), factors(2, 1, 2)),
      WeightsError,
    );
    await assert.rejects(
      made(graphWith({ bias: floats([1], 1) }), new Map([["bias", floats([1, 2], 2)]])),
      WeightsError,
    );
  });

  test("that makes something of a matrix that is no number is refused", async () => {
    const graph = graphWith({ bias: floats([1], 1), m_quantized: bytes([1], 1, 1), m_scale: floats([1]) });
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const product: Adapter = new Map([
        ["m_quantized:u", bytes([1], 1, 1)],
        ["m_quantized:v", bytes([1], 1, 1)],
        ["m_quantized:scale", floats([bad], 1)],
      ]);
      const float: Adapter = new Map(
        [...product].map(([name, each]) => [name.replace("m_quantized", "bias"), each]),
      );
      for (const adapter of [product, float, new Map([["bias", floats([bad], 1)]])])
        await assert.rejects(made(graph, adapter), WeightsError);
    }
  });

  test("that is empty, or for other graphs, is refused", () => {
    const graphs = [graphWith({ a: floats([1], 1) }), graphWith({ b: floats([1], 1) })];
    requireAdapterFits(new Map([["a", floats([1], 1)]]), graphs);
    requireAdapterFits(new Map([["b:u", bytes([1], 1, 1)]]), graphs);
    assert.throws(() => requireAdapterFits(new Map(), graphs), WeightsError);
    assert.throws(() => requireAdapterFits(new Map([["c:v", bytes([1], 1, 1)]]), graphs), /no c:v/);
  });

  for (const { adapter } of createVoices().values()) {
    if (adapter === null) continue;
    test(`of ${adapter} is for the constants of these graphs, and all of it is used`, async () => {
      const graphs = ["text", "prosody", "decoder"].map(async (name) =>
        readGraph(await readVerifiedFile(`${VOICE_DIR}/split/${name}.onnx`)),
      );
      requireAdapterFits(await readAdapter(VOICE_DIR, adapter), await Promise.all(graphs));
    });
  }
});
