import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hashApiKey, newApiKey, newKeyId, parseApiKey } from "../../src/accounts/api-key.ts";
import fc from "../properties.ts";

describe("an API key", () => {
  it("has a prefix, 32 random characters and a checksum of 6", () => {
    assert.match(newApiKey(), /^ant_[0-9A-Za-z]{38}$/);
    assert.equal(parseApiKey(newApiKey()), "well-formed");
  });

  it("is unique, and uses the whole alphabet evenly", () => {
    const keys = Array.from({ length: 2_000 }, newApiKey);
    assert.equal(new Set(keys).size, keys.length);
    const counts = new Map<string, number>();
    for (const character of keys.flatMap((key) => [...key.slice(4, 36)]))
      counts.set(character, (counts.get(character) ?? 0) + 1);
    assert.equal(counts.size, 62);
    // 64,000 draws: 1032 of each, six standard deviations are 192.
    for (const [character, count] of counts)
      assert.ok(Math.abs(count - 1_032) < 192, `${character}: ${count}`);
  });

  it("ends in the base62 CRC-32 of its first 36 characters", () => {
    // CRC-32 as zlib computes it: 0x9fe2d8f2.
    assert.equal(parseApiKey("ant_000000000000000000000000000000002vXGE6"), "well-formed");
  });

  it("is detected as mistyped with one wrong or two swapped characters", () => {
    const key = newApiKey();
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 41 }), fc.constantFrom(..."09AZaz"), (at, character) => {
        const typo = key.slice(0, at) + character + key.slice(at + 1);
        assert.equal(parseApiKey(typo), typo === key ? "well-formed" : "mistyped");
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 40 }), (at) => {
        const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
        assert.equal(parseApiKey(swapped), swapped === key ? "well-formed" : "mistyped");
      }),
    );
  });

  it("is mistyped with another length, and foreign without its prefix", () => {
    const key = newApiKey();
    assert.equal(parseApiKey(key.slice(0, -1)), "mistyped");
    assert.equal(parseApiKey(`${key}a`), "mistyped");
    assert.equal(parseApiKey(`${key}\n`), "mistyped");
    assert.equal(parseApiKey("ant_"), "mistyped");
    assert.equal(parseApiKey(key.slice(1)), "foreign");
    assert.equal(parseApiKey(""), "foreign");
    assert.equal(parseApiKey("sk-1234"), "foreign");
  });

  it("is stored as its SHA-256, under an unrelated id", () => {
    assert.equal(hashApiKey("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert.match(newKeyId(), /^key_[0-9A-Za-z]{12}$/);
  });
});
