import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { frontMatterOf } from "../../../src/text/sentences/markdown-lines.ts";
import {
  MAX_PASSAGE_CHARS,
  type Passage,
  splitPassages,
  type TextFormat,
} from "../../../src/text/sentences/passages.ts";
import fc from "../../properties.ts";

async function cut(text: string, format: TextFormat = "plain", chunkChars = 7): Promise<Passage[]> {
  const chunks = async function* () {
    for (let at = 0; at < text.length; at += chunkChars) yield text.slice(at, at + chunkChars);
  };
  const passages: Passage[] = [];
  for await (const passage of splitPassages(chunks(), format)) passages.push(passage);
  return passages;
}

const said = async (text: string, format: TextFormat) => (await cut(text, format)).map((each) => each.text);

describe("front matter", () => {
  const found = (...lines: string[]) => Object.values(frontMatterOf(`${lines.join("\n")}\n\nHello.`));

  it("gives title and author, and is not spoken", async () => {
    const lines = [
      "---",
      "lang: en",
      'title: "Pride: a story"',
      "Author:  Jane Austen ",
      "tags:",
      "  - a",
      "---",
    ];
    assert.deepEqual(found(...lines), ["Pride: a story", "Jane Austen"]);
    assert.deepEqual(found(...lines.join("\r\n").split("\n")), ["Pride: a story", "Jane Austen"]);
    assert.deepEqual(await said(`${lines.join("\n")}\n\nHello.`, "markdown"), ["Hello."]);
  });

  it("gives nothing where it is text, or a value is no line of text", () => {
    for (const lines of [
      ["title: A", "---"],
      ["---", "title: A"],
      ["---", "title: A", "This is prose.", "---"],
      ["---", "title: [A, B]", "author: >", "  Ann", "---"],
      ["---", "titles: A", "author:", "constructor: x", "---"],
      ["---", ...Array(250).fill("a: b"), "title: A", "---"],
    ])
      assert.deepEqual(found(...lines), ["", ""], lines.join());
  });
});

describe("passages of a long text", () => {
  it("go on with the voice of the passage before", async () => {
    const line = "word ".repeat(200).trim();
    const text = `${line}\n\n[voice:nova]${line}\n\n${line} [voice:1]\n\n${line}\n\n[voice:0]${line}`;
    assert.deepEqual(
      (await said(text, "plain")).map((each) => each.match(/\[voice:\w+\]/g)),
      [null, ["[voice:nova]"], ["[voice:nova]", "[voice:1]"], ["[voice:1]"], ["[voice:1]", "[voice:0]"]],
    );
  });

  it("join paragraphs; headings stand alone and begin chapters", async () => {
    const text = "# One\n\nFirst *words*.\nMore.\n\n- an item\n\nTwo\n---\n\nLast.\n\n### Deeper\n\nEnd.";
    assert.deepEqual(
      (await cut(text, "markdown")).map(({ text: words, chapter }) => [words, chapter]),
      [
        ["One.", "One"],
        ["First words.\nMore.\n\nan item.", null],
        ["Two.", "Two"],
        ["Last.", null],
        ["Deeper.", null],
        ["End.", null],
      ],
    );
    const plain =
      "CHAPTER IV\n\nIt was cold.\nChapter and verse.\n\nChapter Five: The Dog\n\nWoof.\n\nPrologue\n\nThen.";
    assert.deepEqual(
      (await cut(plain)).flatMap(({ chapter }) => chapter ?? []),
      ["CHAPTER IV", "Chapter Five: The Dog", "Prologue"],
    );
    for (const [line, isChapter] of [
      ["Chapter 12", true],
      ["PART THE FIRST", true],
      ["Chapter Twenty-One. Home", true],
      ["Book II — “Fire”", true],
      ["CHAPTER 3 THE STORM", true],
      ["Chapter One The Boy Who Lived", true],
      ["Act II Scene 1", true],
      ["Appendix", true],
      ["Act natural.", false],
      ["Book her a flight, please.", false],
      ["Part of it was lost", false],
      ["Book one hundred seats.", false],
      ["Letter by letter", false],
    ] as const)
      assert.equal((await cut(`${line}\n\nThen.`))[0]!.chapter !== null, isChapter, line);
  });

  it("omit Markdown syntax, code and addresses", async () => {
    for (const [written, spoken] of [
      ["**Bold** and _slanted_ and `code`, ~~gone~~.", "Bold and slanted and code, gone."],
      ["A [link](https://example.com/a_b) and ![a picture](p.png).", "A link and a picture."],
      ["[kubernetes](/kˌubɚnˈɛtiz/) stays", "[kubernetes](/kˌubɚnˈɛtiz/) stays"],
      ["> quoted", "quoted."],
      ["- [x] done", "done."],
      ["| a | b |", "a, b"],
      ["2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"],
      ["a < b and <b>so</b> on", "a < b and so on"],
      ["A note[^1].\n[^1]: http://example.com", "A note."],
      ["```js\nlet x;\n```\nAfter.", "After."],
      ["\\*not slanted\\*", "*not slanted*"],
      ["See [the docs][1], [here][] and <https://example.com/x>.", "See the docs, here and ."],
      ["Salt &amp; pepper&#8217;s", "Salt & pepper’s"],
      ["---\ntitle: A\n---\nText.", "Text."],
      ["---\n\nText.", "Text."],
      ["Text.\n\n    code\n\nMore.", "Text.\n\nMore."],
      ["- one\n\n    still one", "one.\n\nstill one"],
      ["# Learning C#\n\nIt.", "Learning C#.|It."],
      ["```npm install```\n\nAfter.", "npm install\n\nAfter."],
      ["- ```sh\n  ls\n  ```\n\nAfter.", "After."],
      ["> ```\n> code\n> ```\n> quoted", "quoted."],
      ["Line<br>break", "Line break"],
      ["One.\n\n<!-- a\nb -->\n\nTwo.", "One.\n\nTwo."],
      ["Write `<!--` to begin.\n\nMore.", "Write <!-- to begin.\n\nMore."],
      ["<!-- never closed\n\nMore.", "<!-- never closed\n\nMore."],
      ["A <!--> b", "A <!--> b"],
      ["---\n# Chapter One\n\nOnce.", "Chapter One.|Once."],
      ["---\nNote: this is prose.\nOnce upon.\n\n---\n\nMore.", "Note: this is prose.\nOnce upon.\n\nMore."],
      ["---\ntitle: A\ntags:\n  - b\n...\nText.", "Text."],
      ["<div>\n\tTabbed words.\n</div>", "Tabbed words."],
      ["> ```\n> code\n\nBravo", "Bravo"],
      ["```\n- ```\n> ```\ncode\n```\nAfter.", "After."],
      ["[Anna]: Hello there, how are you?", "[Anna]: Hello there, how are you?"],
      ['[1]: http://example.org "T"\n[b]: ./c.md\n\nText.', "Text."],
      ["1. First\n2) Second", "1: First.\n2: Second."],
    ] as const)
      assert.equal((await said(written, "markdown")).join("|"), spoken, written);
  });

  it("are bounded and keep every word in order for any chunks", async () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    const gap = fc.constantFrom(" ", " ", " ", "\n", ". ", "\n\n", "\r\n", " ".repeat(30));
    const text = fc.array(fc.tuple(word, gap), { maxLength: 700 }).map((all) => all.flat().join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 5_000 }), async (whole, chunkChars) => {
        const passages = await cut(whole, "plain", chunkChars);
        const words = (from: string) => from.match(/[a-z]+/g) ?? [];
        assert.deepEqual(words(passages.map(({ text: part }) => part).join(" ")), words(whole));
        for (const { text: part } of passages) assert.ok(part.length <= MAX_PASSAGE_CHARS + 1);
        const read = passages.map(({ readChars }) => readChars);
        assert.deepEqual(
          read,
          read.toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 60 },
    );
  });

  it("are the same for any chunks", async () => {
    const piece = fc.constantFrom(
      "word ",
      "# A",
      "\n",
      "\n\n",
      "\r\n",
      "---",
      "Chapter 2",
      "```",
      "x".repeat(9_000),
      ". ",
      "😀",
      "|",
    );
    const text = fc.array(piece, { maxLength: 60 }).map((all) => all.join(""));
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.integer({ min: 1, max: 5_000 }),
        fc.constantFrom<TextFormat>("plain", "markdown"),
        async (whole, chunkChars, format) => {
          assert.deepEqual(await cut(whole, format, chunkChars), await cut(whole, format, whole.length + 1));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("keep a space at the end of a chunk", async () => {
    const [first, second] = [`${"four ".repeat(3_999)}five`, " zebra"];
    const chunks = async function* () {
      yield `${first} `;
      yield second.trimStart();
    };
    let all = "";
    for await (const { text } of splitPassages(chunks(), "plain")) all += `${text}\n`;
    assert.match(all, /five\s+zebra/);
  });

  it("are cut even without sentence ends", async () => {
    for (const endless of ["word ".repeat(9_000), "x".repeat(50_000), "😀".repeat(20_000)]) {
      const passages = await cut(endless, "plain", 1_000);
      assert.ok(passages.length > 10);
      for (const { text } of passages) {
        assert.ok(text.length <= MAX_PASSAGE_CHARS);
        assert.ok(text.isWellFormed());
      }
      assert.equal(
        passages.map(({ text }) => text.replaceAll(" ", "")).join("").length,
        endless.replaceAll(" ", "").length,
      );
    }
  });

  it("of any repeated sign are split in linear time", async () => {
    for (const sign of ["*", "_", "`", "[", "](", "<", "#", "> ", "|", "~", "![", "\\"]) {
      for (const { text } of await cut(sign.repeat(20_000 / sign.length), "markdown", 20_000))
        assert.ok(text.length <= MAX_PASSAGE_CHARS);
    }
  });
});
