import assert from "node:assert/strict";
import { test } from "node:test";
import { heardIn } from "../../../../src/writers/heard/said-before.ts";
import { NEVER_TOLD, remembered } from "../../../../src/writers/replies/memory/remembered.ts";

import { byTurns } from "../../dialogues.ts";
import { ASKED_OTHERWISE, NEVER, WRITTEN_AFTER, WRITTEN_FIRST } from "./conversations.ts";

function reply(turns: readonly string[], chance = 0): string | null {
  const history = byTurns(turns);
  return remembered(history, "1", { heard: heardIn(history, "1"), chance });
}

for (const [...row] of [...WRITTEN_FIRST, ...WRITTEN_AFTER, ...ASKED_OTHERWISE]) {
  const expected = row.pop() as (typeof WRITTEN_FIRST)[number][1];
  const turns = row as string[];
  test(`${turns.join(" / ")} → ${String(expected)}`, () => {
    const text = reply(turns);
    if (expected === NEVER) assert.ok(NEVER_TOLD.includes(text ?? ""), String(text));
    else assert.equal(text, expected);
  });
}
