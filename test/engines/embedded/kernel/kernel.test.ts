import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createKernel, type Kernel } from "../../../../src/engines/embedded/kernel/kernel.ts";
import { BANDS, SPECTRUM_PART } from "../../../../src/engines/embedded/kernel/layout.ts";
import { BINS, HOP_SAMPLES, WINDOW_SAMPLES } from "../../../../src/engines/prosody/frames.ts";
import { createRandom } from "../../../../src/engines/prosody/random.ts";
import { furthest } from "../goldens.ts";
import { rms } from "../listening.ts";

describe("createKernel", () => {
  let kernel: Kernel;
  before(async () => {
    kernel = await createKernel();
  });

  test("computes a frame as a plain discrete Fourier transform does", () => {
    for (const seed of [1n, 2n, 3n]) {
      const random = createRandom(seed, 0, "noise");
      fillFrame(kernel, random);
      kernel.frame(1, 0, BINS);
      const wanted = plainFrame(kernel, true);
      const peak = Math.max(...wanted.map(Math.abs));
      assert.ok(peak > 0.01, `peak ${peak}`);
      assert.ok(furthest(kernel.samples, wanted) < 2e-5 * peak, `seed ${seed}`);
    }
  });

  test("computes an unvoiced frame without pulses", () => {
    fillFrame(kernel, createRandom(4n, 0, "noise"));
    kernel.frame(0, 0, BINS);
    assert.ok(furthest(kernel.samples, plainFrame(kernel, false)) < 2e-6);
  });

  test("repeats its bytes for the same noise seed only", () => {
    fillFrame(kernel, createRandom(5n, 0, "noise"));
    kernel.spectrum.fill(-3, SPECTRUM_PART.noiseGain, SPECTRUM_PART.freeGain);
    const samples = (seed: number) => {
      kernel.frame(1, seed, BINS);
      return Buffer.from(kernel.samples.slice().buffer);
    };
    assert.ok(samples(7).equals(samples(7)));
    assert.ok(!samples(7).equals(samples(8)));
  });

  test("makes noise of the requested level for any seed", () => {
    const wanted = noiseRms(1);
    for (let seed = 0; seed < 40; seed++) {
      fillSilence(kernel);
      kernel.spectrum.fill(0, SPECTRUM_PART.noiseGain, SPECTRUM_PART.freeGain);
      kernel.frame(0, seed * 0x01234567, BINS);
      assert.ok(Math.abs(rms(kernel.samples) / wanted - 1) < 0.12, `seed ${seed}: ${rms(kernel.samples)}`);
    }
  });

  test("adds a frame to the overlap", () => {
    fillFrame(kernel, createRandom(7n, 0, "noise"));
    kernel.frame(1, 0, BINS);
    const alone = kernel.samples.slice();
    for (let n = 0; n < WINDOW_SAMPLES; n++) kernel.overlap[n] = n;
    kernel.frame(1, 0, BINS);
    assert.deepEqual(
      kernel.samples,
      alone.map((sample, n) => sample + n),
    );
    kernel.overlap.fill(0);
  });

  test("shakes the free part's phases as requested, at the same level", () => {
    const correlation = (shake: number) => {
      fillSilence(kernel);
      const random = createRandom(8n, 0, "noise");
      for (let k = 0; k < BINS; k++) {
        kernel.spectrum[SPECTRUM_PART.freeGain + k] = 0;
        kernel.spectrum[SPECTRUM_PART.freePhase + k] = 2 * Math.PI * random.uniform();
      }
      kernel.frame(0, 5, BINS);
      const still = kernel.samples.slice();
      kernel.shake[0] = shake;
      kernel.frame(0, 5, BINS);
      kernel.shake[0] = 0;
      const product = still.reduce((sum, sample, n) => sum + sample * kernel.samples[n]!, 0);
      return product / (WINDOW_SAMPLES * rms(still) ** 2);
    };
    // E cos x of a uniform angle of standard deviation s: sin(√3·s) / (√3·s).
    for (const shake of [0, 0.27, 1]) {
      const wanted = shake === 0 ? 1 : Math.sin(Math.sqrt(3) * shake) / (Math.sqrt(3) * shake);
      assert.ok(Math.abs(correlation(shake) - wanted) < 0.06, `${shake}: ${correlation(shake)}`);
    }
  });

  test("interpolates the gains of bands linearly", () => {
    kernel.gain.fill(0.5);
    for (let band = 0; band < BANDS; band++) kernel.bands[band] = (band * 7) % 5;
    kernel.addBands();
    for (let bin = 0; bin < BINS; bin++) {
      const place = Math.min(BANDS - 1.001, 4.6 * Math.log2(1 + bin / 20));
      const [below, share] = [Math.floor(place), place - Math.floor(place)];
      const [from, to] = [kernel.bands[below]!, kernel.bands[below + 1]!];
      assert.ok(Math.abs(kernel.gain[bin]! - (0.5 + from + share * (to - from))) < 1e-5, `bin ${bin}`);
    }
  });

  test("leaves bins above the limit empty", () => {
    fillFrame(kernel, createRandom(6n, 0, "noise"));
    kernel.frame(1, 3, 201);
    const samples = Float64Array.from(kernel.samples);
    const above = [260, 300, 400, 599].map((bin) => magnitude(samples, bin));
    const below = [20, 100, 190].map((bin) => magnitude(samples, bin));
    assert.ok(Math.max(...above) < 1e-4 * Math.max(...below), `${above} against ${below}`);
  });

  test("makes pulses of all harmonics below 11 kHz", () => {
    for (const hz of [62.5, 100, 187.3, 240, 433]) {
      const end = kernel.hop(hz, hz, hz, 0.25);
      const wanted = Float64Array.from({ length: HOP_SAMPLES }, (_, n) => {
        const phase = 0.25 + ((n + 1) * hz) / 24_000;
        let sum = 0;
        for (let harmonic = 1; harmonic * hz <= 11_000; harmonic++)
          sum += Math.cos(2 * Math.PI * harmonic * phase);
        return sum;
      });
      const most = Math.floor(11_000 / hz);
      assert.ok(furthest(kernel.hopSamples, wanted) < 0.02 * most, `${hz} Hz`);
      assert.ok(Math.abs(end - ((0.25 + (HOP_SAMPLES * hz) / 24_000) % 1)) < 1e-9);
    }
  });

  test("makes no pulses at 40 Hz or below", () => {
    kernel.hop(0, 0, 200, 0);
    const samples = kernel.hopSamples;
    assert.ok(samples.subarray(0, 150).every((sample) => sample === 0));
    assert.ok(samples.subarray(240).some((sample) => sample !== 0));
  });
});

type Random = ReturnType<typeof createRandom>;

function fillFrame(kernel: Kernel, random: Random): void {
  for (const part of [SPECTRUM_PART.pulseGain, SPECTRUM_PART.freeGain]) {
    for (let k = 0; k < BINS; k++) kernel.spectrum[part + k] = random.nearNormal() - 2;
  }
  for (let k = 0; k < BINS; k++) {
    kernel.spectrum[SPECTRUM_PART.pulsePhase + k] = 2 * random.nearNormal();
    kernel.spectrum[SPECTRUM_PART.noiseGain + k] = -87;
    kernel.spectrum[SPECTRUM_PART.freePhase + k] = 4 * random.nearNormal();
    kernel.gain[k] = 0.3 * random.nearNormal();
    kernel.turn[k] = random.nearNormal();
  }
  for (let n = 0; n < WINDOW_SAMPLES; n++) kernel.pulses[n] = 5 * random.nearNormal();
}

function fillSilence(kernel: Kernel): void {
  kernel.spectrum.fill(-87);
  kernel.gain.fill(0);
  kernel.turn.fill(0);
}

const hann = (n: number): number => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW_SAMPLES);

/** The formula in the kernel's documentation, in double precision. */
function plainFrame({ spectrum, gain, turn, pulses }: Kernel, voiced: boolean): Float64Array {
  const re = new Float64Array(BINS);
  const im = new Float64Array(BINS);
  const part = (offset: number, k: number) => spectrum[offset + k]!;
  for (let k = 0; k < BINS; k++) {
    const free = Math.exp(part(SPECTRUM_PART.freeGain, k) + gain[k]!);
    const phase = part(SPECTRUM_PART.freePhase, k) + turn[k]!;
    re[k] = free * Math.cos(phase);
    im[k] = free * Math.sin(phase);
    if (!voiced) continue;
    let pulseRe = 0;
    let pulseIm = 0;
    for (let n = 0; n < WINDOW_SAMPLES; n++) {
      const angle = (-2 * Math.PI * ((k * n) % WINDOW_SAMPLES)) / WINDOW_SAMPLES;
      const sample = (pulses[n]! * hann(n)) / 300;
      pulseRe += sample * Math.cos(angle);
      pulseIm += sample * Math.sin(angle);
    }
    const filter = Math.exp(part(SPECTRUM_PART.pulseGain, k) + gain[k]!);
    const angle = Math.PI * Math.tanh(part(SPECTRUM_PART.pulsePhase, k));
    const [c, s] = [filter * Math.cos(angle), filter * Math.sin(angle)];
    re[k]! += c * pulseRe - s * pulseIm;
    im[k]! += c * pulseIm + s * pulseRe;
  }
  return Float64Array.from({ length: WINDOW_SAMPLES }, (_, n) => {
    let sum = re[0]! + (n % 2 === 0 ? 1 : -1) * re[BINS - 1]!;
    for (let k = 1; k < BINS - 1; k++) {
      const angle = (2 * Math.PI * ((k * n) % WINDOW_SAMPLES)) / WINDOW_SAMPLES;
      sum += 2 * (re[k]! * Math.cos(angle) - im[k]! * Math.sin(angle));
    }
    return ((sum / WINDOW_SAMPLES) * hann(n)) / 1.5;
  });
}

function magnitude(samples: Float64Array, bin: number): number {
  let re = 0;
  let im = 0;
  samples.forEach((sample, n) => {
    re += sample * Math.cos((2 * Math.PI * bin * n) / WINDOW_SAMPLES);
    im -= sample * Math.sin((2 * Math.PI * bin * n) / WINDOW_SAMPLES);
  });
  return Math.hypot(re, im);
}

/** RMS of a windowed frame of complex noise of variance 1. */
function noiseRms(level: number): number {
  let window = 0;
  for (let n = 0; n < WINDOW_SAMPLES; n++) window += (hann(n) / 1.5) ** 2;
  const unwindowed = (level * Math.sqrt(4 * (BINS - 2) + 2)) / WINDOW_SAMPLES;
  return unwindowed * Math.sqrt(window / WINDOW_SAMPLES);
}
