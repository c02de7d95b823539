import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { decoderPiece, InverseStft } from "../../../src/engines/kokoro/decoded-hops.ts";
import { areConverted } from "../../../src/engines/kokoro/graphs/convert.ts";
import {
  type ConvertedGraphs,
  openConvertedGraphs,
} from "../../../src/engines/kokoro/graphs/converted-graphs.ts";
import {
  type KokoroDecoderState,
  type OwnedKokoroNetwork,
  openGraph,
  openKokoro,
  pieceTensors,
  planningNetworkFor,
} from "../../../src/engines/kokoro/network.ts";
import { readStyles } from "../../../src/engines/kokoro/voices.ts";
import { type Plan, planContour, planTiming } from "../../../src/engines/prosody/plan.ts";
import { floatsOf } from "../../../src/onnx/tensor.ts";
import { never } from "../../core/scripts.ts";
import { TOP } from "../../e2e/folders.ts";

/** Written by make_golden.py. */
interface Golden {
  readonly ids: readonly number[];
  readonly voice: string;
  readonly sample_count: number;
  readonly steps: readonly number[];
  readonly pitch: readonly number[];
  readonly energy: readonly number[];
  readonly heard_from_s: number;
  readonly heard: readonly number[];
}

/** A folder that `antiphon models pull kokoro` made. */
const { ANTIPHON_TEST_KOKORO: folder = "" } = process.env;
const without = "ANTIPHON_TEST_KOKORO names no folder of Kokoro";

describe("The Kokoro network, against the published graph in Python", {
  skip: existsSync(folder) ? false : without,
}, () => {
  const golden: Golden = JSON.parse(readFileSync(join(TOP, "test/golden/kokoro/golden.json"), "utf8"));
  let made: ConvertedGraphs;
  let network: OwnedKokoroNetwork;
  let plan: Plan;
  let steps: Float32Array;
  let style: Float32Array;

  before(async () => {
    assert.ok(await areConverted(folder, never()), "not converted");
    made = await openConvertedGraphs(folder);
    network = await openKokoro(made);
    const own = planningNetworkFor(network, [{ weight: 1, table: await readStyles(folder, golden.voice) }]);
    const timing = await planTiming(own.planning, golden.ids);
    steps = timing.steps.slice();
    plan = await planContour(own.planning, timing);
    style = own.style(golden.ids);
  });
  after(() => network?.close());

  const near = (ours: ArrayLike<number>, theirs: readonly number[], tolerance: number): void => {
    assert.equal(ours.length, theirs.length);
    theirs.forEach((value, at) => {
      assert.ok(
        Math.abs(ours[at]! - value) <= tolerance * (1 + Math.abs(value)),
        `${at}: ${ours[at]} for ${value}`,
      );
    });
  };

  test("plans equal durations, pitch and energy", () => {
    near(steps, golden.steps, 1e-3);
    near(plan.pitchHz, golden.pitch, 2e-3);
    near(plan.energy, golden.energy, 2e-3);
    assert.equal(plan.frames * 300, golden.sample_count);
  });

  test("decodes equal samples, whole and in pieces", async () => {
    const all = { from: 0, to: plan.frames / 2 };
    const source = await network.source(plan.pitchHz);
    const decoder = await openGraph(made, "reporting");
    const outputs = await decoder.run(pieceTensors(decoderPiece(plan, source, all, all), style));
    await decoder.release();
    const whole = new InverseStft(made.inverseBasis).add(floatsOf(outputs, "spectrum"), true);
    const from = golden.heard_from_s * 24_000;
    const heard = Float32Array.from(golden.heard, (each) => each / 32_767);
    assert.ok(decibels(heard, whole.subarray(from, from + heard.length)) > 40, "whole");

    const stft = new InverseStft(made.inverseBasis);
    const pieces: number[] = [];
    const voice = { style, statistics: floatsOf(outputs, "statistics") };
    let memory: KokoroDecoderState | null = null;
    for (let at = 0; at < all.to; ) {
      const to = Math.min(all.to, at + (at === 0 ? 24 : 8));
      const decoded = await network.decode(decoderPiece(plan, source, { from: at, to }, all), voice, memory);
      memory = decoded.memory;
      pieces.push(...stft.add(decoded.spectrum, to === all.to));
      at = to;
    }
    assert.ok(decibels(whole, Float32Array.from(pieces)) > 80, "pieces");
  });
});

/** Signal-to-error ratio. */
function decibels(wanted: Float32Array, found: Float32Array): number {
  assert.equal(found.length, wanted.length);
  let [power, error] = [0, 0];
  for (const [at, sample] of wanted.entries()) {
    power += sample * sample;
    error += (sample - found[at]!) ** 2;
  }
  return 10 * Math.log10(power / error);
}
