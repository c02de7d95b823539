import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import { speakableWriter } from "../../../src/writers/speakable/speakable.ts";
import fc from "../../properties.ts";
import { dialogueOf, never, partsOf, replyOf } from "../dialogues.ts";
import { ScriptedWriter } from "../scripted-writer.ts";
import { type SpokenText, spokenOf, spokenOfStretches, spokenTexts } from "./spoken-texts.ts";

const known = await spokenTexts("spoken-texts");
const heldOut = await spokenTexts("spoken-texts-held-out");
const texts = [...known, ...heldOut].map(({ written }) => written);

describe("speakableWriter", () => {
  for (const kind of new Set(known.map((row) => row.kind)))
    it(`speaks ${kind} without loss or markup`, async () => {
      assert.deepEqual(await wrongOf(known.filter((row) => row.kind === kind)), []);
    });

  it("speaks at least 95 % of the held-out texts correctly", async () => {
    const wrong = await wrongOf(heldOut);
    assert.ok(heldOut.length >= 90 && wrong.length <= 0.05 * heldOut.length, JSON.stringify(wrong, null, 1));
  });

  it("speaks the same words wherever a reply is cut", async () => {
    const reply = fc
      .array(fc.constantFrom(...texts), { minLength: 1, maxLength: 4 })
      .chain((parts) => fc.constantFrom(" ", "\n", "\n\n").map((between) => parts.join(between)));
    await fc.assert(
      fc.asyncProperty(
        reply,
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        async (text, sizes) => {
          const whole = await spokenOf([text]);
          assert.equal(await spokenOf(text.split("")), whole);
          assert.equal(await spokenOf(piecesOf(text, sizes)), whole);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("speaks the same words for lines that come one by one or together", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...texts), fc.boolean()), { minLength: 1, maxLength: 6 }),
        async (parts) => {
          const together: string[] = [];
          for (const [line, isNew] of parts) {
            if (isNew || together.length === 0) together.push(line);
            else together.push(`${together.pop()}\n${line}`);
          }
          assert.equal(
            await spokenOfStretches(together),
            await spokenOfStretches(parts.flatMap(([line]) => line.split("\n"))),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it("speaks plain sentences to the letter", async () => {
    const word = fc.constantFrom(
      ...'I you she laughs smiling (Paris) (meetings), x < 5 and > 3 1939–1945 (1939-1945) C# $5 °C π × a*b A&B 10:30 — "so" it\'s [0, 1] {n} snake_case 2^3 |x| #one @two ~5 50% me@a.org looks'.split(
        " ",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 12 }), async (words) => {
        const text = `So ${words.join(" ")} there.`;
        assert.equal(await spokenOf([text]), text);
      }),
      { numRuns: 500 },
    );
  });

  it("leaves out a part without words", async () => {
    const writer = speakableWriter(new ScriptedWriter(["*smiles*", "Hello there.", "\u{1f600}"]));
    assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Hello there.");
  });

  for (const parts of [["*smiles*"], ["\u{1f44d}"], ["...", "***"], []])
    it(`replaces a reply of [${parts}] by a question`, async () => {
      const written = await partsOf(speakableWriter(new ScriptedWriter(parts)), dialogueOf("Hi."));
      assert.deepEqual(
        written.map(({ text }) => text),
        ["Tell me a bit more about that."],
      );
      assert.equal(written[0]?.tokens?.prompt, parts.length === 0 ? undefined : 1);
    });

  it("passes the words before a failure, then the error", async () => {
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
});

function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const size = sizes[pieces.length % sizes.length] ?? 1;
    pieces.push(text.slice(start, start + size));
    start += size;
  }
  return pieces;
}

/** Returns the texts that are not spoken as expected. */
async function wrongOf(rows: readonly SpokenText[]) {
  const wrong = [];
  for (const { written, spoken } of rows) {
    const said = await spokenOf([written]);
    if (said !== spoken) wrong.push({ written, spoken, said });
  }
  return wrong;
}
