import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { decoderPiece, InverseStft } from "../../../../src/engines/kokoro/decoded-hops.ts";
import {
  type ConvertedGraphs,
  openConvertedGraphs,
} from "../../../../src/engines/kokoro/graphs/converted-graphs.ts";
import { SPECTRA_PER_STEP } from "../../../../src/engines/kokoro/graphs/subgraphs.ts";
import {
  type KokoroDecoderState,
  type OwnedKokoroNetwork,
  openGraph,
  openKokoro,
  pieceTensors,
  planningNetworkFor,
} from "../../../../src/engines/kokoro/network.ts";
import { readStyles } from "../../../../src/engines/kokoro/voices.ts";
import { type Plan, planContour, planTiming } from "../../../../src/engines/prosody/plan.ts";
import { floatsOf } from "../../../../src/onnx/tensor.ts";
import { randomOf, tinyFolder } from "../tiny-kokoro.ts";

describe("The streaming Kokoro decoder", () => {
  let made: ConvertedGraphs;
  let network: OwnedKokoroNetwork;
  let plan: Plan;
  let source: Float32Array;
  let style: Float32Array;
  let statistics: Float32Array;
  let whole: Float32Array;

  before(async () => {
    const folder = await tinyFolder();
    made = await openConvertedGraphs(folder);
    network = await openKokoro(made);
    const random = randomOf(5);
    const ids = [0, ...Array.from({ length: 40 }, () => 43 + Math.floor(60 * (1 + random()))), 0];
    const own = planningNetworkFor(network, [{ weight: 1, table: await readStyles(folder, "af_heart") }]);
    plan = await planContour(own.planning, await planTiming(own.planning, ids));
    source = await network.source(plan.pitchHz);
    style = own.style(ids);
    const reporting = await openGraph(made, "reporting");
    const all = { from: 0, to: plan.frames / 2 };
    const outputs = await reporting.run(pieceTensors(decoderPiece(plan, source, all, all), style));
    await reporting.release();
    whole = floatsOf(outputs, "spectrum");
    statistics = floatsOf(outputs, "statistics");
  });
  after(() => network.close());

  /** Decodes pieces of these steps, the last size repeated. */
  async function inPieces(sizes: readonly number[]): Promise<Float32Array[]> {
    const all = { from: 0, to: plan.frames / 2 };
    const spectra: Float32Array[] = [];
    let memory: KokoroDecoderState | null = null;
    for (let from = 0, piece = 0; from < all.to; piece++) {
      const to = Math.min(all.to, from + sizes[Math.min(piece, sizes.length - 1)]!);
      const decoded = await network.decode(
        decoderPiece(plan, source, { from, to }, all),
        { style, statistics },
        memory,
      );
      memory = decoded.memory;
      spectra.push(decoded.spectrum);
      from = to;
    }
    return spectra;
  }

  function joinedColumns(spectra: readonly Float32Array[]): Float32Array {
    const counts = spectra.map(({ length }) => length / 22);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const joined = new Float32Array(22 * total);
    let at = 0;
    for (const [index, spectrum] of spectra.entries()) {
      const count = counts[index]!;
      for (let channel = 0; channel < 22; channel++)
        joined.set(spectrum.subarray(channel * count, (channel + 1) * count), channel * total + at);
      at += count;
    }
    return joined;
  }

  for (const sizes of [[1_000], [20, 4], [12, 1, 3, 2], [16, 8, 32]]) {
    test(`decodes pieces of ${sizes.join(", ")} steps as the whole`, async () => {
      const joined = joinedColumns(await inPieces(sizes));
      assert.equal(joined.length, whole.length);
      assert.ok(plan.frames / 2 > 60, "several pieces");
      for (let at = 0; at < whole.length; at++) {
        const difference = Math.abs(joined[at]! - whole[at]!);
        assert.ok(difference < 1e-4 * (1 + Math.abs(whole[at]!)), `${at}: ${joined[at]} for ${whole[at]}`);
      }
    });
  }

  test("withholds the columns that need more input", async () => {
    const [first] = await inPieces([30]);
    assert.equal(first!.length / 22, 30 * SPECTRA_PER_STEP - made.facts.missing);
  });

  test("sounds the same however its spectra are divided", async () => {
    const sound = (spectra: readonly Float32Array[]): number[] => {
      const stft = new InverseStft(made.inverseBasis);
      return spectra.flatMap((spectrum, at) => [...stft.add(spectrum, at === spectra.length - 1)]);
    };
    const once = sound([whole]);
    assert.equal(once.length, plan.frames * 300);
    const often = sound(await inPieces([20, 4]));
    assert.equal(often.length, once.length);
    assert.ok(once.every((sample, at) => Math.abs(sample - often[at]!) < 1e-3));
  });
});
