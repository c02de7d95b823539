import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { readVoice } from "../../src/contract/voice-word.ts";
import { TOP } from "../architecture/top.ts";
import fc from "../properties.ts";

interface Mix {
  mixWord(first: string, second: string, percent: number): string;
}
interface About {
  aboutVoice(voice: { description: string; sex: string | null; seconds?: number }): string;
  otherNames(voice: { name: string; aliases: readonly string[] }): string;
  cautionsOf(voice: { cautions?: readonly string[] }): string[];
}

const load = (name: string) => import(pathToFileURL(join(TOP, "playground", name)).href);
const { mixWord }: Mix = await load("mix.js");
const { aboutVoice, otherNames, cautionsOf }: About = await load("about-voice.js");

test("a mix is a word that the server reads, with the shares that the slider has", () => {
  const name = fc.stringMatching(/^[a-z][a-z_]{0,20}$/);
  fc.assert(
    fc.property(name, name, fc.integer({ min: 1, max: 99 }), (first, second, percent) => {
      fc.pre(first !== second);
      assert.deepEqual(readVoice(mixWord(first, second, percent), "voice"), [
        { name: first, weight: 100 - percent },
        { name: second, weight: percent },
      ]);
    }),
  );
});

test("where one of two voices has no share, or there is one alone, the word is that of the other", () => {
  assert.equal(mixWord("nova", "onyx", 0), "nova");
  assert.equal(mixWord("nova", "onyx", 100), "onyx");
  assert.equal(mixWord("nova", "", 50), "nova");
  assert.equal(mixWord("nova", "nova", 50), "nova");
});

test("what is said of a voice tells its sex once, and of a recording without a description how long it is", () => {
  assert.equal(aboutVoice({ description: "A woman's voice.", sex: "female" }), "A woman's voice.");
  assert.equal(aboutVoice({ description: "Deep and calm.", sex: "male" }), "A man. Deep and calm.");
  assert.equal(aboutVoice({ description: "", sex: null, seconds: 8.25 }), "By a recording of 8.3 s.");
  assert.equal(otherNames({ name: "Speaker 0", aliases: ["alloy", "nova"] }), "Also called alloy, nova");
  assert.equal(otherNames({ name: "Alloy", aliases: ["alloy"] }), "");
});

test("each caution that a recording may get has a sentence of its own, and one that is new is told as it is", () => {
  const known = ["short", "noise", "clipping", "not one voice", "unlike speech", "narrow band", "long"];
  const sentences = cautionsOf({ cautions: known });
  assert.equal(new Set(sentences).size, known.length);
  for (const sentence of sentences) assert.match(sentence, /^[A-Z].{20,}\.$/);
  assert.deepEqual(cautionsOf({ cautions: ["toString"] }), ["toString."]);
  assert.deepEqual(cautionsOf({}), []);
});
