import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { entrain, pauseFactor } from "../../../src/engines/following/followed-pace-and-level.ts";
import fc from "../../properties.ts";
import { profileOf } from "./analysis/profiles.ts";

const voice = createVoices().get("0")!;
const dB = (gain: number) => 20 * Math.log10(gain);

describe("entrain", () => {
  it("changes nothing for an equal speaker", () => {
    const like = profileOf({ loudnessLufs: voice.loudnessLufs, pausesS: [0.3, 0.3, 0.3] });
    for (const factor of Object.values(entrain(voice, like))) assert.ok(Math.abs(factor - 1) < 1e-9);
  });

  it("moves a quarter towards another's level, and a little towards pace and pauses", () => {
    const { gain, tempo, pause } = entrain(
      voice,
      profileOf({ loudnessLufs: voice.loudnessLufs - 8, syllablesPerS: 4.3, pausesS: [0.5, 0.6, 0.7] }),
    );
    assert.ok(Math.abs(dB(gain) + 2) < 1e-9);
    assert.ok(tempo > 1.01 && tempo <= 1.05 && pause > 1.1 && pause <= 1.35, `${tempo}, ${pause}`);
    const other = entrain(
      voice,
      profileOf({ loudnessLufs: voice.loudnessLufs + 8, syllablesPerS: 3.4, pausesS: [0.15, 0.2, 0.2] }),
    );
    assert.ok(Math.abs(dB(other.gain) - 2) < 1e-9);
    assert.ok(other.tempo < 0.99 && other.pause < 0.95);
  });

  it("ignores an untrusted clip, and a missing level", () => {
    const shouted = { loudnessLufs: -6, syllablesPerS: 8, pausesS: [2, 2] };
    assert.deepEqual(entrain(voice, profileOf({ ...shouted, trust: 0 })), { gain: 1, tempo: 1, pause: 1 });
    assert.equal(entrain(voice, profileOf({ ...shouted, loudnessLufs: null })).gain, 1);
  });

  it("scales with the trust", () => {
    const gains = [0.25, 0.5, 1].map((trust) => entrain(voice, profileOf({ loudnessLufs: -20, trust })).gain);
    assert.ok(1 < gains[0]! && gains[0]! < gains[1]! && gains[1]! < gains[2]!);
  });

  it("ignores a single pause", () => {
    for (const pausesS of [[2], []]) assert.equal(pauseFactor(profileOf({ pausesS }), 1), 1);
  });

  it("changes at most 3 dB, 5 % of the pace and a third of a pause", () => {
    const figure = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    const other = fc.record({
      trust: figure(0, 1),
      speechS: figure(0.1, 30),
      loudnessLufs: fc.option(figure(-70, 0)),
      syllablesPerS: fc.oneof(fc.constant(0), figure(0.01, 80)),
      pausesS: fc.array(figure(0.1, 30), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(other, (parts) => {
        const { gain, tempo, pause } = entrain(voice, profileOf(parts));
        assert.ok(Math.abs(dB(gain)) <= 3 + 1e-9);
        assert.ok(Math.abs(Math.log(tempo)) <= Math.log(1.05) + 1e-9);
        assert.ok(Math.abs(Math.log(pause)) <= Math.log(1.35) + 1e-9);
      }),
    );
  });
});
