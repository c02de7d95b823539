import assert from "node:assert/strict";
import { test } from "node:test";
import { LruCache } from "../../src/audio/lru-cache.ts";
import fc from "../properties.ts";

test("keeps the most recently used", () => {
  const cache = new LruCache<number>(2);
  cache.set("a", 1);
  cache.set("b", 2);
  assert.equal(cache.get("a"), 1);
  cache.set("c", 3);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => cache.get(key)),
    [1, undefined, 3],
  );
});

test("holds at most its capacity after any use", () => {
  const use = fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.boolean());
  fc.assert(
    fc.property(fc.array(use), fc.integer({ min: 1, max: 4 }), (uses, max) => {
      const cache = new LruCache<string>(max);
      let held: string[] = [];
      for (const [key, isSet] of uses) {
        if (isSet) cache.set(key, key);
        else assert.equal(cache.get(key), held.includes(key) ? key : undefined);
        if (isSet || held.includes(key)) held = [...held.filter((each) => each !== key), key].slice(-max);
      }
      for (const key of "abcde") assert.equal(cache.get(key), held.includes(key) ? key : undefined);
    }),
  );
});
