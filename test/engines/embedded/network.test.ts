import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createKernel } from "../../../src/engines/embedded/kernel/kernel.ts";
import { SPECTRUM_VALUES } from "../../../src/engines/embedded/kernel/layout.ts";
import { type OwnedNetwork, openNetwork } from "../../../src/engines/embedded/network.ts";
import { type FrameRange, SpectrumStream } from "../../../src/engines/embedded/spectrum-stream.ts";
import { type Plan, planContour, planTiming } from "../../../src/engines/prosody/plan.ts";
import { apartFrom, furthest, type Goldens, OFFSETS, readGoldens, synthesise } from "./goldens.ts";
import { rms } from "./listening.ts";
import { VOICE_DIR } from "./voice.ts";

describe("The embedded network, against the Python package", () => {
  let network: OwnedNetwork;
  let goldens: Goldens;
  before(async () => {
    [network, goldens] = await Promise.all([openNetwork(VOICE_DIR, "fp32"), readGoldens()]);
  });
  after(() => network.close());

  const plan = async (ids: readonly number[]): Promise<Plan> =>
    planContour(network, await planTiming(network, ids));

  test("plans equal durations, and pitch and energy within tolerance", async () => {
    const { durations_raw, f0_hz, energy } = goldens.meta.tolerance.float;
    for (const golden of goldens.cases) {
      const timing = await planTiming(network, golden.ids);
      assert.ok(furthest(timing.steps, golden.durations_raw) <= durations_raw, golden.text);
      const planned = await planContour(network, timing);
      assert.deepEqual([...planned.steps], golden.durations_25ms, golden.text);
      assert.equal(planned.frames, golden.frames);
      assert.ok(furthest(planned.pitchHz, golden.f0) <= f0_hz, golden.text);
      assert.ok(furthest(planned.energy, golden.energy) <= energy, golden.text);
    }
  });

  test("decodes spectra within tolerance", async () => {
    const { lh_theta_ln_lr_phi_max: tolerance } = goldens.meta.tolerance.float;
    for (const golden of goldens.cases) {
      const planned = await plan(golden.ids);
      const spectra = await decoded(network, planned, { from: 0, to: planned.frames });
      for (const name of ["lh", "theta", "ln", "lr", "phi"] as const) {
        golden[name].forEach((wanted, row) => {
          const frame = row < 5 ? row : planned.frames - 10 + row;
          const at = frame * SPECTRUM_VALUES + OFFSETS[name];
          const found = goldens.meta.bins.map((bin) => spectra[at + bin]!);
          assert.ok(furthest(found, wanted) <= tolerance, `${golden.text} ${name} frame ${frame}`);
        });
      }
    }
  });

  test("synthesises a wave with equal RMS in each 25 ms, and an equal peak", async () => {
    const kernel = await createKernel();
    for (const { text, ids, wave } of goldens.cases) {
      const planned = await plan(ids);
      const spectra = await decoded(network, planned, { from: 0, to: planned.frames });
      const samples = synthesise(kernel, planned, spectra);
      assert.equal(samples.length, wave.samples);
      assert.ok(
        Math.abs(rms(samples) / wave.rms - 1) <= goldens.meta.tolerance.float.wave_rms_relative,
        text,
      );
      const blocks = wave.block_rms_25ms.map((_, block) =>
        rms(samples.subarray(block * 600, block * 600 + 600)),
      );
      assert.ok(furthest(blocks, wave.block_rms_25ms) < 0.0005, text);
      assert.ok(Math.abs(Math.max(...samples.map(Math.abs)) - wave.peak) < 0.003, text);
    }
  });

  test("decodes the same spectra in any chunks, to 5e-5", async () => {
    const planned = await plan(goldens.cases[1]!.ids);
    const range = { from: 21, to: planned.frames - 12 };
    const whole = await decoded(network, planned, range, [9_999]);
    for (const sizes of [[1, 2, 3, 50], [27], [13, 48, 144], [range.to - range.from - 1]]) {
      const chunked = await decoded(network, planned, range, sizes);
      assert.ok(furthest(chunked, whole) < 5e-5, sizes.join());
    }
  });

  test("decodes a range in the middle as in the whole", async () => {
    const planned = await plan(goldens.cases[2]!.ids);
    const whole = await decoded(network, planned, { from: 0, to: planned.frames });
    const part = await decoded(network, planned, { from: 100, to: 140 });
    assert.ok(furthest(part, whole.subarray(100 * SPECTRUM_VALUES, 140 * SPECTRUM_VALUES)) < 5e-5);
  });

  test("decodes the shortest sentence", async () => {
    const planned = await plan([0, 69, 0]);
    const spectra = await decoded(network, planned, { from: 0, to: planned.frames });
    assert.equal(spectra.length, planned.frames * SPECTRUM_VALUES);
    assert.ok(spectra.every(Number.isFinite));
  });

  test("decodes a chunk on request only", async () => {
    const planned = await plan(goldens.cases[3]!.ids);
    let runs = 0;
    const counted = {
      ...network,
      decode: (...args: Parameters<OwnedNetwork["decode"]>) => {
        runs += 1;
        return network.decode(...args);
      },
    };
    const stream = new SpectrumStream(counted, planned, { from: 22, to: planned.frames });
    await stream.next();
    assert.equal(runs, 1);
  });
});

describe("The embedded network in 8 bits, against the Python package", () => {
  let network: OwnedNetwork;
  let goldens: Goldens;
  before(async () => {
    [network, goldens] = await Promise.all([openNetwork(VOICE_DIR, "int8"), readGoldens()]);
  });
  after(() => network.close());

  test("stays within the package's tolerances for 8 bits", async () => {
    const { f0_hz_rms_voiced, lh_theta_ln_lr_phi_rms } = goldens.meta.tolerance.int8;
    for (const golden of goldens.cases) {
      const { steps, length, pitchHz, spectra } = await apartFrom(golden, goldens.meta.bins, network);
      assert.ok(steps <= 1 && length <= 0.02, `${golden.text}: ${steps} steps, ${length}`);
      assert.ok(pitchHz <= f0_hz_rms_voiced, `${golden.text}: ${pitchHz} Hz`);
      assert.ok(spectra <= lh_theta_ln_lr_phi_rms, `${golden.text}: ${spectra}`);
    }
  });

  test("repeats its bytes, also during another sentence", async () => {
    const plans = await Promise.all(
      [1, 2].map(async (index) => planContour(network, await planTiming(network, goldens.cases[index]!.ids))),
    );
    const alone = await decoded(network, plans[0]!, { from: 0, to: plans[0]!.frames });
    const together = await Promise.all(
      plans.map((each) => decoded(network, each, { from: 0, to: each.frames })),
    );
    assert.deepEqual(together[0], alone);
  });

  test("stays within the tolerances in other chunks", async () => {
    const golden = goldens.cases[1]!;
    const planned = await planContour(network, await planTiming(network, golden.ids));
    const range = { from: 21, to: planned.frames - 12 };
    const whole = await decoded(network, planned, range, [9_999]);
    const chunked = await decoded(network, planned, range);
    const apart = rms(chunked.map((value, at) => value - whole[at]!));
    assert.ok(apart <= goldens.meta.tolerance.int8.lh_theta_ln_lr_phi_rms, String(apart));
  });
});

async function decoded(
  network: OwnedNetwork,
  plan: Plan,
  range: FrameRange,
  sizes?: readonly number[],
): Promise<Float32Array> {
  const stream = new SpectrumStream(network, plan, range, sizes);
  const values = new Float32Array((range.to - range.from) * SPECTRUM_VALUES);
  for (let frame = range.from; ; ) {
    const chunk = await stream.next();
    if (chunk === null) {
      assert.equal(frame, range.to);
      return values;
    }
    assert.equal(chunk.first, frame);
    values.set(chunk.values, (frame - range.from) * SPECTRUM_VALUES);
    frame += chunk.count;
  }
}
