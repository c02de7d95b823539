import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createSemaphores, serverLimits } from "../../src/limits/server-limits.ts";
import { SPEAKING } from "../../src/limits/utterance-slots.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { TOP } from "../architecture/top.ts";

const settings = loadSettings();

test("docs/errors.md lists the queue names of all limits", () => {
  const page = readFileSync(join(TOP, "docs/errors.md"), "utf8");
  const names = [
    SPEAKING,
    ...Object.values(createSemaphores(serverLimits(settings).shared)).map(({ what }) => what),
  ];
  assert.deepEqual(
    names.filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});

test("a key's limit is at most the total", () => {
  const { speaking, shared } = serverLimits({
    ...settings,
    keyConcurrency: 10_000,
    concurrency: 3,
    keyReplyBudgetMb: 900,
  });
  assert.equal(speaking.keyConcurrency, 3);
  for (const { total, perKey, what } of Object.values(shared)) assert.ok(perKey <= total, what);
});

test("the largest body always fits the receiving budget", () => {
  const { receiving } = serverLimits({ ...settings, receivingBudgetMb: 1, keyReceivingBudgetMb: 1 }).shared;
  assert.equal(receiving.perKey, settings.bodyLimitBytes);
});
