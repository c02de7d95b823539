import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeeperThan } from "../../src/wyoming/event-parser.ts";
import fc from "../properties.ts";

/** How deep a value is, read from the value. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("is known of any JSON without its being parsed, whatever its strings hold", () => {
  const text = fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", "é", "a") });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 8 }, text, fc.array(tie("value")), fc.dictionary(text, tie("value"))),
  }));
  fc.assert(
    fc.property(value, (made) => {
      const json = Buffer.from(JSON.stringify(made));
      const depth = depthOf(JSON.parse(json.toString()));
      assert.equal(isDeeperThan(depth, json), false);
      if (depth > 0) assert.equal(isDeeperThan(depth - 1, json), true);
    }),
  );
});
