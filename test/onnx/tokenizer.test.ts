import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { patternOf, readTokenizer, readVocabularyFiles } from "../../src/onnx/tokenizer.ts";

const GOLDEN = fileURLToPath(new URL("../../../test/golden", import.meta.url));
const CSM = join(GOLDEN, "csm");
const QWEN = join(GOLDEN, "qwen3-tts");
const CUSTOM = join(QWEN, "tiny-custom");

/** One line of `tokenizer/cases.jsonl`. */
interface Case {
  readonly text: string;
  readonly ids: readonly number[];
  readonly ids_with_template: readonly number[];
  readonly ids_specials_as_text: readonly number[];
  readonly decoded: string;
}

async function readCases(folder: string): Promise<readonly Case[]> {
  const lines = (await readFile(join(folder, "tokenizer/cases.jsonl"), "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Case);
}

describe("readTokenizer", async () => {
  const cases = await readCases(CSM);
  const tokenizer = await readTokenizer(join(CSM, "tokenizer/tokenizer.json"));

  test("encodes as the reference, special tokens as text", () => {
    assert.equal(cases.length, 89);
    for (const { text, ids_specials_as_text: ids } of cases) {
      assert.deepEqual(tokenizer.encode(text), ids, JSON.stringify(text));
    }
  });

  test("decodes as the reference, special tokens, too", () => {
    for (const { ids, decoded } of cases) assert.equal(tokenizer.decode(ids), decoded);
    assert.ok(cases.some(({ ids }) => ids.includes(tokenizer.idOf("<|AUDIO|>")!)));
  });

  test("finds special tokens by name", () => {
    const { ids_with_template: ids } = cases.find(({ text }) => text !== "")!;
    assert.equal(tokenizer.idOf("<|begin_of_text|>"), ids[0]);
    assert.equal(tokenizer.idOf("<|end_of_text|>"), ids.at(-1));
    assert.equal(tokenizer.idOf("<|nothing|>"), undefined);
  });

  test("encodes a long text without spaces", () => {
    const text = "abcdefghij".repeat(800) + "🤷‍♀️".repeat(300);
    assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
  });

  test("translates Unicode white space and case flags of patterns", () => {
    const pieces = (source: string, text: string) => text.match(patternOf(source));
    assert.deepEqual(pieces("\\s+", "a\u0085 b\ufeffc"), ["\u0085 "]);
    assert.deepEqual(pieces("(?i:'s)|x", "'s'S'ſ X x"), ["'s", "'S", "'ſ", "x"]);
    assert.throws(() => patternOf("(?<"), /cannot be translated/);
  });

  test("rejects a missing or foreign file, with its path", async () => {
    await assert.rejects(readTokenizer(join(CSM, "none.json")), /none\.json is missing/);
    const config = readTokenizer(join(CSM, "csm-tiny/config.json"));
    await assert.rejects(config, /config\.json cannot be used: it holds no byte pairs/);
  });
});

describe("readVocabularyFiles", async () => {
  const cases = await readCases(QWEN);

  const tokenizer = await readVocabularyFiles(CUSTOM);

  const folders: string[] = [];
  after(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });

  test("encodes as Qwen does, and adds only tokens that are not special", () => {
    assert.equal(cases.length, 26);
    for (const { text, ids_specials_as_text: ids } of cases) {
      assert.deepEqual(tokenizer.encode(text), ids, JSON.stringify(text));
    }
  });

  test("decodes as the reference, special tokens, too", () => {
    for (const { ids, decoded } of cases) assert.equal(tokenizer.decode(ids), decoded);
    assert.equal(tokenizer.idOf("<|im_start|>"), 1_001);
    assert.equal(tokenizer.idOf("<tts_text_eod>"), 1_030);
    assert.equal(tokenizer.idOf("assistant"), 270);
    assert.equal(tokenizer.idOf("<|nothing|>"), undefined);
  });

  test("rejects a missing or damaged file, by name", async () => {
    const wrong: readonly [file: string, content: string, message: RegExp][] = [
      ["vocab.json", "[1]", /vocab\.json is no object/],
      ["vocab.json", '{"a": "b"}', /vocab\.json: the id of "a" is no whole number/],
      ["merges.txt", "#version: 0.2\na b c\n", /merges\.txt: "a b c" is no pair/],
      ["tokenizer_config.json", "{", /tokenizer_config\.json is no JSON/],
      ["tokenizer_config.json", "{}", /tokenizer_config\.json has no added_tokens_decoder/],
      ["tokenizer_config.json", '{"added_tokens_decoder": {"7": {}}}', /the added token 7 has no content/],
    ];
    for (const [file, content, message] of wrong) {
      const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
      folders.push(folder);
      for (const name of ["vocab.json", "merges.txt", "tokenizer_config.json"]) {
        await cp(join(CUSTOM, name), join(folder, name));
      }
      await writeFile(join(folder, file), content);
      await assert.rejects(readVocabularyFiles(folder), message);
      await rm(join(folder, file));
      await assert.rejects(readVocabularyFiles(folder), new RegExp(`${file} is missing in`));
    }
  });
});
