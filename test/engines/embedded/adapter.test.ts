import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { RunQueued } from "../../../src/core/run-queued.ts";
import {
  AdaptedNetworks,
  type Adapter,
  applyAdapter,
  openFactorProduct,
  readAdapter,
  requireAdapterFits,
} from "../../../src/engines/embedded/adapter.ts";
import { openNetwork } from "../../../src/engines/embedded/network.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { EMBEDDED_VOICES } from "../../../src/models/public-models.ts";
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

describe("applyAdapter", () => {
  test("adds values to a constant, and changes no other", async () => {
    const graph = graphWith({ bias: floats([1, 2, 3], 3), other: floats([4], 1) });
    const { constants } = await made(graph, new Map([["bias", floats([0.5, 0, -1], 3)]]));
    assert.deepEqual([...floatsIn(constants.get("bias")!)], [1.5, 2, 2]);
    assert.equal(constants.get("other"), graph.constants.get("other"));
    assert.deepEqual([...floatsIn(graph.constants.get("bias")!)], [1, 2, 3]);
  });

  test("adds a low-rank product to float32 and to 8 bits with a scale", async () => {
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

  test("rejects another size, a missing factor, and a matrix without its scale", async () => {
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
    const unscaled = graphWith({ m_quantized: bytes([1, 2, 3, 4], 2, 2) });
    await assert.rejects(made(unscaled, factors(2, 1, 2)), WeightsError);
    const longer = new Map([["bias", floats([1, 2], 2)]]);
    await assert.rejects(made(graphWith({ bias: floats([1], 1) }), longer), WeightsError);
  });

  test("rejects non-finite results", async () => {
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

  test("must fit the graphs, and not be empty", () => {
    const graphs = [graphWith({ a: floats([1], 1) }), graphWith({ b: floats([1], 1) })];
    requireAdapterFits(new Map([["a", floats([1], 1)]]), graphs);
    requireAdapterFits(new Map([["b:u", bytes([1], 1, 1)]]), graphs);
    assert.throws(() => requireAdapterFits(new Map(), graphs), WeightsError);
    assert.throws(() => requireAdapterFits(new Map([["c:v", bytes([1], 1, 1)]]), graphs), /no c:v/);
  });

  for (const { adapter } of createVoices().values()) {
    if (adapter === null) continue;
    test(`of ${adapter} fits the packaged graphs`, async () => {
      const graphs = ["text", "prosody", "decoder"].map(async (name) =>
        readGraph(await readVerifiedFile(`${VOICE_DIR}/split/${name}.onnx`)),
      );
      requireAdapterFits(await readAdapter(VOICE_DIR, adapter), await Promise.all(graphs));
    });
  }
});

const openAdapted = (inTurn: RunQueued = (run) => run()) =>
  new AdaptedNetworks({ voiceDir: VOICE_DIR, precision: undefined, guard: undefined, inTurn });
const LABELS = [...createVoices().values()].flatMap(({ adapter }) => adapter ?? []);
const IDS = [0, 50, 83, 54, 156, 57, 135, 0];

describe("AdaptedNetworks", () => {
  test("opens a voice's network once for concurrent requests, unlike the base voice's", async () => {
    const all = openAdapted();
    const [one, same] = await Promise.all([all.network(LABELS[0]!), all.network(LABELS[0]!)]);
    assert.equal(one, same);
    const { steps } = await one.read(IDS);
    assert.equal(steps.length, 8);
    assert.ok(steps.every((each) => each > 0 && each < 40));
    const voice = await openNetwork(VOICE_DIR);
    assert.notDeepEqual(steps, (await voice.read(IDS)).steps);
    await voice.close();
    await all.close();
  });

  test("opens networks one at a time", async () => {
    let [open, most] = [0, 0];
    const all = openAdapted(async (run) => {
      most = Math.max(most, ++open);
      try {
        return await run();
      } finally {
        open--;
      }
    });
    await Promise.all(LABELS.slice(0, 3).map((label) => all.network(label)));
    assert.equal(most, 1);
    await all.close();
  });

  test("rejects an unknown voice by its name each time, and still closes", async () => {
    const all = openAdapted();
    for (let times = 0; times < 2; times++)
      await assert.rejects(all.network("nobody"), { name: "SpeechFailedError", message: /as nobody/ });
    await all.close();
  });
});

test("createVoices has the voices of the cast", () => {
  assert.deepEqual(
    [...createVoices().keys()],
    EMBEDDED_VOICES.map(({ id }) => id),
  );
});
