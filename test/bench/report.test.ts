import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { asText, type Report, withReport } from "../../bench/report.ts";
import { ROWS } from "../../bench/rows.ts";
import { PERFORMANCE } from "../../bench/top.ts";

const REPORT: Report = {
  machine: "An abacus, 2 cores",
  date: "2026-01-31",
  lines: [
    { what: "beads", goal: "≤ 2", measured: "1 | 2", isMet: true },
    { what: "rods", goal: "≥ 9", measured: "8", isMet: false },
    { what: "frame", goal: "oak", measured: "no saw", isMet: null },
  ],
};

test("a report replaces only the text between its marks", () => {
  const once = withReport("Before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n", REPORT);
  assert.equal(
    once,
    "Before\n<!-- bench:begin -->\n2026-01-31, An abacus, 2 cores.\n\n| what | goal | measured | met |\n| --- | --- | --- | --- |\n" +
      "| beads | ≤ 2 | 1 \\| 2 | yes |\n| rods | ≥ 9 | 8 | no |\n| frame | oak | no saw | not measured |\n<!-- bench:end -->\nafter\n",
  );
  assert.equal(withReport(once, REPORT), once);
});

test("a document without the marks is unchanged", () => {
  assert.throws(() => withReport("<!-- bench:begin -->", REPORT), /bench:end/);
});

test("a terminal gets every line, with its verdict", () => {
  assert.match(asText(REPORT), /rods +≥ 9 +8 +no/);
});

test("every row is explained in docs/performance.md", async () => {
  const document = await readFile(PERFORMANCE, "utf8");
  assert.equal(new Set(ROWS.map(({ id }) => id)).size, ROWS.length);
  assert.deepEqual(
    ROWS.map(({ id }) => id).filter((id) => !document.includes(`\`${id}\``)),
    [],
  );
  assert.ok(withReport(document, REPORT).includes("An abacus"));
});
