import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plainSpeech } from "../../../src/writers/speakable/plain-speech.ts";
import fc from "../../properties.ts";

const CASES: Readonly<Record<string, readonly [string, string?]>> = {
  "keeps plain words": ["It's a lovely day, isn't it?"],
  "drops stress marks": ["That is *really* **very** good.", "That is really very good."],
  "drops a starred action": ["*sighs* I was waiting for you.", "I was waiting for you."],
  "drops a starred action of several words": ["Fine. *looks away slowly* Go on.", "Fine. Go on."],
  "drops a direction in parentheses": ["(laughs softly) You got me.", "You got me."],
  "keeps an aside in parentheses": ["It takes an hour (or two) to bake."],
  "drops a direction in brackets": ["[pause] Well, no.", "Well, no."],
  "drops a heading's mark": ["## Sure thing.", "Sure thing."],
  "drops a bullet": ["- Take a pan.", "Take a pan."],
  "keeps a list's number": ["1. Take a pan."],
  "keeps a number that begins a sentence": ["1066 was the year."],
  "drops code marks": ["Press `Enter` now.", "Press Enter now."],
  "drops emoji": ["Well done \u{1f389}\u{1f44d}\u{1f3fd}!", "Well done!"],
  "drops a speaker label": ["Assistant: Hello there.", "Hello there."],
  "keeps a link's text": ["See [the map](map.html) first.", "See the map first."],
  "keeps a URL": ["Go to https://example.org/x for more."],
  "keeps a domain": ["It is all on example.com today."],
  "keeps an e-mail address": ["Write to me@example.org."],
  "keeps a telephone number": ["Call them at 555-123-4567."],
  "drops control characters": ["Well\u0000 done\u001b[31m.", "Well done [31m."],
  "drops half a character": ["Well \ud83d done.", "Well done."],
  "keeps a year": ["It was built in 1889."],
  "keeps a large number": ["About 300,000 people live there."],
  "keeps claims about a model": ["As an AI language model, I'm a voice you can talk to."],
  "returns nothing for marks alone": ["*** -- ...", ""],
};

describe("plainSpeech", () => {
  for (const [title, [given, spoken = given]] of Object.entries(CASES))
    it(title, () => assert.equal(plainSpeech(given), spoken));

  it("leaves no markup, emoji or double spaces in any text", () => {
    const pieces = fc.constantFrom(
      ..."*|**|`|# |[a](b)|(sighs)|<b>|\u{1f600}|_|well |1. |As an AI, | .".split("|"),
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(pieces, fc.string({ unit: "grapheme", maxLength: 8 })), { maxLength: 12 }),
        (parts) => {
          const written = parts.join("");
          const once = plainSpeech(written);
          assert.doesNotMatch(once, / {2}|(?![©®™\u2190-\u21ff])\p{Extended_Pictographic}|[\ue000-\uf8ff]/u);
          // Code is spoken as it is.
          if (!written.includes("`"))
            assert.doesNotMatch(once, /(?<![\d\p{L}]\*?)\*\*\p{L}|(?<!\w )<b>|\]\(/u);
          assert.equal(once, once.trim());
          if (once !== "") assert.match(once, /[\p{L}\p{N}]/u);
        },
      ),
    );
  });

  it("takes linear time for marks that are never closed", () => {
    // Not timed: quadratic steps would exceed the runner's limit.
    const marks = [
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
    ];
    for (const mark of marks) assert.match(plainSpeech(`So ${mark.repeat(60_000)} there.`), /there/, mark);
  });
});
