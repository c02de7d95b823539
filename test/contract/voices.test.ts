import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { nameProblem, readVoiceForm } from "../../src/contract/voice-form.ts";
import { parseVoice } from "../../src/contract/voices.ts";
import fc from "../properties.ts";

const read = (word: string) => parseVoice(word, "voice");

describe("parseVoice", () => {
  it("reads a name with spaces around it, or a mix with weights", () => {
    assert.deepEqual(read(" af heart "), [{ name: "af heart", weight: 1 }]);
    assert.deepEqual(read("nova(2)+onyx(1)"), [
      { name: "nova", weight: 2 },
      { name: "onyx", weight: 1 },
    ]);
    assert.deepEqual(read(" nova ( 0.5 ) + Anna "), [
      { name: "nova", weight: 0.5 },
      { name: "Anna", weight: 1 },
    ]);
    assert.deepEqual(read("nova(.25)"), [{ name: "nova", weight: 0.25 }]);
    assert.deepEqual(read(""), [{ name: "", weight: 1 }]);
  });

  const wrong: readonly [word: string, why: RegExp][] = [
    ["+", /^voice "\+" has a part without a name: write a mix as in nova\(2\)\+onyx\(1\)$/],
    ["nova+", /has a part without a name/],
    ["(2)", /has a part without a name/],
    ["nova(2", /cannot be read: write a mix/],
    ["nova)2(", /cannot be read/],
    ["nova(1)(2)", /cannot be read/],
    ["nova(1)x+onyx", /cannot be read/],
    ["nova(-1)+onyx", /^voice has the weight "-1": a weight is a number from 0.001 to 1000$/],
    ["nova(0)+onyx", /has the weight "0"/],
    ["nova()+onyx", /has the weight ""/],
    ["nova(NaN)+onyx", /has the weight "NaN"/],
    ["nova(1e3)+onyx", /has the weight "1e3"/],
    ["nova(1001)+onyx", /has the weight "1001"/],
    [`nova(${"9".repeat(400)})`, /has the weight/],
    ["a+b+c+d+e+f+g+h+i", /^voice mixes 9 voices, and at most 8 can be: name fewer$/],
    ["x".repeat(1_001), /^voice has 1001 characters, and at most 1000 are allowed$/],
  ];
  for (const [word, why] of wrong) {
    it(`rejects ${JSON.stringify(word.slice(0, 24))}`, () => {
      assert.throws(
        () => read(word),
        (error) => {
          assert.ok(error instanceof ServiceError);
          assert.deepEqual([error.status, error.param], [400, "voice"]);
          assert.match(error.message, why);
          assert.ok(error.message.length < 300);
          return true;
        },
      );
    });
  }

  it("reads or rejects any text, and what it reads has a name and a positive weight", () => {
    const piece = fc.constantFrom("nova", "+", "(", ")", "2", "0", "-", ".", " ", "ü", "\u0000", "\ud800");
    const word = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(word, (text) => {
        try {
          const parts = read(text);
          assert.ok(parts.length >= 1 && parts.length <= 8);
          for (const { name, weight } of parts) {
            assert.ok(weight > 0 && weight <= 1_000);
            assert.ok(name !== "" || parts.length === 1);
            assert.equal(name, name.trim());
          }
        } catch (error) {
          assert.ok(error instanceof ServiceError, String(error));
        }
      }),
    );
  });
});

const FIELDS = { name: "Anna", consent: "She agrees." };
const readForm = (fields: Readonly<Record<string, string | undefined>>) =>
  readVoiceForm(
    Object.entries({ ...FIELDS, ...fields }).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value }],
    ),
  );

describe("readVoiceForm", () => {
  it("reads name, consent, ref_text and description, and ignores other fields", () => {
    assert.deepEqual(readForm({}), { ...FIELDS, refText: null, description: "" });
    const all = { ref_text: " Words. ", description: "Low.", model: "tts-1", speaker_embedding: "[]" };
    assert.deepEqual(readForm(all), { ...FIELDS, refText: "Words.", description: "Low." });
    assert.equal(readForm({ speaker_description: "As vLLM-Omni's clients call it." }).description.length, 31);
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
    it(`rejects ${what}`, () => {
      assert.throws(
        () => readForm(fields),
        (error) => {
          assert.ok(error instanceof ServiceError);
          assert.deepEqual([error.status, error.param], [status, param]);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it("rejects a duplicate field", () => {
    const twice = [FIELDS, FIELDS].flatMap((fields) =>
      Object.entries(fields).map(([name, value]) => ({ name, value })),
    );
    assert.throws(() => readVoiceForm(twice), /name is there more than once/);
  });

  it("rejects names of invisible characters alone", () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      const letter = String.fromCodePoint(code);
      const isUnseen = /[\p{Z}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}]/u.test(letter);
      if (isUnseen) assert.notEqual(nameProblem(letter.trim()), null, code.toString(16));
    }
    for (const blank of ["\u2800", "\u{13441}", "\u{13442}", "\u{16fe4}", "\u{1d159}"])
      assert.notEqual(nameProblem(blank), null, blank);
  });

  it("takes a name in any script", () => {
    // With a selector of the form of what goes before it, as names and signs are written.
    for (const name of ["葛\u{e0100}城", "❤\ufe0f"]) assert.equal(nameProblem(name), null, name);
    for (const name of ["Анна", "アンナ", "Anna Ω 𝄞", "d'Artagnan", "a.b-c_d", "0x"]) {
      assert.equal(nameProblem(name), null, name);
    }
  });
});
