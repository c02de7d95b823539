import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readVocabularyFiles } from "../../src/onnx/vocabulary-files.ts";

const GOLDEN = fileURLToPath(new URL("../../../test/golden/qwen3-tts", import.meta.url));
const FOLDER = join(GOLDEN, "tiny-custom");

/** One line of `tokenizer/cases.jsonl`. */
interface Case {
  readonly text: string;
  readonly ids_specials_as_text: readonly number[];
  readonly ids: readonly number[];
  readonly decoded: string;
}

const cases = (await readFile(join(GOLDEN, "tokenizer/cases.jsonl"), "utf8"))
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);
const tokenizer = await readVocabularyFiles(FOLDER);

const folders: string[] = [];
after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

test("a text has the tokens that Qwen's split gives it, and of the added tokens only those that are not special", () => {
  assert.equal(cases.length, 26);
  for (const { text, ids_specials_as_text: ids } of cases) {
    assert.deepEqual(tokenizer.encode(text), ids, JSON.stringify(text));
  }
});

test("tokens give the text that the reference makes of them, special ones too", () => {
  for (const { ids, decoded } of cases) assert.equal(tokenizer.decode(ids), decoded);
  assert.equal(tokenizer.idOf("<|im_start|>"), 1_001);
  assert.equal(tokenizer.idOf("<tts_text_eod>"), 1_030);
  assert.equal(tokenizer.idOf("assistant"), 270);
  assert.equal(tokenizer.idOf("<|nothing|>"), undefined);
});

test("a file that is missing or damaged is refused by its name", async () => {
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
      await cp(join(FOLDER, name), join(folder, name));
    }
    await writeFile(join(folder, file), content);
    await assert.rejects(readVocabularyFiles(folder), message);
    await rm(join(folder, file));
    await assert.rejects(readVocabularyFiles(folder), new RegExp(`${file} is missing in`));
  }
});
