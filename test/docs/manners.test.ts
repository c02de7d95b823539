import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TRAITS } from "../../src/serving/prepare/manner.ts";
import { TOP } from "../architecture/top.ts";

test("docs/voices.md has the figures of each manner", () => {
  const page = readFileSync(join(TOP, "docs", "voices.md"), "utf8");
  for (const [trait, [tempo, pitch, range, pause, levelDb]] of TRAITS) {
    const level = `${levelDb > 0 ? "+" : levelDb < 0 ? "−" : ""}${Math.abs(levelDb)}`;
    const row = [trait, tempo, pitch, range, pause, level].map((cell) =>
      cell === 1 || cell === "0" ? "" : cell,
    );
    const line = `|${row.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`;
    assert.ok(page.includes(`\n${line}\n`), line);
  }
});
