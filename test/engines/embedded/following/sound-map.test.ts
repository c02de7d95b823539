import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { CalibrationSpeech } from "../../../../src/engines/embedded/following/calibration.ts";
import {
  correctSoundMap,
  createSoundMapTransform,
  learnSoundMap,
  type SoundMap,
} from "../../../../src/engines/embedded/following/sound-map.ts";
import { createKernel, type Kernel } from "../../../../src/engines/embedded/kernel/kernel.ts";
import { SPECTRUM_PART, SPECTRUM_VALUES } from "../../../../src/engines/embedded/kernel/layout.ts";
import { UNCHANGED_SPECTRUM } from "../../../../src/engines/embedded/spectral-envelope.ts";
import { addBetweenBands, BAND_HZ, BANDS } from "../../../../src/engines/following/analysis/bands.ts";
import { BIN_HZ, BINS } from "../../../../src/engines/prosody/frames.ts";
import fc from "../../../properties.ts";
import { noise } from "../../following/analysis/signals.ts";

/** A bright and a dark kind. */
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

/** A frame with only the free part, of this slope over all bins. */
function spectrum(slope: number): Float32Array {
  const values = new Float32Array(SPECTRUM_VALUES).fill(-20);
  for (let bin = 0; bin < BINS; bin++) values[SPECTRUM_PART.freeGain + bin] = slope * (bin / BINS - 0.3);
  return values;
}

const [BRIGHT, DARK] = [spectrum(25), spectrum(-25)];

describe("createSoundMapTransform", () => {
  let kernel: Kernel;
  before(async () => {
    kernel = await createKernel();
  });

  /** The gains of each frame. */
  function gainsOf(map: SoundMap, ...frames: readonly Float32Array[]): Float32Array[] {
    const pitchHz = new Float32Array(frames.length).fill(150);
    const transform = createSoundMapTransform(UNCHANGED_SPECTRUM, map, pitchHz);
    return frames.map((values, frame) => {
      transform.apply(kernel, frame, values, 0);
      return kernel.gain.slice();
    });
  }

  test("changes nothing without gains", () => {
    for (const gain of gainsOf(mapOf(new Float64Array(2 * BANDS)), BRIGHT, DARK))
      assert.ok(gain.every((value) => value === 0));
    assert.deepEqual(kernel.spectrum.slice(), DARK);
  });

  test("applies common gains to every sound, halved from power to amplitude", () => {
    const wanted = new Float32Array(BINS);
    addBetweenBands(uneven, 0.5, wanted);
    for (const gain of gainsOf(both(uneven, uneven), BRIGHT, DARK, spectrum(0))) {
      for (let bin = 0; bin * BIN_HZ <= 7_500; bin++) assert.ok(Math.abs(gain[bin]! - wanted[bin]!) < 1e-5);
    }
  });

  test("tells kinds apart by a frame's description", () => {
    const map = both(uneven, NONE);
    const [bright] = gainsOf(map, BRIGHT);
    const [dark] = gainsOf(map, DARK);
    assert.ok(Math.max(...bright!) > 0.45 && dark!.every((value) => Math.abs(value) < 0.01));
  });

  test("moves half of the way to another kind with each frame", () => {
    const gains = gainsOf(both(uneven, NONE), BRIGHT, DARK, DARK, DARK, DARK, BRIGHT).map((gain) =>
      Math.max(...gain),
    );
    gains.slice(1, 5).forEach((peak, i) => {
      assert.ok(Math.abs(peak / gains[i]! - 0.5) < 0.02, gains.join());
    });
    assert.ok(gains[5]! > 0.45 * gains[0]!);
  });

  test("starts over with each sentence", () => {
    const map = both(uneven, NONE);
    assert.deepEqual(gainsOf(map, BRIGHT, DARK), gainsOf(map, BRIGHT, DARK));
    assert.deepEqual(gainsOf(map, DARK)[0], gainsOf(map, DARK, BRIGHT)[0]);
  });

  test("is smooth over frequency, and fades out by 9 kHz", () => {
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

  test("stays finite for any frame", () => {
    const map = both(uneven, new Float64Array(BANDS).fill(-4));
    for (const scale of [1, 10, 40]) {
      const frames = [1, 2, 3].map((seed) =>
        noise(SPECTRUM_VALUES, seed).map((value) => scale * (value - 1)),
      );
      for (const gain of gainsOf(map, ...frames, new Float32Array(SPECTRUM_VALUES).fill(-90)))
        assert.ok(gain.every((value) => Math.abs(value) <= 2 + 1e-6));
    }
  });
});

const DB = Math.LN10 / 10;

/** Log power spectra of six alternating kinds. */
function speech(frames: number, seed: number): Float32Array {
  const own = noise(frames * BANDS, seed);
  return own.map((value, at) => {
    const [frame, band] = [Math.floor(at / BANDS), at % BANDS];
    const kind = (Math.floor(frame / 7) * (seed % 2 === 1 ? 1 : 5)) % 6;
    return 2 * Math.sin((kind + 1) * 0.21 * band) - 0.06 * band + 0.3 * value - (frame % 7) * 0.1;
  });
}

const ownSpeech = (sound: Float32Array): CalibrationSpeech => ({
  samples: new Float32Array(0),
  loudnessLufs: -26,
  sound,
  described: sound.map((value, at) => value + 0.5 + 0.01 * (at % BANDS)),
  isVoiced: new Uint8Array(sound.length / BANDS).fill(1),
});

const own = ownSpeech(speech(420, 1));
const filtered = (sound: Float32Array, filterDb: (band: number) => number) =>
  sound.map((value, at) => value + DB * filterDb(at % BANDS));
const heardAs = (sound: Float32Array, rest: { bandEdgeHz?: number; strength?: number } = {}) => ({
  sound,
  bandEdgeHz: 7_800,
  strength: 1,
  ...rest,
});
/** The gains of all kinds in a band, in decibels. */
const gainsDb = ({ gains, kinds }: SoundMap, band: number) =>
  Array.from({ length: kinds }, (_, kind) => gains[kind * BANDS + band]! / DB);
const allDb = ({ gains }: SoundMap) => Array.from(gains, (gain) => gain / DB);

describe("learnSoundMap", () => {
  test("changes nearly nothing for the same sound", () => {
    for (const db of allDb(learnSoundMap(own, heardAs(own.sound)))) assert.ok(Math.abs(db) < 0.1, `${db} dB`);
  });

  test("changes little for other words of the same voice", () => {
    const map = learnSoundMap(own, heardAs(speech(420, 2)));
    for (const db of allDb(map)) assert.ok(Math.abs(db) < 1.5, `${db} dB`);
  });

  test("finds a filter within 1 dB, without its level", () => {
    const filter = (band: number) => 4 * Math.sin(band / 5) + 9;
    const map = learnSoundMap(own, heardAs(filtered(own.sound, filter)));
    for (let band = 6; band < 36; band++) {
      for (const db of gainsDb(map, band)) {
        assert.ok(Math.abs(db - (filter(band) - meanOf(filter))) < 1, `${db} dB in band ${band}`);
      }
    }
  });

  test("moves one kind of sound more than the others", () => {
    const isBright = (at: number) => Math.floor(Math.floor(at / BANDS) / 7) % 6 === 3;
    const heard = own.sound.map((value, at) => value + (isBright(at) && at % BANDS > 24 ? 8 * DB : 0));
    const gains = gainsDb(learnSoundMap(own, heardAs(heard)), 30);
    assert.ok(Math.max(...gains) - Math.min(...gains) > 2.5, gains.join());
  });

  test("scales with its strength", () => {
    const sound = filtered(speech(300, 2), (band) => band / 3);
    const [none, half, all] = [0, 0.5, 1].map((strength) => learnSoundMap(own, heardAs(sound, { strength })));
    assert.ok(none!.gains.every((gain) => gain === 0) && none!.intendedGains.every((gain) => gain === 0));
    half!.gains.forEach((gain, at) => {
      assert.ok(Math.abs(gain - all!.gains[at]! / 2) < 1e-9);
    });
  });

  test("fades out above the band edge of the recording", () => {
    for (const bandEdgeHz of [3_400, 2_000]) {
      const sound = filtered(speech(300, 2), (band) => 12 - band / 2);
      const map = learnSoundMap(own, heardAs(sound, { bandEdgeHz }));
      BAND_HZ.forEach((hz, band) => {
        if (hz < bandEdgeHz) return;
        const gains = gainsDb(map, band);
        const [before] = gainsDb(map, band - 1);
        assert.ok(gains.every((gain) => gain === gains[0] && Math.abs(gain) <= Math.abs(before!)));
        if (hz > 1.5 * bandEdgeHz) assert.equal(Math.abs(gains[0]!), 0, `${hz} Hz`);
      });
    }
  });

  test("ignores the level", () => {
    const sound = speech(300, 2);
    const louder = learnSoundMap(own, heardAs(filtered(sound, () => 20)));
    const map = learnSoundMap(own, heardAs(sound));
    louder.gains.forEach((gain, at) => {
      assert.ok(Math.abs(gain - map.gains[at]!) < 1e-3);
    });
  });

  test("intends its mean gains for the mean spectrum", () => {
    const filter = (band: number) => 3 * Math.cos(band / 4);
    const { intendedGains: meant } = learnSoundMap(own, heardAs(filtered(own.sound, filter)));
    for (let band = 6; band < 36; band++)
      assert.ok(Math.abs(meant[band]! / DB - (filter(band) - meanOf(filter))) < 0.5, `band ${band}`);
  });
});

describe("correctSoundMap", () => {
  const bare = own.sound;
  const filter = (band: number) => 4 * Math.cos(band / 6);
  const heard = heardAs(filtered(bare, filter));
  const map = learnSoundMap(own, heard);
  const half = filtered(bare, (band) => filter(band) / 2);

  test("keeps a map that reached its target", () => {
    const reached = bare.map((value, at) => value + map.intendedGains[at % BANDS]!);
    const likewise = { ...heard, sound: reached };
    correctSoundMap(map, bare, reached, likewise).gains.forEach((gain, at) => {
      assert.ok(Math.abs(gain - map.gains[at]!) < 0.02 * DB);
    });
  });

  test("ignores the level", () => {
    const softer = bare.map((value, at) => value + map.intendedGains[at % BANDS]! - 4 * DB);
    const likewise = { ...heard, sound: softer };
    correctSoundMap(map, bare, softer, likewise).gains.forEach((gain, at) => {
      if (at % BANDS < map.frame.bandLimit) assert.ok(Math.abs(gain - map.gains[at]!) < DB);
    });
  });

  test("strengthens a map that fell short", () => {
    const better = correctSoundMap(map, bare, half, heard);
    const [up, down] = [0, 19];
    const tilt = (each: SoundMap) => gainsDb(each, up)[0]! - gainsDb(each, down)[0]!;
    assert.ok(tilt(better) > tilt(map) + 2, `${tilt(better)} and ${tilt(map)}`);
  });

  test("moves all kinds alike, and above the band edge only the level", () => {
    const narrow = learnSoundMap(own, { ...heard, bandEdgeHz: 3_400 });
    const better = correctSoundMap(narrow, bare, half, { ...heard, bandEdgeHz: 3_400 });
    const moved = better.gains.map((gain, at) => gain - narrow.gains[at]!);
    moved.forEach((value, at) => {
      assert.ok(Math.abs(value - moved[at % BANDS]!) < 1e-9);
    });
    for (let band = narrow.frame.bandLimit; band < BANDS; band++)
      assert.ok(Math.abs(moved[band]! - moved[BANDS - 1]!) < 1e-9);
  });

  test("stays empty at strength 0", () => {
    const none = { ...heard, strength: 0 };
    const plain = correctSoundMap(learnSoundMap(own, none), bare, bare, none);
    assert.ok(plain.gains.every((gain) => Math.abs(gain) < 1e-9));
  });
});

test("gains stay within their limits", () => {
  const spectrum = fc.array(fc.float({ min: -19, max: 15, noNaN: true }), {
    minLength: BANDS,
    maxLength: BANDS,
  });
  const heard = fc.record({
    sound: fc.array(spectrum, { minLength: 1, maxLength: 12 }).map((rows) => Float32Array.from(rows.flat())),
    bandEdgeHz: fc.integer({ min: 60, max: 7_800 }),
    strength: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(heard, (each) => {
      const map = learnSoundMap(own, each);
      const limitUp = each.strength * (12 + 10) + 1e-6;
      const limitDown = each.strength * (16 + 10) + 1e-6;
      for (const db of allDb(map)) assert.ok(db <= limitUp && db >= -limitDown, `${db} dB`);
      const mended = correctSoundMap(map, own.sound, own.sound, each);
      // Two corrections of 5 dB, and the level that they cost.
      for (const db of allDb(mended)) assert.ok(Math.abs(db) <= 26 + 20, `${db} dB`);
    }),
    { numRuns: 40 },
  );
});

/** The mean of a filter over the bands that determine the level: those above 150 Hz. */
function meanOf(filter: (band: number) => number): number {
  const inside = [...BAND_HZ.keys()].filter((band) => BAND_HZ[band]! > 150 && BAND_HZ[band]! <= 0.92 * 7_800);
  return inside.reduce((sum, band) => sum + filter(band), 0) / inside.length;
}
