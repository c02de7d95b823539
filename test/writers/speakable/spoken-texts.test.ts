import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../properties.ts";
import { type SpokenText, spokenOf, spokenOfStretches, spokenTexts } from "./spoken-texts.ts";

const known = await spokenTexts("spoken-texts");
for (const kind of new Set(known.map((row) => row.kind))) {
  test(`of ${kind} nothing is lost that should be said, and nothing said that should not`, async () => {
    assert.deepEqual(await wrongOf(known.filter((row) => row.kind === kind)), []);
  });
}

test("of texts that nothing was adjusted to, at least 95 in 100 are said as they should be", async () => {
  const unseen = await spokenTexts("spoken-texts-held-out");
  const wrong = await wrongOf(unseen);
  assert.ok(unseen.length >= 90 && wrong.length <= 0.05 * unseen.length, JSON.stringify(wrong, null, 1));
});

test("wherever a reply is cut into pieces, the same words are said", async () => {
  const texts = [...known, ...(await spokenTexts("spoken-texts-held-out"))].map(({ written }) => written);
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

test("whether a writer gives its lines one by one or together, the same words are said", async () => {
  const lines = [...known, ...(await spokenTexts("spoken-texts-held-out"))].map(({ written }) => written);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...lines), fc.boolean()), { minLength: 1, maxLength: 6 }),
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

test("plain sentences are said to the letter", async () => {
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

function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const size = sizes[pieces.length % sizes.length] ?? 1;
    pieces.push(text.slice(start, start + size));
    start += size;
  }
  return pieces;
}

/** What is said otherwise than it should be. */
async function wrongOf(rows: readonly SpokenText[]) {
  const wrong = [];
  for (const { written, spoken } of rows) {
    const said = await spokenOf([written]);
    if (said !== spoken) wrong.push({ written, spoken, said });
  }
  return wrong;
}
