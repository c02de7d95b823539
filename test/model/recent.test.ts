import assert from "node:assert/strict";
import { test } from "node:test";
import { Recent } from "../../src/model/recent.ts";
import fc from "../properties.ts";

test("keeps what was set or asked for last", () => {
  const recent = new Recent<number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  assert.equal(recent.get("a"), 1);
  recent.set("c", 3);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => recent.get(key)),
    [1, undefined, 3],
  );
});

test("holds the last keys that were used, and no more, after any use", () => {
  const use = fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.boolean());
  fc.assert(
    fc.property(fc.array(use), fc.integer({ min: 1, max: 4 }), (uses, most) => {
      const recent = new Recent<string>(most);
      let held: string[] = [];
      for (const [key, isSet] of uses) {
        if (isSet) recent.set(key, key);
        else assert.equal(recent.get(key), held.includes(key) ? key : undefined);
        if (isSet || held.includes(key)) held = [...held.filter((each) => each !== key), key].slice(-most);
      }
      for (const key of "abcde") assert.equal(recent.get(key), held.includes(key) ? key : undefined);
    }),
  );
});
