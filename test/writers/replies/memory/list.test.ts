import assert from "node:assert/strict";
import { test } from "node:test";
import { itemsOf, listOf, spokenList } from "../../../../src/writers/replies/memory/list.ts";
import fc from "../../../properties.ts";

const THINGS = [
  "milk",
  "tea",
  "dog food",
  "candles",
  "batteries",
  "brown bread",
  "soap",
  "rice",
  "onions",
  "string",
];
const things = fc.uniqueArray(fc.constantFrom(...THINGS), { minLength: 2, maxLength: 5 });
const spoken = (items: readonly string[]) => spokenList(items).replace(/\.$/, "").toLowerCase();

const steps = fc.array(
  fc.record({
    thing: fc.constantFrom(...THINGS),
    form: fc.nat({ max: 2 }),
  }),
  { maxLength: 8 },
);

test("adding and striking in turn leaves what a set would have, in the order in which it was told", () => {
  fc.assert(
    fc.property(things, steps, (first, changes) => {
      const turns = [`I need ${spoken(first)}.`];
      let expected = [...first];
      for (const { thing, form } of changes) {
        if (expected.includes(thing)) {
          turns.push(
            [`Scrap the ${thing}.`, `I've got ${thing} already.`, `Take the ${thing} off.`][form] ?? "",
          );
          expected = expected.filter((one) => one !== thing);
        } else {
          turns.push(
            [`Add ${thing}.`, `Oh, and add some ${thing}, please.`, `Put ${thing} on the list.`][form] ?? "",
          );
          expected.push(thing);
        }
      }
      assert.deepEqual(listOf(turns), expected);
    }),
  );
});

test("what is said as a list is heard as the same list", () => {
  fc.assert(fc.property(things, (items) => assert.deepEqual(itemsOf(spoken(items)), items)));
});

test("adding what is there already changes nothing, and talk between does not either", () => {
  fc.assert(
    fc.property(things, (items) => {
      const turns = [`I need ${spoken(items)}.`, "My sister is a pilot.", `Add ${items[0]}.`, "Thank you!"];
      assert.deepEqual(listOf(turns), items);
    }),
  );
});

test("a change that is not understood leaves no list", () => {
  for (const change of [
    "Scrap the caviar.",
    "Make that three.",
    "I don't want the milk.",
    "Two teas instead.",
  ])
    assert.equal(listOf(["I need milk and tea.", change]), null, change);
});
