import assert from "node:assert/strict";
import { test } from "node:test";
import { GATE_CATEGORIES } from "../../../src/writers/gate/gate-head.ts";
import { GATE_REPLIES, gateReply } from "../../../src/writers/gate/gate-replies.ts";
import fc from "../../properties.ts";

const wordings = GATE_CATEGORIES.flatMap((category) =>
  GATE_REPLIES[category].map((sentences) => ({ category, sentences, text: sentences.join(" ") })),
);

for (const category of GATE_CATEGORIES) {
  test(`${category} has two or three wordings of its own`, () => {
    const own = GATE_REPLIES[category].map((sentences) => sentences.join(" "));
    assert.ok(own.length === 2 || own.length === 3);
    assert.equal(new Set(own).size, own.length);
    const others = wordings.filter((wording) => wording.category !== category).map(({ text }) => text);
    assert.deepEqual(
      own.filter((text) => others.includes(text)),
      [],
    );
  });
}

test("a fixed reply can be spoken: whole, short sentences without digits, signs or anything to click", () => {
  for (const { sentences, text } of wordings) {
    assert.match(text, /^[A-Za-z ,.?']+$/, text);
    for (const sentence of sentences) {
      assert.match(sentence, /^[A-Z][^.?]*[.?]$/, sentence);
      assert.ok(sentence.split(" ").length <= 32, sentence);
    }
    assert.ok(text.split(" ").length <= 64, text);
  }
});

test("no number is spelt out either, and nobody pretends to be a person or speaks of being a model", () => {
  for (const { text } of wordings) {
    assert.doesNotMatch(
      text,
      /\b(zero|one|two|three|four|five|six|seven|eight|nine|ten|nine one one|as an ai|language model)\b(?! of)/i,
      text,
    );
  }
});

test("whoever may be in danger is pointed to help", () => {
  for (const { category, text } of wordings) {
    if (category === "self-harm" || category === "victim") {
      assert.match(text, /emergency number/, text);
      assert.match(text, /crisis line|helpline|people whose work/, text);
      assert.match(text, /someone|somebody|person you trust/, text);
    }
    if (category === "medical") assert.match(text, /Call your local emergency number|call your local/, text);
    if (category === "dosing") assert.match(text, /pharmacist/, text);
    if (category === "minors") assert.match(text, /^No\b/, text);
  }
});

test("the same lines always get the same wording, and every wording comes up", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...GATE_CATEGORIES),
      fc.array(fc.string({ unit: "binary" })),
      (category, lines) => {
        const reply = gateReply(category, lines);
        assert.ok(GATE_REPLIES[category].includes(reply));
        assert.deepEqual(gateReply(category, lines), reply);
      },
    ),
  );
  for (const category of GATE_CATEGORIES) {
    const met = new Set(Array.from({ length: 60 }, (_, i) => gateReply(category, [`line ${i}`])));
    assert.equal(met.size, GATE_REPLIES[category].length, category);
  }
});
