import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type MarkedRun, spokenText, type TextPiece } from "../../../src/core/marked-text.ts";
import { inlinePhonemes, withoutPhonemes } from "../../../src/text/phonemes/given-phonemes.ts";
import { parseMarkup } from "../../../src/text/ssml/parse-markup.ts";
import { TOP } from "../../architecture/top.ts";

interface Row {
  readonly id: string;
  readonly text: string;
  readonly says?: string;
  readonly chars?: number;
  readonly phonemes?: readonly string[];
  readonly cautions?: readonly string[];
  readonly error?: string;
}

const ROWS = readFileSync(join(TOP, "test/golden/text/ssml/table.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

const VOICES = ["nova", "0", "1"];

function findVoice(names: readonly string[]): string {
  const name = names.find((each) => VOICES.includes(each));
  if (name !== undefined) return name;
  throw new Error(`there is no voice ${names[0]}`);
}

describe("the SSML table", () => {
  test("has a hundred spoken texts with unique ids", () => {
    assert.ok(ROWS.filter(({ error }) => error === undefined).length >= 100);
    assert.equal(new Set(ROWS.map(({ id }) => id)).size, ROWS.length);
  });

  for (const { id, text, says, chars, phonemes, cautions = [], error } of ROWS)
    test(id, () => {
      if (error !== undefined) {
        assert.throws(
          () => parseMarkup(text, null, findVoice),
          (thrown: Error) => thrown.message.includes(error),
        );
        return;
      }
      const read = parseMarkup(text, null, findVoice);
      assert.equal(shown(read.piece), says);
      if (chars !== undefined) assert.equal(read.spokenChars, chars);
      if (phonemes !== undefined)
        assert.deepEqual(
          inlinePhonemes(spokenText(read.piece)).map(({ written }) => written),
          phonemes,
        );
      assert.equal(read.cautions.length, cautions.length, read.cautions.join("; "));
      for (const [at, part] of cautions.entries())
        assert.ok(read.cautions[at]!.includes(part), read.cautions[at]);
    });
});

/** A piece on one line: `|seconds|` for a pause, `#name` for a mark, `¶` for a paragraph, braces for a manner. */
function shown(piece: TextPiece): string {
  const spoken = spokenText(piece);
  const { points, runs } = typeof piece === "string" ? { points: [], runs: [] } : piece;
  let line = "";
  let next = 0;
  let open: MarkedRun | null = null;
  for (let at = 0; at <= spoken.length; at++) {
    if (open !== null && open.to === at) {
      line += "}";
      open = null;
    }
    for (; points[next]?.at === at; next++) {
      const point = points[next]!;
      line += "pauseS" in point ? ` |${rounded(point.pauseS)}| ` : `#${point.mark}`;
      if ("mark" in point && / $|^$/.test(line.slice(0, line.lastIndexOf("#")))) line += " ";
    }
    const run: MarkedRun | undefined = runs.find(({ from }) => from === at);
    if (run !== undefined) {
      open = run;
      line += openingOf(run);
    }
    line += spoken[at] ?? "";
  }
  return tidy(line);
}

function openingOf({ manner, voice }: MarkedRun): string {
  const { rate, pitch, pitchHz, addedHz, gain } = manner;
  const said = [
    ...(voice === null ? [] : [`v${voice}`]),
    ...(rate === 1 ? [] : [`r${rounded(rate)}`]),
    ...(pitch === 1 ? [] : [`p${rounded(pitch)}`]),
    ...(pitchHz === null ? [] : [`h${pitchHz}`]),
    ...(addedHz === 0 ? [] : [`a${addedHz}`]),
    ...(gain === 1 ? [] : [`g${rounded(gain)}`]),
  ];
  return `{${said.join(" ")}: `;
}

function tidy(line: string): string {
  return withoutPhonemes(line)
    .replaceAll(/\{: ([^}]*)\}/g, "$1")
    .replaceAll(/\n\n(?= *\|)/g, " ")
    .replaceAll("\n\n", " ¶ ")
    .replaceAll(/ +\}/g, "} ")
    .replaceAll(/ +/g, " ")
    .trim();
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
