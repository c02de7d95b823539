import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dialogueScripts, soundsOfLines } from "../../bench/judged-script.ts";
import { parseScript } from "../../src/core/dialogue/parse-script.ts";

describe("soundsOfLines", () => {
  test("finds a line's first sound and the silence before it, not the closure within a word", () => {
    const samples = new Int16Array(24_000);
    for (const [fromS, toS] of [
      [0.02, 0.1],
      [0.2, 0.4],
      [0.7, 0.9],
    ] as const)
      samples.fill(8_000, fromS * 24_000, toS * 24_000);
    const word = (line: number, start: number, end: number) => ({
      ...{ word: "x", offset: 0, length: 1, line, start, end },
    });
    const started = { type: "dialogue.started", speakers: [], lines: [] } as const;
    const words = [word(0, 0.02, 0.4), word(1, 0.69, 0.9)];
    const [first, second, third] = soundsOfLines({ started, samples, words }, 3);
    assert.deepEqual(
      [first!.firstSoundS, second!.firstSoundS, second!.gapS].map((value) => value.toFixed(2)),
      ["0.02", "0.70", "0.30"],
    );
    assert.equal(third, null);
  });
});

describe("bench/dialogues.jsonl", () => {
  test("has 30 scripts with the right speakers, or a refusal", async () => {
    const scripts = await dialogueScripts();
    assert.equal(scripts.length, 30);
    for (const { name, script, voices = {}, times = 1, lines, refused } of scripts) {
      if (script === undefined || refused !== undefined) continue;
      const read = parseScript(script.repeat(times), Object.keys(voices));
      const right = Array.from({ length: times }, () => lines!).flat();
      assert.deepEqual(
        read.lines.map(({ speaker }) => speaker),
        right.map(([speaker]) => speaker),
        name,
      );
    }
  });
});
