import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CalibrationSpeech } from "../../../../src/engines/embedded/following/calibration.ts";
import {
  correctSoundMap,
  learnSoundMap,
  type SoundMap,
} from "../../../../src/engines/embedded/following/sound-map.ts";
import { BAND_HZ, BANDS } from "../../../../src/engines/following/analysis/bands.ts";
import fc from "../../../properties.ts";
import { noise } from "../../following/analysis/signals.ts";

const DB = Math.LN10 / 10;

/** Spectra of six kinds that come and go, as log powers. */
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
/** The gain of each kind in a band, in decibels. */
const gainsDb = ({ gains, kinds }: SoundMap, band: number) =>
  Array.from({ length: kinds }, (_, kind) => gains[kind * BANDS + band]! / DB);
const allDb = ({ gains }: SoundMap) => Array.from(gains, (gain) => gain / DB);

describe("A map that is learnt", () => {
  test("from our own sound changes nearly nothing", () => {
    for (const db of allDb(learnSoundMap(own, heardAs(own.sound)))) assert.ok(Math.abs(db) < 0.1, `${db} dB`);
  });

  test("from other words of our own voice changes little", () => {
    const map = learnSoundMap(own, heardAs(speech(420, 2)));
    for (const db of allDb(map)) assert.ok(Math.abs(db) < 1.5, `${db} dB`);
  });

  test("holds a filter that our sound went through within 1 dB, its level left out", () => {
    const filter = (band: number) => 4 * Math.sin(band / 5) + 9;
    const map = learnSoundMap(own, heardAs(filtered(own.sound, filter)));
    for (let band = 6; band < 36; band++) {
      for (const db of gainsDb(map, band)) {
        assert.ok(Math.abs(db - (filter(band) - meanOf(filter))) < 1, `${db} dB in band ${band}`);
      }
    }
  });

  test("moves one kind of sound more than the others where that is what is heard", () => {
    const isBright = (at: number) => Math.floor(Math.floor(at / BANDS) / 7) % 6 === 3;
    const heard = own.sound.map((value, at) => value + (isBright(at) && at % BANDS > 24 ? 8 * DB : 0));
    const gains = gainsDb(learnSoundMap(own, heardAs(heard)), 30);
    assert.ok(Math.max(...gains) - Math.min(...gains) > 2.5, gains.join());
  });

  test("is nothing at strength 0, and half as much at half the strength", () => {
    const sound = filtered(speech(300, 2), (band) => band / 3);
    const [none, half, all] = [0, 0.5, 1].map((strength) => learnSoundMap(own, heardAs(sound, { strength })));
    assert.ok(none!.gains.every((gain) => gain === 0) && none!.intendedGains.every((gain) => gain === 0));
    half!.gains.forEach((gain, at) => {
      assert.ok(Math.abs(gain - all!.gains[at]! / 2) < 1e-9);
    });
  });

  test("goes back to nothing above the edge of what was recorded", () => {
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

  test("is the same for what was heard at any level", () => {
    const sound = speech(300, 2);
    const louder = learnSoundMap(own, heardAs(filtered(sound, () => 20)));
    const map = learnSoundMap(own, heardAs(sound));
    louder.gains.forEach((gain, at) => {
      assert.ok(Math.abs(gain - map.gains[at]!) < 1e-3);
    });
  });

  test("means for the mean of our sound what its gains are on average", () => {
    const filter = (band: number) => 3 * Math.cos(band / 4);
    const { intendedGains: meant } = learnSoundMap(own, heardAs(filtered(own.sound, filter)));
    for (let band = 6; band < 36; band++) {
      assert.ok(Math.abs(meant[band]! / DB - (filter(band) - meanOf(filter))) < 0.5, `band ${band}`);
    }
  });
});

describe("A map that is mended", () => {
  const bare = own.sound;
  const filter = (band: number) => 4 * Math.cos(band / 6);
  const heard = heardAs(filtered(bare, filter));
  const map = learnSoundMap(own, heard);
  const half = filtered(bare, (band) => filter(band) / 2);

  test("stays as it is where it did what it was meant to do and nothing lacks", () => {
    const reached = bare.map((value, at) => value + map.intendedGains[at % BANDS]!);
    const likewise = { ...heard, sound: reached };
    correctSoundMap(map, bare, reached, likewise).gains.forEach((gain, at) => {
      assert.ok(Math.abs(gain - map.gains[at]!) < 0.02 * DB);
    });
  });

  test("makes up for no level: what sounded softer as a whole is left as it is", () => {
    const softer = bare.map((value, at) => value + map.intendedGains[at % BANDS]! - 4 * DB);
    const likewise = { ...heard, sound: softer };
    correctSoundMap(map, bare, softer, likewise).gains.forEach((gain, at) => {
      if (at % BANDS < map.frame.bandLimit) assert.ok(Math.abs(gain - map.gains[at]!) < DB);
    });
  });

  test("goes further where it did less than it was meant to do", () => {
    const better = correctSoundMap(map, bare, half, heard);
    const [up, down] = [0, 19];
    const tilt = (each: SoundMap) => gainsDb(each, up)[0]! - gainsDb(each, down)[0]!;
    assert.ok(tilt(better) > tilt(map) + 2, `${tilt(better)} and ${tilt(map)}`);
  });

  test("is moved by what all kinds have in common alone, and not above the edge but for the level", () => {
    const narrow = learnSoundMap(own, { ...heard, bandEdgeHz: 3_400 });
    const better = correctSoundMap(narrow, bare, half, { ...heard, bandEdgeHz: 3_400 });
    const moved = better.gains.map((gain, at) => gain - narrow.gains[at]!);
    moved.forEach((value, at) => {
      assert.ok(Math.abs(value - moved[at % BANDS]!) < 1e-9);
    });
    for (let band = narrow.frame.bandLimit; band < BANDS; band++) {
      assert.ok(Math.abs(moved[band]! - moved[BANDS - 1]!) < 1e-9);
    }
  });

  test("is nothing still at strength 0", () => {
    const none = { ...heard, strength: 0 };
    const plain = correctSoundMap(learnSoundMap(own, none), bare, bare, none);
    assert.ok(plain.gains.every((gain) => Math.abs(gain) < 1e-9));
  });
});

test("gains stay within their limits for whatever is heard", () => {
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

/** Mean of a filter over the bands that its level is taken from: those above 150 Hz. */
function meanOf(filter: (band: number) => number): number {
  const inside = [...BAND_HZ.keys()].filter((band) => BAND_HZ[band]! > 150 && BAND_HZ[band]! <= 0.92 * 7_800);
  return inside.reduce((sum, band) => sum + filter(band), 0) / inside.length;
}
