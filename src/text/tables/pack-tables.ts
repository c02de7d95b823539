import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { buildStringTable, joinStrings, type StringTable } from "./string-table.ts";
import {
  type NormaliserJson,
  type TableArray,
  type TableMeta,
  type UnknownWordsJson,
  writeContainer,
} from "./table-container.ts";

/** Goes up with every change of what is packed, so that older files are made anew. */
const PACKING = 1;
const FILES = [
  "lexicon_us_gold.json.gz",
  "lexicon_us_silver.json.gz",
  "tagger.json.gz",
  "tokenizer_exceptions.json",
  "normalize.json",
  "oov.json",
  "vocab.json",
] as const;

type VoiceFile = (typeof FILES)[number];
type DictionaryJson = Readonly<Record<string, string | Readonly<Record<string, string | null>>>>;

interface TaggerJson {
  readonly tags: readonly string[];
  readonly tagdict: Readonly<Record<string, string>>;
  readonly vocab: readonly string[];
  readonly weights: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** What packed tables must have been made from: a digest of the voice's files and of how they are packed. */
export async function voiceFingerprint(voiceDir: string): Promise<string> {
  const digest = createHash("sha256").update(`packing ${PACKING}`);
  for (const name of FILES) digest.update(await bytesOf(voiceDir, name));
  return digest.digest("hex");
}

/** Reads a voice's text data and packs it. Throws one sentence that names a missing or damaged file. */
export async function packTables(voiceDir: string): Promise<Uint8Array> {
  const arrays = new Map<string, TableArray>();
  const meta: TableMeta = {
    fingerprint: await voiceFingerprint(voiceDir),
    gold: packDictionary(arrays, "gold", await jsonOf(voiceDir, "lexicon_us_gold.json.gz")),
    silver: packDictionary(arrays, "silver", await jsonOf(voiceDir, "lexicon_us_silver.json.gz")),
    tags: packTagger(arrays, await jsonOf(voiceDir, "tagger.json.gz")),
    exceptions: await jsonOf(voiceDir, "tokenizer_exceptions.json"),
    normaliser: await jsonOf<NormaliserJson>(voiceDir, "normalize.json"),
    unknownWords: await jsonOf<UnknownWordsJson>(voiceDir, "oov.json"),
    vocabulary: await jsonOf(voiceDir, "vocab.json"),
  };
  return writeContainer(meta, arrays);
}

function packDictionary(
  arrays: Map<string, TableArray>,
  name: string,
  entries: DictionaryJson,
): TableMeta["gold"] {
  const tagged: Record<string, Readonly<Record<string, string | null>>> = {};
  const phonemes = Object.entries(entries).map(([word, entry]) => {
    if (typeof entry === "string") return entry;
    tagged[word] = entry;
    return "\0";
  });
  addStrings(arrays, `${name}.words`, buildStringTable(Object.keys(entries)));
  addStrings(arrays, `${name}.phonemes`, joinStrings(phonemes));
  return tagged;
}

function packTagger(arrays: Map<string, TableArray>, tagger: TaggerJson): readonly string[] {
  const tags = [...tagger.tags].sort();
  const numberOf = new Map(tags.map((tag, index) => [tag, index]));
  const features = Object.entries(tagger.weights);
  const starts = new Uint32Array(features.length + 1);
  const weightTags: number[] = [];
  const tenfoldWeights: number[] = [];
  for (const [index, [, weights]] of features.entries()) {
    for (const [tag, weight] of Object.entries(weights)) {
      weightTags.push(numberOf.get(tag) ?? 0);
      tenfoldWeights.push(Math.round(weight * 10));
    }
    starts[index + 1] = weightTags.length;
  }
  const fixed = Object.entries(tagger.tagdict);
  addStrings(arrays, "tagger.fixed", buildStringTable(fixed.map(([word]) => word)));
  arrays.set(
    "tagger.fixedTags",
    Uint8Array.from(fixed, ([, tag]) => numberOf.get(tag) ?? 0),
  );
  addStrings(arrays, "tagger.vocabulary", buildStringTable(tagger.vocab));
  addStrings(arrays, "tagger.features", buildStringTable(features.map(([feature]) => feature)));
  arrays.set("tagger.starts", starts);
  arrays.set("tagger.weightTags", Uint8Array.from(weightTags));
  arrays.set("tagger.tenfoldWeights", Int16Array.from(tenfoldWeights));
  return tags;
}

function addStrings(arrays: Map<string, TableArray>, name: string, table: Partial<StringTable>): void {
  for (const [part, array] of Object.entries(table)) arrays.set(`${name}.${part}`, array);
}

async function bytesOf(voiceDir: string, name: VoiceFile): Promise<Buffer> {
  try {
    return await readFile(join(voiceDir, name));
  } catch (cause) {
    throw new Error(
      `The voice's file ${join(voiceDir, name)} cannot be read: put it back from a fresh copy.`,
      {
        cause,
      },
    );
  }
}

async function jsonOf<T>(voiceDir: string, name: VoiceFile): Promise<T> {
  const bytes = await bytesOf(voiceDir, name);
  try {
    return JSON.parse((name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8"));
  } catch (cause) {
    throw new Error(`The voice's file ${join(voiceDir, name)} is damaged: put it back from a fresh copy.`, {
      cause,
    });
  }
}
