import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pausesS, spokenText, type TextPiece, writtenText } from "../../../src/core/marked-text.ts";
import { parseWrittenText } from "../../../src/serving/prepare/read-markup.ts";
import { StreamedText } from "../../../src/serving/reply/streamed-text.ts";
import fc from "../../properties.ts";

async function spoken(pieces: readonly string[], maxChars = 8_000): Promise<string[]> {
  const text = new StreamedText(maxChars);
  for (const piece of pieces) text.push(piece);
  text.end();
  await text.begin();
  const said: string[] = [];
  for await (const sentence of text.sentences(() => {})) said.push(writtenText(sentence));
  return said;
}

describe("streamed text", () => {
  test("yields the same sentences wherever it is cut", async () => {
    const whole = "Dr. Ada came at 5 p.m. on Monday. “Hello!” she said — 👋 hello to all. What now? Nothing";
    const sentences = await spoken([whole]);
    assert.ok(sentences.length >= 4, `${sentences}`);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 12 }),
        async (cuts) => {
          const at = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
          const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end));
          assert.deepEqual(await spoken(pieces), sentences);
        },
      ),
    );
  });

  test("yields a sentence as soon as the next one begins", async () => {
    const text = new StreamedText(100);
    text.push("One is here. Two");
    await text.begin();
    const pieces = text.sentences(() => {});
    assert.equal((await pieces.next()).value, "One is here.");
    let waits = 0;
    const rest = text.sentences(() => waits++);
    const next = rest.next();
    await new Promise(setImmediate);
    assert.equal(waits, 1);
    assert.equal(text.isWriting, true);
    text.end();
    assert.equal((await next).value, " Two");
    assert.equal(text.isWriting, false);
    assert.equal((await rest.next()).done, true);
  });

  test("omits what cannot be spoken", async () => {
    assert.deepEqual(await spoken(["One is here.\n👍\nTwo is, too."]), ["One is here.", " Two is, too."]);
  });

  test("is refused for a voice, as in SSML", async () => {
    for (const text of ["One. Two [voice:nova] here.", '<speak><voice name="nova">Hi.</voice></speak>'])
      await assert.rejects(
        spoken([text]),
        /^ServiceError: the text: line 1, column \d+: a text that comes in pieces cannot name a voice/,
      );
    assert.equal(spokenText(parseWrittenText("[voice:nova] Hi. [pause:1s]")), "[voice:nova] Hi. ");
  });

  test("is counted in code points and rejected over the limit", async () => {
    const text = new StreamedText(4);
    text.push("👍a👍");
    assert.equal(text.chars, 3);
    text.push("bc");
    await assert.rejects(text.begin(), { status: 422, message: /more than 4 characters/ });
  });

  test("is rejected without words, and reports whether it was blank", async () => {
    const text = new StreamedText(100);
    text.push(" — 👍 ");
    assert.equal(text.isBlank, false);
    text.end();
    assert.equal(text.isBlank, true);
    await assert.rejects(text.begin(), { status: 400, message: /nothing speakable/ });
  });

  test("is rejected for invalid phonemes", async () => {
    await assert.rejects(spoken(["Say [tomato](/tə9m/). Now."]), { status: 400, message: /^the text: / });
  });

  test("yields pauses, and bills words only", async () => {
    const text = new StreamedText(100);
    for (const piece of ["One is here. [pau", "se:1", ".5s] Two is", ", too. [pause:2s]"]) text.push(piece);
    text.end();
    const pauses: number[] = [];
    for await (const piece of text.sentences(() => {})) pauses.push(pausesS(piece));
    assert.deepEqual(pauses, [0, 1.5, 2]);
    assert.equal(text.chars, "One is here.  Two is, too. ".length);
    const [long, many] = [["Well. [pause:60s] Now."], Array<string>(61).fill("Well. [pause:10s] Now. ")];
    await assert.rejects(spoken(long), { status: 400, message: /^the text: line 1, column \d+/ });
    await assert.rejects(spoken(many), { status: 400, message: /^the text: its pauses last 610 s together/ });
  });

  test("is buffered to its end if it is SSML, wherever it is cut", async () => {
    const ns = 'xmlns:Ns="http://www.w3.org/2001/10/synthesis"';
    const whole = `<Ns:speak ${ns}>One is here. <break time="1s"/>Two is <foo>too</foo>.</Ns:speak>`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 4 }), async (cuts) => {
        const text = new StreamedText(200);
        let from = 0;
        for (const to of [...cuts.sort((a, b) => a - b), whole.length]) {
          assert.equal(text.push(whole.slice(from, to)), false);
          from = to;
        }
        assert.equal(text.hasBegun, false);
        text.end();
        const pieces: TextPiece[] = [];
        for await (const piece of text.sentences(() => {})) pieces.push(piece);
        assert.deepEqual(pieces.map(spokenText), ["One is here. Two is too."]);
        assert.deepEqual(text.cautions, ["<foo> is ignored: its content is spoken"]);
      }),
    );
    await assert.rejects(spoken(["<speak>One", " is here."]), { status: 400, message: /never closed/ });
    assert.deepEqual(await spoken(["<", "spe", "ctral> light."]), ["<spectral> light."]);
  });

  test("throws its failure and drops unspoken text", async () => {
    const text = new StreamedText(100);
    text.push("One is here. Two");
    await text.begin();
    text.fail(new Error("gone"));
    text.push(" is, too. Three");
    text.end();
    await assert.rejects(text.sentences(() => {}).next(), /gone/);
  });
});
