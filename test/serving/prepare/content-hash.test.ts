import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Delivery, Lexicon } from "../../../src/core/script.ts";
import { ContentHash } from "../../../src/serving/prepare/history-audio.ts";
import { anyText } from "../../contract/any-text.ts";
import fc from "../../properties.ts";

const STILL: Delivery = {
  temperature: 0,
  acousticTemperature: 0,
  topK: null,
  repetitionPenalty: 3,
  penaltyWindow: 20,
  maxFrames: 512,
  quality: "high",
};

type Part = string | null | Uint8Array;

function seedOf(parts: readonly Part[], model = "m"): bigint {
  const hash = new ContentHash(model);
  for (const part of parts) {
    if (part instanceof Uint8Array) hash.bytes(part);
    else hash.text(part);
  }
  return hash.seed(STILL);
}

/** A small alphabet makes texts collide at their boundaries. */
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "1", ":", ";", "-"), maxLength: 4 }),
  anyText(3),
  fc.constant(null),
  fc.uint8Array({ maxLength: 4 }),
);
const parts = fc.array(part, { maxLength: 4 });

describe("a content seed", () => {
  it("depends on the lexicon but not on its order", () => {
    const seed = (words: Lexicon) => new ContentHash("m").text("0").text("Hi.").lexicon(words).seed(STILL);
    assert.equal(seed([]), seedOf(["0", "Hi."]));
    const [a, b] = [
      ["a", "x"],
      ["b", "y"],
    ] as const;
    assert.equal(seed([a, b]), seed([b, a]));
    const all = [seed([]), seed([a]), seed([b]), seed([a, b]), seed([["a", "y"]]), seed([["ax", ""]])];
    assert.equal(new Set(all).size, all.length);
  });

  it("is deterministic and 64 bits wide", () => {
    let bits = 0n;
    fc.assert(
      fc.property(parts, (content) => {
        const seed = seedOf(content);
        assert.equal(seed, seedOf(content.map((one) => (one instanceof Uint8Array ? one.slice() : one))));
        assert.ok(seed >= 0n && seed < 2n ** 64n);
        bits |= seed;
      }),
    );
    assert.equal(bits, 2n ** 64n - 1n);
  });

  it("differs for different content", () => {
    const key = (content: readonly Part[]) =>
      JSON.stringify(content.map((one) => (one instanceof Uint8Array ? { bytes: [...one] } : one)));
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        assert.equal(seedOf(one) === seedOf(other), key(one) === key(other));
      }),
      { numRuns: 2_000 },
    );
  });

  it("differs if a boundary moves, or if a part is missing, empty or audio", () => {
    const contents: Part[][] = [
      ["ab", "c"],
      ["a", "bc"],
      ["abc"],
      ["abc", ""],
      ["", "abc"],
      ["abc", null],
      [null, "abc"],
      ["a", "b", "c"],
      [Buffer.from("abc", "utf16le")],
      [Buffer.from("abc")],
      ["1:a"],
      ["1", "a"],
      [],
      [""],
      [null],
      [new Uint8Array(0)],
    ];
    assert.equal(new Set(contents.map((content) => seedOf(content))).size, contents.length);
  });

  it("differs by model", () => {
    assert.notEqual(seedOf(["a"], "m"), seedOf(["a"], "n"));
  });

  it("ignores the frame limit and the quality", () => {
    const seedWith = (delivery: Partial<Delivery>) =>
      new ContentHash("m").text("a").seed({ ...STILL, ...delivery });
    assert.equal(seedWith({ maxFrames: 16 }), seedWith({}));
    assert.equal(seedWith({ quality: "low" }), seedWith({}));
  });

  it("is random above temperature 0", () => {
    const fresh = () => new ContentHash("m").text("a").seed({ ...STILL, temperature: 0.1 });
    assert.equal(new Set(Array.from({ length: 100 }, fresh)).size, 100);
  });
});
