import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { patternOf, readTokenizer } from "../../src/onnx/tokenizer-file.ts";

const GOLDEN = fileURLToPath(new URL("../../../test/golden/csm", import.meta.url));

/** One line of `tokenizer/cases.jsonl`. */
interface Case {
  readonly text: string;
  readonly ids: readonly number[];
  readonly ids_with_template: readonly number[];
  readonly ids_specials_as_text: readonly number[];
  readonly decoded: string;
}

const cases = (await readFile(join(GOLDEN, "tokenizer/cases.jsonl"), "utf8"))
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);
const tokenizer = await readTokenizer(join(GOLDEN, "tokenizer/tokenizer.json"));

test("a text has the tokens that the reference gives it, and what looks like a special token is text", () => {
  assert.equal(cases.length, 89);
  for (const { text, ids_specials_as_text: ids } of cases) {
    assert.deepEqual(tokenizer.encode(text), ids, JSON.stringify(text));
  }
});

test("tokens give the text that the reference makes of them, special ones too", () => {
  for (const { ids, decoded } of cases) assert.equal(tokenizer.decode(ids), decoded);
  assert.ok(cases.some(({ ids }) => ids.includes(tokenizer.idOf("<|AUDIO|>")!)));
});

test("special tokens are known by their names, and nothing else is", () => {
  const { ids_with_template: ids } = cases.find(({ text }) => text !== "")!;
  assert.equal(tokenizer.idOf("<|begin_of_text|>"), ids[0]);
  assert.equal(tokenizer.idOf("<|end_of_text|>"), ids.at(-1));
  assert.equal(tokenizer.idOf("<|nothing|>"), undefined);
});

test("a long text without a space is encoded as the sum of its bytes", () => {
  const text = "abcdefghij".repeat(800) + "🤷‍♀️".repeat(300);
  assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
});

test("a pattern takes white space as Unicode has it, and ignores case only where it is asked to", () => {
  const pieces = (source: string, text: string) => text.match(patternOf(source));
  assert.deepEqual(pieces("\\s+", "a\u0085 b\ufeffc"), ["\u0085 "]);
  assert.deepEqual(pieces("(?i:'s)|x", "'s'S'ſ X x"), ["'s", "'S", "'ſ", "x"]);
  assert.throws(() => patternOf("(?<"), /cannot be translated/);
});

test("a file that is missing, or of another kind, is refused with its path", async () => {
  await assert.rejects(readTokenizer(join(GOLDEN, "none.json")), /none\.json is missing/);
  const config = readTokenizer(join(GOLDEN, "csm-tiny/config.json"));
  await assert.rejects(config, /config\.json cannot be used: it holds no byte pairs/);
});
