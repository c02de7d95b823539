import assert from "node:assert/strict";
import { parseScript, ScriptError, speakerKey } from "../../src/core/dialogue/parse-script.ts";
import { bentBytes } from "./bent-bytes.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Fuzzes scripts: lines in order, with the words as written and a known speaker, or an error that names a line. */
export const scriptFuzz: Fuzzer = {
  run: async (random) => check(make(random)),
  make,
  check,
  async close() {},
};

const PARTS = [
  ..."Anna: |Ben: |anna:|Dr. Who: |constructor: |李雷：|\u200fשרה: |Note: |He said: |**Anna:** |Ben (sad): |[voice:0] ".split(
    "|",
  ),
  ..."Hello.|Yes: no.|10:30|(555)|(laughs)|[Exit]|[pause:1s]|# One|---|* * *|1. First|🎉|\ud800|: |::|(|[|*".split(
    "|",
  ),
  ..."\n|\n\n|\r\n|\t| |\u2028".split("|"),
];

function make(random: Random): Uint8Array {
  const count = Math.floor(random() ** 3 * 3_000);
  const parts = Array.from({ length: count }, () => PARTS[Math.floor(random() * PARTS.length)]!);
  const text = Buffer.from(parts.join(random() < 0.5 ? "" : "\n"));
  return random() < 0.7 ? text : bentBytes(text, text, random);
}

async function check(input: Uint8Array): Promise<void> {
  const script = new TextDecoder().decode(input);
  try {
    const { lines, speakers } = parseScript(script, ["Ben"]);
    const keys = speakers.map(speakerKey);
    assert.equal(new Set(keys).size, keys.length, "a speaker is listed twice");
    let end = 0;
    for (const { from, text, speaker, number } of lines) {
      assert.ok(from >= end && text.trim() === text && text !== "");
      assert.equal(script.slice(from, from + text.length), text);
      assert.ok(speakers.includes(speaker));
      assert.ok(number >= script.slice(0, end).split("\n").length);
      end = from + text.length;
    }
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    assert.match(error.message, /^line \d+: /);
  }
}
