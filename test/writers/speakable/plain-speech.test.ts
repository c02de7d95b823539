import assert from "node:assert/strict";
import { test } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import { plainSpeech } from "../../../src/writers/speakable/plain-speech.ts";
import { speakableWriter } from "../../../src/writers/speakable/speakable.ts";
import fc from "../../properties.ts";
import { dialogueOf, never, partsOf, replyOf } from "../dialogues.ts";
import { ScriptedWriter } from "../scripted-writer.ts";

const CASES: Readonly<Record<string, readonly [string, string]>> = {
  "plain words stay": ["It's a lovely day, isn't it?", "It's a lovely day, isn't it?"],
  "stress marks go, their words stay": ["That is *really* **very** good.", "That is really very good."],
  "a starred action goes": ["*sighs* I was waiting for you.", "I was waiting for you."],
  "a starred action of several words goes": ["Fine. *looks away slowly* Go on.", "Fine. Go on."],
  "a direction in parentheses goes": ["(laughs softly) You got me.", "You got me."],
  "an aside in parentheses stays": [
    "It takes an hour (or two) to bake.",
    "It takes an hour (or two) to bake.",
  ],
  "a direction in brackets goes": ["[pause] Well, no.", "Well, no."],
  "a heading's mark goes": ["## Sure thing.", "Sure thing."],
  "a list's bullet goes": ["- Take a pan.", "Take a pan."],
  "a list's number stays": ["1. Take a pan.", "1. Take a pan."],
  "a number that begins a sentence stays": ["1066 was the year.", "1066 was the year."],
  "code marks go": ["Press `Enter` now.", "Press Enter now."],
  "pictures go": ["Well done \u{1f389}\u{1f44d}\u{1f3fd}!", "Well done!"],
  "a label goes": ["Assistant: Hello there.", "Hello there."],
  "a link keeps its words": ["See [the map](map.html) first.", "See the map first."],
  "an address stays": ["Go to https://example.org/x for more.", "Go to https://example.org/x for more."],
  "a domain stays": ["It is all on example.com today.", "It is all on example.com today."],
  "an e-mail address stays": ["Write to me@example.org.", "Write to me@example.org."],
  "a telephone number stays": ["Call them at 555-123-4567.", "Call them at 555-123-4567."],
  "a control character is no word": ["Well\u0000 done\u001b[31m.", "Well done [31m."],
  "half a character is no word": ["Well \ud83d done.", "Well done."],
  "a year stays": ["It was built in 1889.", "It was built in 1889."],
  "a large number stays": ["About 300,000 people live there.", "About 300,000 people live there."],
  "as an AI stays": ["As an AI language model, I like talking.", "As an AI language model, I like talking."],
  "to be a machine may be said": ["I'm a voice you can talk to.", "I'm a voice you can talk to."],
  "nothing but marks is nothing": ["*** -- ...", ""],
};

for (const [title, [given, spoken]] of Object.entries(CASES)) {
  test(title, () => assert.equal(plainSpeech(given), spoken));
}

test("whatever is written, what is left has no markup, no pictures and no double spaces", () => {
  const pieces = fc.constantFrom(
    "*",
    "**",
    "`",
    "# ",
    "[a](b)",
    "(sighs)",
    "<b>",
    "\u{1f600}",
    "_",
    "well ",
    "1. ",
    "As an AI, ",
    " .",
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(pieces, fc.string({ unit: "grapheme", maxLength: 8 })), { maxLength: 12 }),
      (parts) => {
        const written = parts.join("");
        const once = plainSpeech(written);
        assert.doesNotMatch(once, / {2}|(?![©®™\u2190-\u21ff])\p{Extended_Pictographic}|[\ue000-\uf8ff]/u);
        // Code is said as it is.
        if (!written.includes("`")) assert.doesNotMatch(once, /(?<![\d\p{L}]\*?)\*\*\p{L}|(?<!\w )<b>|\]\(/u);
        assert.equal(once, once.trim());
        if (once !== "") assert.match(once, /[\p{L}\p{N}]/u);
      },
    ),
  );
});

test("reading takes steps in proportion to the marks, however many are never closed", () => {
  // Nothing is timed: were a step's work to grow with the text, these would take longer than a run of tests is given.
  for (const marks of [
    "*a",
    "**a",
    "_a ",
    "*a ",
    "__a ",
    "_a*",
    "[a",
    "[a](",
    "(a",
    "\\(a",
    "`a ",
    "<a",
    "~~a",
    "==a ",
  ])
    assert.match(plainSpeech(`So ${marks.repeat(60_000)} there.`), /there/, marks);
});

test("a part without words is left out, and the others are spoken", async () => {
  const writer = speakableWriter(new ScriptedWriter(["*smiles*", "Hello there.", "\u{1f600}"]));
  assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Hello there.");
});

for (const [what, parts] of [
  ["a stage direction", ["*smiles*"]],
  ["an emoji", ["\u{1f44d}"]],
  ["marks", ["...", "***"]],
  ["nothing", []],
] as const)
  test(`a reply of ${what} alone asks to hear more`, async () => {
    const written = await partsOf(speakableWriter(new ScriptedWriter(parts)), dialogueOf("Hi."));
    assert.deepEqual(
      written.map(({ text }) => text),
      ["Tell me a bit more about that."],
    );
    assert.equal(written[0]?.tokens?.prompt, parts.length === 0 ? undefined : 1);
  });

test("the words before a failure are passed on, then the error", async () => {
  const writer = speakableWriter({
    name: "failing",
    async *write() {
      yield { text: "It leaves at (", tokens: null, gate: null };
      throw new WriterError("it fell silent");
    },
    close: async () => {},
  });
  const parts: string[] = [];
  await assert.rejects(async () => {
    for await (const { text } of writer.write(dialogueOf("Hi."), never())) parts.push(text);
  }, /it fell silent/);
  assert.deepEqual(parts, ["It leaves at ("]);
});
