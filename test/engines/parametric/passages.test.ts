import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Passage, PassageSource, type ReadsText } from "../../../src/engines/parametric/passages.ts";
import { clausePauseS, pauseS } from "../../../src/engines/parametric/pauses.ts";
import { wordCount, wordSpans } from "../../../src/engines/parametric/spoken-words.ts";
import { cutRunOn } from "../../../src/text/run-on.ts";
import { splitSentences } from "../../../src/text/sentences.ts";
import { CountedText, never } from "../../model/scripts.ts";
import fc from "../../properties.ts";

/** Each letter is a phoneme of its own, `/` begins a new passage; what has no letter is not spoken. */
const readLetters: ReadsText = {
  split: (piece) => splitSentences(piece),
  read: async (sentence) =>
    sentence
      .split("/")
      .filter((part) => /\p{L}/u.test(part))
      .map((part) => {
        const ids = [0, ...[...part.trim()].map((c) => (/\p{L}/u.test(c) ? 50 : 16)), 0];
        const at = sentence.indexOf(part.trim()) - 1;
        return { ids, sources: wordSpans(ids).map(({ from, to }) => ({ from: at + from, to: at + to })) };
      }),
};

async function passagesOf(...pieces: string[]): Promise<{ passages: Passage[]; source: PassageSource }> {
  const source = new PassageSource(new CountedText(pieces), readLetters, never());
  const passages: Passage[] = [];
  for (let next = await source.next(); next !== null; next = await source.next()) passages.push(next);
  return { passages, source };
}

describe("Passages of a text", () => {
  test("are its sentences, each with the text as it was given", async () => {
    const { passages, source } = await passagesOf("One two.  “Three!” \n\n Four. ", "Five.");
    assert.deepEqual(
      passages.map(({ text }) => text),
      ["One two.", "  “Three!”", " \n\n Four.", " Five."],
    );
    assert.equal(source.text, "One two.  “Three!” \n\n Four. Five.");
  });

  test("leave no letter of any text out, and repeat none", async () => {
    const text = fc.stringMatching(/^[a-zA-Z .!?…\n"”)'éß中-]{0,80}$/);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 4 }), async (pieces) => {
        const { passages, source } = await passagesOf(...pieces);
        const spoken = passages.map((passage) => passage.text).join("");
        assert.equal(source.text, pieces.join(""));
        assert.ok(source.text.startsWith(spoken), JSON.stringify(spoken));
        assert.doesNotMatch(source.text.slice(spoken.length), /\p{L}/u);
      }),
    );
  });

  test("count words through a sentence that was cut", async () => {
    const { passages } = await passagesOf("one two/three/four five six. Seven.");
    assert.deepEqual(
      passages.map(({ words, wordsBefore, endsSentence }) => [words, wordsBefore, endsSentence]),
      [
        [6, 0, false],
        [6, 2, false],
        [6, 3, true],
        [1, 0, true],
      ],
    );
  });

  test("of a sentence that goes on and on are read one after the other, and lose nothing", async () => {
    const read: string[] = [];
    const reader: ReadsText = {
      split: (piece) => splitSentences(piece).flatMap(cutRunOn),
      read: async (sentence) => {
        read.push(sentence);
        return readLetters.read(sentence);
      },
    };
    const text = `${"and so it went ".repeat(100).trim()}. The end.`;
    const source = new PassageSource(new CountedText([text]), reader, never());
    const passages = [await source.next()];
    assert.deepEqual([read.length, passages[0]?.pauseS], [1, clausePauseS([])]);
    for (let next = await source.next(); next !== null; next = await source.next()) passages.push(next);
    assert.equal(passages.map((passage) => passage?.text).join(""), text);
    assert.deepEqual(
      passages.slice(-3).map((passage) => passage?.pauseS),
      [clausePauseS([]), 0.4, 0.4],
    );
  });

  test("end a paragraph where a line does, not where a piece does", async () => {
    const { passages } = await passagesOf("One.\nTwo. Three.", "Four.");
    assert.deepEqual(
      passages.map((passage) => passage.pauseS),
      [0.7, 0.4, 0.4, 0.4],
    );
  });

  test("know the paragraph that they begin or end, past what is silent, and the words said before them", async () => {
    const { passages } = await passagesOf("***\nOne two.\n\n…\n\nThree/four. Five.", "Six.");
    assert.deepEqual(
      passages.map((passage) => [passage.startsParagraph, passage.endsParagraph, passage.wordsSaid]),
      [
        [false, true, 0],
        [true, false, 2],
        [true, false, 2],
        [false, false, 4],
        [false, false, 5],
      ],
    );
  });

  test("are not asked of a text that was let go", async () => {
    const text = new CountedText(["One. Two.", "Three."]);
    const source = new PassageSource(text, readLetters, never());
    await source.next();
    source.release();
    assert.ok(text.isReleased);
    assert.equal(text.pulls, 1);
  });
});

test("a pause goes by the last mark, behind quotes and brackets too", () => {
  const after = (text: string) => pauseS({ text, endsParagraph: false });
  assert.equal(after("Well."), 0.4);
  assert.equal(after("“Well?”)"), 0.43);
  assert.equal(after("Well..."), 0.6);
  assert.equal(after("Well…”"), 0.6);
  assert.equal(after("3.5 kg"), 0.4);
});

test("a pause inside a sentence goes by its mark: short where there is none, or a comma", () => {
  const [semicolon, comma, dash, space] = [1, 3, 9, 16];
  assert.ok(clausePauseS([0, 50, 0]) < 0.25);
  assert.ok(clausePauseS([0, 50, comma, 0]) < 0.25);
  assert.equal(clausePauseS([0, 50, semicolon, space, 0]), 0.32);
  assert.equal(clausePauseS([0, 50, space, dash, 0]), 0.25);
});

test("each word of a passage knows where it stands in the whole text", async () => {
  const { passages, source } = await passagesOf("One two.  “Three!” \n\n Four/ five. ", "Six sixes.");
  const words = passages.flatMap(({ sources }) => sources.map(({ from, to }) => source.text.slice(from, to)));
  assert.deepEqual(words, ["One", "two", "Three", "Four", "five", "Six", "sixes"]);
});

test("the words of phoneme ids are counted", () => {
  assert.equal(wordCount([0, 50, 51, 16, 52, 4, 16, 53, 0]), 3);
});
