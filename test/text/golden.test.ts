import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Readings } from "../../src/text/differences.ts";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { TOP } from "../architecture/top.ts";
import { openNet, tables } from "./voice.ts";

interface Case {
  readonly text: string;
  readonly phonemes: readonly string[];
  readonly kind: string;
}

interface Score {
  lines: number;
  equal: number;
  phonemes: number;
  errors: number;
}

const CASES: readonly Case[] = readFileSync(join(TOP, "test/golden/text/cases.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Lines of the cases that are read otherwise by default, with how and why. */
const CHANGED: readonly { line: number; reason: string; phonemes: readonly string[] }[] = readFileSync(
  join(TOP, "test/golden/text/changed.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const { net, close } = await openNet();
after(close);

test("the reference readings equal the reference's own on every golden line", async (t) => {
  const { known, unknown } = await score("reference");
  t.diagnostic(`known words: ${written(known)}; unknown words and names: ${written(unknown)}`);
  assert.equal(known.lines + unknown.lines, 1507);
  assert.equal(known.equal, known.lines);
  assert.ok(unknown.equal >= 0.98 * unknown.lines, `unknown words and names: ${written(unknown)}`);
});

test("the default readings depart from the reference's only as changed.jsonl lists, each line with its reason", async () => {
  const phonemizer = createPhonemizer(tables, net);
  const listed = new Map(CHANGED.map(({ line, phonemes }) => [line, phonemes]));
  for (const [index, { text, phonemes }] of CASES.entries()) {
    const expected = listed.get(index + 1) ?? phonemes;
    assert.deepEqual(await phonemizer.phonemes(text), expected, `line ${index + 1}: ${text}`);
  }
  assert.deepEqual(
    CHANGED.filter(({ reason }) => reason === ""),
    [],
  );
});

async function score(readings: Readings): Promise<{ known: Score; unknown: Score }> {
  const phonemizer = createPhonemizer(tables, net, { readings });
  const known: Score = { lines: 0, equal: 0, phonemes: 0, errors: 0 };
  const unknown: Score = { ...known };
  for (const { text, phonemes, kind } of CASES) {
    const sum = kind === "oov" || kind === "name" ? unknown : known;
    const expected = phonemes.join("\n");
    const read = (await phonemizer.phonemes(text)).join("\n");
    sum.lines++;
    sum.phonemes += expected.length;
    if (read === expected) sum.equal++;
    else sum.errors += editDistance(expected, read);
  }
  return { known, unknown };
}

function written({ lines, equal, phonemes, errors }: Score): string {
  return `${equal} of ${lines} lines equal, phoneme error rate ${((100 * errors) / phonemes).toFixed(2)} %`;
}

/** Insertions, deletions and substitutions (Levenshtein 1966). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, above[j]! + 1, row[j - 1]! + 1));
    }
  }
  return row[b.length]!;
}
