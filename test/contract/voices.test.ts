import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { parseVoice } from "../../src/contract/voices.ts";
import fc from "../properties.ts";

const read = (word: string) => parseVoice(word, "voice");

describe("a voice's word", () => {
  it("is a name, with any spaces around it, or several with their weights", () => {
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
    it(`is refused where it is ${JSON.stringify(word.slice(0, 24))}`, () => {
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

  it("is read or refused whatever it is, and what is read has a name, or stands alone, and a weight above 0", () => {
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
