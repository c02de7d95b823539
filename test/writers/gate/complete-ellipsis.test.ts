import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { completeEllipsis } from "../../../src/writers/gate/complete-ellipsis.ts";
import { byTurns } from "../dialogues.ts";
import { readGolden } from "../golden.ts";

/** Turns of a user and the assistant, and the last turn completed, or `null` where it is complete. */
const { ellipses } = readGolden<{ ellipses: (readonly [string[], string | null])[] }>("gate.json");

describe("completeEllipsis", () => {
  for (const [turns, completed] of ellipses)
    it(`makes ${JSON.stringify(completed)} of ${turns.join(" / ")}`, () => {
      assert.equal(completeEllipsis(byTurns(turns), "1")[0] ?? null, completed);
    });
});
