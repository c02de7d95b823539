import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  createSoundMapTransform,
  type SoundMap,
} from "../../../../src/engines/embedded/following/sound-map.ts";
import { createKernel, type Kernel } from "../../../../src/engines/embedded/kernel/kernel.ts";
import { SPECTRUM_PART, SPECTRUM_VALUES } from "../../../../src/engines/embedded/kernel/layout.ts";
import { UNCHANGED_SPECTRUM } from "../../../../src/engines/embedded/spectral-envelope.ts";
import { addBetweenBands, BANDS } from "../../../../src/engines/following/analysis/bands.ts";
import { BIN_HZ, BINS } from "../../../../src/engines/prosody/frames.ts";
import { noise } from "../../following/analysis/signals.ts";

/** Two kinds: bright, and dark. */
const signs = Float64Array.from(
  { length: 2 * BANDS },
  (_, at) => (at < BANDS ? at - 20 : 20 - (at - BANDS)) / 4,
);
const mapOf = (gains: Float64Array): SoundMap => ({
  kinds: 2,
  descriptionShapes: signs,
  frame: { mean: new Float64Array(BANDS), bandLimit: BANDS },
  gains,
  intendedGains: new Float64Array(BANDS),
});
const uneven = Float64Array.from({ length: BANDS }, (_, band) => Math.sin(band / 3));
const both = (first: Float64Array, second: Float64Array) => mapOf(Float64Array.from([...first, ...second]));
const NONE = new Float64Array(BANDS);

/** A frame's values: the free part rises or falls with frequency by so much over all bins, nothing else sounds. */
function spectrum(slope: number): Float32Array {
  const values = new Float32Array(SPECTRUM_VALUES).fill(-20);
  for (let bin = 0; bin < BINS; bin++) values[SPECTRUM_PART.freeGain + bin] = slope * (bin / BINS - 0.3);
  return values;
}

const [BRIGHT, DARK] = [spectrum(25), spectrum(-25)];

describe("A colouring by a map", () => {
  let kernel: Kernel;
  before(async () => {
    kernel = await createKernel();
  });

  /** The gains that each frame gets. */
  function gainsOf(map: SoundMap, ...frames: readonly Float32Array[]): Float32Array[] {
    const pitchHz = new Float32Array(frames.length).fill(150);
    const colouring = createSoundMapTransform(UNCHANGED_SPECTRUM, map, pitchHz);
    return frames.map((values, frame) => {
      colouring.apply(kernel, frame, values, 0);
      return kernel.gain.slice();
    });
  }

  test("without gains leaves every frame as it is", () => {
    for (const gain of gainsOf(mapOf(new Float64Array(2 * BANDS)), BRIGHT, DARK)) {
      assert.ok(gain.every((value) => value === 0));
    }
    assert.deepEqual(kernel.spectrum.slice(), DARK);
  });

  test("gives what all kinds have in common to every sound, of power half as much in amplitude", () => {
    const wanted = new Float32Array(BINS);
    addBetweenBands(uneven, 0.5, wanted);
    for (const gain of gainsOf(both(uneven, uneven), BRIGHT, DARK, spectrum(0))) {
      for (let bin = 0; bin * BIN_HZ <= 7_500; bin++) assert.ok(Math.abs(gain[bin]! - wanted[bin]!) < 1e-5);
    }
  });

  test("tells kinds apart by how a frame is described", () => {
    const map = both(uneven, NONE);
    const [bright] = gainsOf(map, BRIGHT);
    const [dark] = gainsOf(map, DARK);
    assert.ok(Math.max(...bright!) > 0.45 && dark!.every((value) => Math.abs(value) < 0.01));
  });

  test("goes from kind to kind smoothly, half of the way with each frame", () => {
    const gains = gainsOf(both(uneven, NONE), BRIGHT, DARK, DARK, DARK, DARK, BRIGHT).map((gain) =>
      Math.max(...gain),
    );
    gains.slice(1, 5).forEach((peak, i) => {
      assert.ok(Math.abs(peak / gains[i]! - 0.5) < 0.02, gains.join());
    });
    assert.ok(gains[5]! > 0.45 * gains[0]!);
  });

  test("begins anew with each sentence", () => {
    const map = both(uneven, NONE);
    assert.deepEqual(gainsOf(map, BRIGHT, DARK), gainsOf(map, BRIGHT, DARK));
    assert.deepEqual(gainsOf(map, DARK)[0], gainsOf(map, DARK, BRIGHT)[0]);
  });

  test("is smooth over frequency, and has faded away by 9 kHz", () => {
    for (const level of [3, -3]) {
      const even = new Float64Array(BANDS).fill(level);
      const [gain] = gainsOf(both(even, even), BRIGHT);
      for (let bin = 1; bin < BINS; bin++) {
        assert.ok(Math.abs(gain![bin]! - gain![bin - 1]!) <= 1.5 / 44, `${bin * BIN_HZ} Hz`);
        if (bin * BIN_HZ >= 9_000) assert.ok(Math.abs(gain![bin]!) < 1e-6);
        if (bin * BIN_HZ <= 7_600) assert.ok(Math.abs(gain![bin]! - level / 2) < 1e-6);
      }
    }
  });

  test("stays finite for any frame that a decoder gives, voiced or not", () => {
    const map = both(uneven, new Float64Array(BANDS).fill(-4));
    for (const scale of [1, 10, 40]) {
      const frames = [1, 2, 3].map((seed) =>
        noise(SPECTRUM_VALUES, seed).map((value) => scale * (value - 1)),
      );
      for (const gain of gainsOf(map, ...frames, new Float32Array(SPECTRUM_VALUES).fill(-90))) {
        assert.ok(gain.every((value) => Math.abs(value) <= 2 + 1e-6));
      }
    }
  });
});
