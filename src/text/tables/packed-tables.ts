import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, gunzipSync } from "node:zlib";
import { buildStringTable, joinStrings, type StringTable } from "./string-table.ts";

/** Increment when the packed format changes, so that older files are rebuilt. */
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

/** Returns a digest of the voice's files and the packed format. */
export async function voiceFingerprint(voiceDir: string): Promise<string> {
  const digest = createHash("sha256").update(`packing ${PACKING}`);
  for (const name of FILES) digest.update(await bytesOf(voiceDir, name));
  return digest.digest("hex");
}

/** Packs a voice's text data. Throws an Error that names a missing or damaged file. */
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
  const path = join(voiceDir, name);
  return await readFile(path).catch((cause: unknown) => {
    throw new Error(`The voice's file ${path} cannot be read: put it back from a fresh copy.`, { cause });
  });
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

export interface TableMeta {
  readonly fingerprint: string;
  readonly gold: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  readonly silver: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  readonly tags: readonly string[];
  readonly exceptions: Readonly<Record<string, readonly string[]>>;
  readonly normaliser: NormaliserJson;
  readonly unknownWords: UnknownWordsJson;
  readonly vocabulary: Readonly<Record<string, number>>;
}

/** The used part of a voice's `normalize.json`. */
export interface NormaliserJson {
  readonly titles: Readonly<Record<string, string>>;
  readonly abbreviations: Readonly<Record<string, string>>;
  readonly symbols: Readonly<Record<string, string>>;
  readonly roman_cardinal: readonly string[];
  readonly roman_ordinal: readonly string[];
}

export interface UnknownWordsJson {
  readonly in: readonly string[];
  readonly out: readonly string[];
  readonly maxlen: number;
}

export type TableArray = Uint8Array | Uint16Array | Int16Array | Uint32Array;

/** Typed arrays over one block of memory, with the small data. */
export interface TableContainer {
  readonly meta: TableMeta;
  uint8(name: string): Uint8Array;
  uint16(name: string): Uint16Array;
  int16(name: string): Int16Array;
  uint32(name: string): Uint32Array;
}

type Sections = Readonly<Record<string, { readonly at: number; readonly length: number }>>;

const MAGIC = "AntiphonText1\n\n\n";
/** Magic, CRC-32 of all that follows, length of the JSON in bytes. */
const HEADER_BYTES = MAGIC.length + 8;
const ALIGNMENT = 8;

/** Writes one block: header, JSON, arrays in this machine's byte order. */
export function writeContainer(meta: TableMeta, arrays: ReadonlyMap<string, TableArray>): Uint8Array {
  const sections: Record<string, { at: number; length: number }> = {};
  let size = 0;
  for (const [name, array] of arrays) {
    sections[name] = { at: size, length: array.length };
    size = aligned(size + array.byteLength);
  }
  const json = new TextEncoder().encode(JSON.stringify({ meta, sections, size }));
  const start = aligned(HEADER_BYTES + json.length);
  const bytes = new Uint8Array(start + size);
  bytes.set(new TextEncoder().encode(MAGIC));
  bytes.set(json, HEADER_BYTES);
  for (const [name, array] of arrays) {
    const at = sections[name]?.at ?? 0;
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), start + at);
  }
  const header = new DataView(bytes.buffer);
  header.setUint32(MAGIC.length + 4, json.length, true);
  header.setUint32(MAGIC.length, crc32(bytes.subarray(MAGIC.length + 4)), true);
  return bytes;
}

/**
 * Opens a block in place; undefined if it is damaged or of another format.
 *
 * @param size in bytes, if the memory is larger
 */
export function readContainer(
  memory: SharedArrayBuffer,
  size: number = memory.byteLength,
): TableContainer | undefined {
  if (size < HEADER_BYTES) return undefined;
  const bytes = new Uint8Array(memory, 0, size);
  const decoder = new TextDecoder();
  if (decoder.decode(bytes.slice(0, MAGIC.length)) !== MAGIC) return undefined;
  const header = new DataView(memory);
  if (header.getUint32(MAGIC.length, true) !== crc32(bytes.subarray(MAGIC.length + 4))) return undefined;
  const jsonBytes = header.getUint32(MAGIC.length + 4, true);
  const json: { meta: TableMeta; sections: Sections } = JSON.parse(
    decoder.decode(bytes.slice(HEADER_BYTES, HEADER_BYTES + jsonBytes)),
  );
  const start = aligned(HEADER_BYTES + jsonBytes);
  const place = (name: string): readonly [number, number] => {
    const section = json.sections[name];
    if (section === undefined) throw new Error(`The text tables hold no "${name}".`);
    return [start + section.at, section.length];
  };
  return {
    meta: json.meta,
    uint8: (name) => new Uint8Array(memory, ...place(name)),
    uint16: (name) => new Uint16Array(memory, ...place(name)),
    int16: (name) => new Int16Array(memory, ...place(name)),
    uint32: (name) => new Uint32Array(memory, ...place(name)),
  };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
