import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { indexOf, stringAt } from "../../../src/text/tables/string-table.ts";
import { loadTextTables } from "../../../src/text/tables/text-tables.ts";
import { within } from "../../waiting.ts";

let voice = "";
let file = "";

beforeEach(async () => {
  voice = await mkdtemp(join(tmpdir(), "antiphon-voice-"));
  file = join(voice, "made", "small.tables");
  await writeSmallVoice(voice);
});
afterEach(() => rm(voice, { recursive: true, force: true }));

test("the tables contain the voice's files", async () => {
  const { gold, tagger, exceptions, normaliser, unknownWords, vocabulary } = await loadTextTables(
    voice,
    file,
  );
  const word = indexOf(gold.words, "cat");
  assert.equal(stringAt(gold.words, word), "cat");
  assert.equal(stringAt(gold.phonemes, word), "kˈæt");
  assert.deepEqual(
    [...gold.tagged.get("US")!],
    [
      ["DEFAULT", "ˌʌs"],
      ["NOUN", null],
    ],
  );
  assert.equal(indexOf(gold.words, "dog"), -1);
  const feature = indexOf(tagger.features, "b");
  assert.equal(tagger.tags[tagger.weightTags[tagger.starts[feature]!]!], "NN");
  assert.equal(tagger.tenfoldWeights[tagger.starts[feature]!]! / 10, -2.3);
  assert.deepEqual(exceptions.get("don't"), ["do", "n't"]);
  assert.equal(normaliser.titles.get("Dr"), "Dr");
  assert.equal(unknownWords.input.get("b"), 2);
  assert.equal(vocabulary.get("k"), 53);
});

test("missing packed tables are built, then reused", async () => {
  await loadTextTables(voice, file);
  const made = await stat(file);
  await loadTextTables(voice, file);
  const again = await stat(file);
  assert.deepEqual([again.ino, again.mtimeMs], [made.ino, made.mtimeMs]);
});

test("damaged packed tables are rebuilt", async () => {
  await loadTextTables(voice, file);
  const sound = await readFile(file);
  const flipped = Uint8Array.from(sound);
  flipped[sound.length >> 1]! ^= 1;
  for (const damaged of [flipped, sound.subarray(0, 100), Buffer.alloc(0)]) {
    await writeFile(file, damaged);
    await loadTextTables(voice, file);
    assert.ok(sound.equals(await readFile(file)));
  }
});

test("outdated packed tables are rebuilt", async () => {
  await loadTextTables(voice, file);
  await writeFile(join(voice, "vocab.json"), JSON.stringify({ k: 54 }));
  assert.equal((await loadTextTables(voice, file)).vocabulary.get("k"), 54);
});

test("an unwritable cache does not prevent loading", async () => {
  const tables = await loadTextTables(voice, join(voice, "vocab.json", "no-folder.tables"));
  assert.equal(tables.vocabulary.get("k"), 53);
});

test("a missing or damaged file of the voice is named", async () => {
  await writeFile(join(voice, "tagger.json.gz"), "not gzip");
  await assert.rejects(loadTextTables(voice, file), /tagger\.json\.gz is damaged/);
  await rm(join(voice, "normalize.json"));
  await assert.rejects(loadTextTables(voice, file), /normalize\.json cannot be read/);
});

test("another thread shares the memory of the tables", async () => {
  const tables = await loadTextTables(voice, file);
  const worker = new Worker(
    `const { workerData, parentPort } = require("node:worker_threads");
     workerData.gold.words.slots[0] = 12345;
     parentPort.postMessage(workerData.gold.tagged.size);`,
    { eval: true, workerData: tables },
  );
  const [tagged] = await within("the thread's answer", once(worker, "message"));
  await worker.terminate();
  assert.equal(tagged, 1);
  assert.equal(tables.gold.words.slots[0], 12345);
});

async function writeSmallVoice(folder: string): Promise<void> {
  const files: Readonly<Record<string, unknown>> = {
    "lexicon_us_gold.json.gz": { cat: "kˈæt", US: { DEFAULT: "ˌʌs", NOUN: null } },
    "lexicon_us_silver.json.gz": { constructor: "kənstɹˈʌktəɹ" },
    "tagger.json.gz": {
      tags: ["NN", "DT"],
      tagdict: { the: "DT" },
      vocab: ["cat"],
      weights: { b: { NN: -2.3 } },
    },
    "tokenizer_exceptions.json": { "don't": ["do", "n't"] },
    "normalize.json": {
      months: { jan: "January" },
      titles: { Dr: "Dr" },
      abbreviations: { "Dr.": "Dr" },
      units: { km: ["kilometer", "kilometers"] },
      symbols: { "=": "equals" },
      currency: { $: ["dollar", "dollars"] },
      roman_cardinal: ["Act"],
      roman_ordinal: ["King"],
    },
    "oov.json": { in: ["a", "b"], out: ["a", "b"], maxlen: 24 },
    "vocab.json": { k: 53 },
  };
  for (const [name, content] of Object.entries(files)) {
    const json = Buffer.from(JSON.stringify(content));
    await writeFile(join(folder, name), name.endsWith(".gz") ? gzipSync(json) : json);
  }
}
