import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { parseVoice } from "../../src/contract/voices.ts";
import { TOP } from "../architecture/top.ts";
import fc from "../properties.ts";

interface Mix {
  mixWord(first: string, second: string, percent: number): string;
}

const { mixWord }: Mix = await import(pathToFileURL(join(TOP, "playground/mix.js")).href);

test("a mix is a word that the server parses to the same shares", () => {
  const name = fc.stringMatching(/^[a-z][a-z_]{0,20}$/);
  fc.assert(
    fc.property(name, name, fc.integer({ min: 1, max: 99 }), (first, second, percent) => {
      fc.pre(first !== second);
      assert.deepEqual(parseVoice(mixWord(first, second, percent), "voice"), [
        { name: first, weight: 100 - percent },
        { name: second, weight: percent },
      ]);
    }),
  );
});

test("a mix with one share, or of one voice, is that voice", () => {
  assert.equal(mixWord("nova", "onyx", 0), "nova");
  assert.equal(mixWord("nova", "onyx", 100), "onyx");
  assert.equal(mixWord("nova", "", 50), "nova");
  assert.equal(mixWord("nova", "nova", 50), "nova");
});
