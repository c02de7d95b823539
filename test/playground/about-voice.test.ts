import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { TOP } from "../architecture/top.ts";

interface About {
  aboutVoice(voice: { description: string; sex: string | null; seconds?: number }): string;
  otherNames(voice: { name: string; aliases: readonly string[] }): string;
  cautionsOf(voice: { cautions?: readonly string[] }): string[];
}

const { aboutVoice, otherNames, cautionsOf }: About = await import(
  pathToFileURL(join(TOP, "playground/about-voice.js")).href
);

test("describes a voice's sex once, and a recording without a description by its length", () => {
  assert.equal(aboutVoice({ description: "A woman's voice.", sex: "female" }), "A woman's voice.");
  assert.equal(aboutVoice({ description: "Deep and calm.", sex: "male" }), "A man. Deep and calm.");
  assert.equal(
    aboutVoice({ description: "", sex: null, seconds: 8.25 }),
    "Your voice, from a recording of 8.3 s.",
  );
  assert.equal(otherNames({ name: "Speaker 0", aliases: ["alloy", "nova"] }), "Other names: alloy, nova");
  assert.equal(otherNames({ name: "Alloy", aliases: ["alloy"] }), "");
});

test("has a sentence for each known caution and shows unknown ones as they are", () => {
  const known = ["short", "noise", "clipping", "not one voice", "unlike speech", "narrow band", "long"];
  const sentences = cautionsOf({ cautions: known });
  assert.equal(new Set(sentences).size, known.length);
  for (const sentence of sentences) assert.match(sentence, /^[A-Z].{20,}\.$/);
  assert.deepEqual(cautionsOf({ cautions: ["toString"] }), ["toString."]);
  assert.deepEqual(cautionsOf({}), []);
});
