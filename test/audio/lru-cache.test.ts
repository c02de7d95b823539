import assert from "node:assert/strict";
import { test } from "node:test";
import { LruCache } from "../../src/audio/lru-cache.ts";
import fc from "../properties.ts";

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
