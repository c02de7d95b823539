import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { nameProblem, readVoiceForm } from "../../src/contract/voice-form.ts";
import { parseVoice } from "../../src/contract/voices.ts";
import fc from "../properties.ts";

const read = (word: string) => parseVoice(word, "voice");

function throwsServiceError(action: () => unknown, status: number, param: string, message: RegExp): void {
  assert.throws(action, (error) => {
    assert.ok(error instanceof ServiceError);
    assert.deepEqual([error.status, error.param], [status, param]);
    assert.match(error.message, message);
    assert.ok(error.message.length < 300);
    return true;
  });
}

describe("parseVoice", () => {
  it("reads a name with spaces around it, or a mix with weights", () => {
    for (const [word, ...parts] of [
      [" af heart ", ["af heart", 1]],
      ["nova(2)+onyx(1)", ["nova", 2], ["onyx", 1]],
      [" nova ( 0.5 ) + Anna ", ["nova", 0.5], ["Anna", 1]],
      ["nova(.25)", ["nova", 0.25]],
      ["", ["", 1]],
    ] as const)
      assert.deepEqual(
        read(word).map(({ name, weight }) => [name, weight]),
        parts,
      );
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
  for (const [word, why] of wrong)
    it(`rejects ${JSON.stringify(word.slice(0, 24))}`, () => {
      throwsServiceError(() => read(word), 400, "voice", why);
    });

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

  type Fields = Readonly<Record<string, string | undefined>>;
  const names: readonly [what: string, name: string, message: RegExp][] = [
    ["an empty name", " ", /^name is empty/],
    ["a name with slashes", "../anna", /^name "\.\.\/anna" must have none of/],
    ["a name of dots", "..", /more than dots/],
    ["a name like a mix", "nova+anna", /must have none of/],
    ["a name like an id", "voice_anna", /^name "voice_anna" begins as ids do/],
    ["a name with a line break", "An\nna", /^name "An\\nna" has characters that cannot be seen/],
    ["a name that reverses the text", "An\u202ena", /cannot be seen/],
    ["a name of a blank letter", "\u3164", /cannot be seen: leave them out$/],
    ["a name of empty braille", "\u2800\u2800", /cannot be seen: leave them out$/],
    ["a name that ends in a blank letter", "Anna\u115f", /cannot be seen/],
    ["a name of variation selectors", "\ufe0f", /has nothing that can be seen: give it/],
    ["a long name", "x".repeat(65), /has 65 characters, and at most 64/],
  ];
  const others: readonly [what: string, fields: Fields, status: number, message: RegExp][] = [
    ["no name", { name: undefined }, 422, /^name is missing: send what the voice is to be called$/],
    ["no consent", { consent: undefined }, 422, /^consent is missing: send a statement/],
    ["an empty consent", { consent: "\t" }, 400, /^consent is empty/],
    ["a refused consent", { consent: "False" }, 400, /^consent says no/],
    ["a long consent", { consent: "y".repeat(2_001) }, 400, /at most 2000/],
    ["a long ref_text", { ref_text: "w".repeat(2_001) }, 400, /at most 2000/],
    ["a long description", { description: "d".repeat(501) }, 400, /at most 500/],
  ];
  const cases = [...names.map(([what, name, message]) => [what, { name }, 400, message] as const), ...others];
  for (const [what, fields, status, message] of cases)
    it(`rejects ${what}`, () => {
      throwsServiceError(() => readForm(fields), status, Object.keys(fields)[0]!, message);
    });

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
    // With the variation selectors of real names and signs.
    for (const name of [
      "葛\u{e0100}城",
      "❤\ufe0f",
      "Анна",
      "アンナ",
      "Anna Ω 𝄞",
      "d'Artagnan",
      "a.b-c_d",
      "0x",
    ])
      assert.equal(nameProblem(name), null, name);
  });
});
