import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asText, mergeRun, type Performance, type Report } from "../../bench/report.ts";
import { ROWS } from "../../bench/rows.ts";
import { PERFORMANCE, TOP } from "../../bench/top.ts";

const bead = { id: "beads", what: "beads", goal: "≤ 2", measured: "1" };
const rod = { id: "rods", what: "rods", goal: "≥ 9", measured: "8" };
const lines = [bead, rod].map((line) => ({ ...line, isMet: line === bead ? true : null }));
const report: Report = { machine: "abacus", date: "2026-01-31", lines };

test("a run replaces only the rows that it measured, and a partial run dates them", () => {
  const rows = [bead, rod].map((row) => ({ ...row, measured: "3", met: false }));
  const earlier: Performance = { date: "2025-12-31", machine: "abacus", rows, figures: {} };
  const measured = { ...bead, met: true };
  assert.deepEqual(mergeRun(earlier, report, false).rows, [{ ...measured, date: report.date }, rows[1]]);
  const whole = mergeRun(earlier, report, true);
  assert.deepEqual([whole.date, ...whole.rows], [report.date, measured, { ...rows[1], date: earlier.date }]);
});

test("a terminal gets every line, with its verdict", () => {
  assert.match(asText(report), /beads +≤ 2 +1 +yes\nrods +≥ 9 +8 +not measured/);
});

const { figures, ...kept } = JSON.parse(readFileSync(PERFORMANCE, "utf8")) as Performance;

test("docs/performance.json has a result for each id, and its figures quote them", () => {
  const rows = new Map(kept.rows.map((row) => [row.id, row]));
  assert.deepEqual([rows.size, new Set(ROWS.map(({ id }) => id)).size], [kept.rows.length, ROWS.length]);
  for (const row of kept.rows) {
    assert.match(row.date ?? kept.date, /^\d{4}-\d\d-\d\d$/);
    assert.ok(row.what !== "" && row.goal !== "" && row.measured !== "" && row.met !== undefined, row.id);
  }
  for (const [key, { row, measured }] of Object.entries(figures))
    assert.ok(rows.get(row)?.measured.includes(measured), `${key}: "${measured}" is not in ${row}`);
});

for (const page of ["README.md", ...readdirSync(join(TOP, "docs")).map((name) => `docs/${name}`)]) {
  if (!page.endsWith(".md")) continue;
  test(`${page} states the figures of docs/performance.json`, () => {
    const marked = readFileSync(join(TOP, page), "utf8").split(/<!-- figure: ([\w-]+) -->/);
    for (let at = 1; at < marked.length; at += 2)
      assert.ok(marked[at - 1]!.replace(/\s+/g, " ").endsWith(figures[marked[at]!]?.text ?? "?"), marked[at]);
  });
}
