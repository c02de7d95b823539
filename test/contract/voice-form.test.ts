import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { nameProblem, readVoiceForm } from "../../src/contract/voice-form.ts";

const FIELDS = { name: "Anna", consent: "She agrees." };
const read = (fields: Readonly<Record<string, string | undefined>>) =>
  readVoiceForm(
    Object.entries({ ...FIELDS, ...fields }).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value }],
    ),
  );

describe("the form of a new voice", () => {
  it("has a name and a consent, may have words and a description, and what others send is passed over", () => {
    assert.deepEqual(read({}), { ...FIELDS, refText: null, description: "" });
    const all = { ref_text: " Words. ", description: "Low.", model: "tts-1", speaker_embedding: "[]" };
    assert.deepEqual(read(all), { ...FIELDS, refText: "Words.", description: "Low." });
    assert.equal(read({ speaker_description: "As vLLM-Omni's clients call it." }).description.length, 31);
  });

  const wrong: readonly [string, Readonly<Record<string, string | undefined>>, number, string, RegExp][] = [
    ["no name", { name: undefined }, 422, "name", /^name is missing: send what the voice is to be called$/],
    ["an empty name", { name: " " }, 400, "name", /^name is empty/],
    ["a name with slashes", { name: "../anna" }, 400, "name", /^name "\.\.\/anna" must have none of/],
    ["a name of dots", { name: ".." }, 400, "name", /more than dots/],
    ["a name like a mix", { name: "nova+anna" }, 400, "name", /must have none of/],
    ["a name like an id", { name: "voice_anna" }, 400, "name", /^name "voice_anna" begins as ids do/],
    [
      "a name with a line break",
      { name: "An\nna" },
      400,
      "name",
      /^name "An\\nna" has characters that cannot be seen/,
    ],
    ["a name that turns the text around", { name: "An\u202ena" }, 400, "name", /cannot be seen/],
    ["a name of a letter that is blank", { name: "\u3164" }, 400, "name", /cannot be seen: leave them out$/],
    ["a name of empty braille", { name: "\u2800\u2800" }, 400, "name", /cannot be seen: leave them out$/],
    ["a name that ends in what is blank", { name: "Anna\u115f" }, 400, "name", /cannot be seen/],
    [
      "a name of variation selectors",
      { name: "\ufe0f" },
      400,
      "name",
      /has nothing that can be seen: give it/,
    ],
    ["a long name", { name: "x".repeat(65) }, 400, "name", /has 65 characters, and at most 64/],
    ["no consent", { consent: undefined }, 422, "consent", /^consent is missing: send a statement/],
    ["an empty consent", { consent: "\t" }, 400, "consent", /^consent is empty/],
    ["a consent that is none", { consent: "False" }, 400, "consent", /^consent says no/],
    ["a long consent", { consent: "y".repeat(2_001) }, 400, "consent", /at most 2000/],
    ["long words", { ref_text: "w".repeat(2_001) }, 400, "ref_text", /at most 2000/],
    ["a long description", { description: "d".repeat(501) }, 400, "description", /at most 500/],
  ];
  for (const [what, fields, status, param, message] of wrong) {
    it(`is refused with ${what}`, () => {
      assert.throws(
        () => read(fields),
        (error) => {
          assert.ok(error instanceof ServiceError);
          assert.deepEqual([error.status, error.param], [status, param]);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it("is refused with a field twice", () => {
    const twice = [FIELDS, FIELDS].flatMap((fields) =>
      Object.entries(fields).map(([name, value]) => ({ name, value })),
    );
    assert.throws(() => readVoiceForm(twice), /name is there more than once/);
  });

  it("has no name that only looks like one, whatever character it is made of", () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      const letter = String.fromCodePoint(code);
      const isUnseen = /[\p{Z}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}]/u.test(letter);
      if (isUnseen) assert.notEqual(nameProblem(letter.trim()), null, code.toString(16));
    }
    for (const blank of ["\u2800", "\u{13441}", "\u{13442}", "\u{16fe4}", "\u{1d159}"])
      assert.notEqual(nameProblem(blank), null, blank);
  });

  it("may have a name in any script", () => {
    // With a selector of the form of what goes before it, as names and signs are written.
    for (const name of ["葛\u{e0100}城", "❤\ufe0f"]) assert.equal(nameProblem(name), null, name);
    for (const name of ["Анна", "アンナ", "Anna Ω 𝄞", "d'Artagnan", "a.b-c_d", "0x"]) {
      assert.equal(nameProblem(name), null, name);
    }
  });
});
