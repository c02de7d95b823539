import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { writtenText } from "../../src/model/marked-text.ts";
import { StreamedText } from "../../src/serving/streamed-text.ts";
import fc from "../properties.ts";

async function spoken(pieces: readonly string[], maxChars = 8_000): Promise<string[]> {
  const text = new StreamedText(maxChars);
  for (const piece of pieces) text.push(piece);
  text.end();
  await text.begin();
  const said: string[] = [];
  for await (const sentence of text.pieces(() => {})) said.push(writtenText(sentence));
  return said;
}

describe("text that comes in pieces", () => {
  test("gives the same sentences wherever it is cut", async () => {
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

  test("gives a sentence as soon as the next has begun", async () => {
    const text = new StreamedText(100);
    text.push("One is here. Two");
    await text.begin();
    const pieces = text.pieces(() => {});
    assert.equal((await pieces.next()).value, "One is here.");
    let waits = 0;
    const rest = text.pieces(() => waits++);
    const next = rest.next();
    await new Promise(setImmediate);
    assert.equal(waits, 1);
    assert.equal(text.isWriting, true);
    text.end();
    assert.equal((await next).value, " Two");
    assert.equal(text.isWriting, false);
    assert.equal((await rest.next()).done, true);
  });

  test("leaves out what cannot be said", async () => {
    assert.deepEqual(await spoken(["One is here.\n👍\nTwo is, too."]), ["One is here.", " Two is, too."]);
  });

  test("is counted in code points, and refused beyond the most", async () => {
    const text = new StreamedText(4);
    text.push("👍a👍");
    assert.equal(text.chars, 3);
    text.push("bc");
    await assert.rejects(text.begin(), { status: 422, message: /more than 4 characters/ });
  });

  test("is refused where it has no words, and says that it was blank", async () => {
    const text = new StreamedText(100);
    text.push(" — 👍 ");
    assert.equal(text.isBlank, false);
    text.end();
    assert.equal(text.isBlank, true);
    await assert.rejects(text.begin(), { status: 400, message: /nothing speakable/ });
  });

  test("is refused where phonemes in it are none", async () => {
    await assert.rejects(spoken(["Say [tomato](/tə9m/). Now."]), { status: 400, message: /^the text: / });
  });

  test("throws to who speaks what it failed with, and keeps what came before from being spoken", async () => {
    const text = new StreamedText(100);
    text.push("One is here. Two");
    await text.begin();
    text.fail(new Error("gone"));
    text.push(" is, too. Three");
    text.end();
    await assert.rejects(text.pieces(() => {}).next(), /gone/);
  });
});
