import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { membersOf, objectsIn } from "../../../src/writers/llama/json-slices.ts";
import fc from "../../properties.ts";

const object = fc.dictionary(fc.string(), fc.jsonValue());
/** JSON as anybody writes it: with room in it, or without. */
const json = fc
  .tuple(object, fc.constantFrom(undefined, " ", "\t", 2))
  .map(([value, space]) => JSON.stringify(value, null, space));

describe("slices of JSON", () => {
  it("are the objects of a text, whatever stands between them", () => {
    const between = fc.constantFrom("", "\n", ", ", "[", "]", "```json\n", " and ");
    fc.assert(
      fc.property(fc.array(fc.tuple(between, json), { maxLength: 5 }), between, (parts, last) => {
        const text = parts.flat().join("") + last;
        assert.deepEqual(
          objectsIn(text),
          parts.map(([, each]) => each),
        );
      }),
    );
  });

  it("are the members of an object, of which the last of a name counts", () => {
    fc.assert(
      fc.property(json, (text) => {
        const members = [...membersOf(text)].map(([name, value]) => [name, JSON.parse(value)] as const);
        assert.deepEqual(new Map(members), new Map(Object.entries(JSON.parse(text))));
      }),
    );
    assert.deepEqual([...membersOf('{"a": 1,"\\u0061":9999999999999999}')], [["a", "9999999999999999"]]);
    assert.deepEqual([...membersOf("{ }")], []);
  });

  it("come of any text at all, in time", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "[", '"', "\\", "a", " ") }), (text) => {
        for (const each of objectsIn(text)) assert.ok(each.startsWith("{") && text.includes(each));
      }),
    );
    assert.deepEqual(objectsIn("{".repeat(1_000_000)), []);
    assert.deepEqual(objectsIn(`{${'"'.repeat(999_999)}`), []);
  });
});
