import { execFile } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type HeteronymTable, parseHeteronyms } from "../tagging/heteronyms.ts";
import { packTables, readContainer, type TableContainer, voiceFingerprint } from "./packed-tables.ts";
import type { StringTable } from "./string-table.ts";

/** A pronouncing dictionary: word → phonemes, or phonemes by part of speech. */
export interface Dictionary {
  readonly words: StringTable;
  /** Phonemes of word i; a single NUL if the word is in {@link tagged}. */
  readonly phonemes: Pick<StringTable, "offsets" | "units">;
  /** Tag → phonemes, including DEFAULT. `null` means spelled. */
  readonly tagged: ReadonlyMap<string, ReadonlyMap<string, string | null>>;
}

/** An averaged perceptron (Collins 2002). */
export interface TaggerTables {
  /** Sorted by code point. */
  readonly tags: readonly string[];
  /** Words with a single tag, and its index. */
  readonly fixedWords: StringTable;
  readonly fixedTags: Uint8Array;
  readonly vocabulary: StringTable;
  readonly features: StringTable;
  /** Feature i has the weights `[starts[i] … starts[i + 1])`: tag index, and the weight times ten. */
  readonly starts: Uint32Array;
  readonly weightTags: Uint8Array;
  readonly tenfoldWeights: Int16Array;
}

export interface NormaliserTables {
  readonly titles: ReadonlyMap<string, string>;
  readonly abbreviations: ReadonlyMap<string, string>;
  readonly symbols: ReadonlyMap<string, string>;
  readonly romanCardinal: readonly string[];
  readonly romanOrdinal: readonly string[];
}

/** Alphabets of the unknown-word network. Ids are positions + 1; 0 is a blank. */
export interface UnknownWordAlphabet {
  readonly input: ReadonlyMap<string, number>;
  readonly output: readonly string[];
  readonly maxChars: number;
}

/** All text data of a voice. Large arrays are shared, not copied, when sent to another thread. */
export interface TextTables {
  readonly gold: Dictionary;
  readonly silver: Dictionary;
  readonly tagger: TaggerTables;
  readonly exceptions: ReadonlyMap<string, readonly string[]>;
  readonly normaliser: NormaliserTables;
  readonly unknownWords: UnknownWordAlphabet;
  readonly heteronyms: HeteronymTable;
  /** Names missing or wrong in the dictionaries → phonemes. Lower-case ones match in any case. */
  readonly names: ReadonlyMap<string, string>;
  /** Phoneme → the acoustic model's id. */
  readonly vocabulary: ReadonlyMap<string, number>;
}

const BUILDER = fileURLToPath(new URL("./build-tables.js", import.meta.url));

const LEXICON = fileURLToPath(new URL("../../../../lexicon/", import.meta.url));

/** Returns the path of a voice's packed tables, in the build folder. */
export function tablesFileOf(voiceDir: string): string {
  return fileURLToPath(new URL(`../../../voices/${basename(resolve(voiceDir))}.tables`, import.meta.url));
}

/**
 * Loads a voice's packed text data, and packs it first if the file is missing, damaged or outdated. Throws an Error
 * that names a missing or damaged file.
 */
export async function loadTextTables(
  voiceDir: string,
  tablesFile = tablesFileOf(voiceDir),
): Promise<TextTables> {
  const fingerprint = await voiceFingerprint(voiceDir);
  const packed =
    (await readCurrent(tablesFile, fingerprint)) ?? (await rebuild(voiceDir, tablesFile, fingerprint));
  return { ...tablesOf(packed), ...(await ownTables()) };
}

type OwnTables = Pick<TextTables, "heteronyms" | "names">;

async function ownTables(): Promise<OwnTables> {
  const [heteronyms, names] = [`${LEXICON}heteronyms.tsv`, `${LEXICON}names.tsv`];
  const lines = (await readFile(names, "utf8")).split("\n").filter((line) => /^[^#]/.test(line));
  return {
    heteronyms: parseHeteronyms(await readFile(heteronyms, "utf8"), heteronyms),
    // Not validated at each start: test/text/names.test.ts validates every line.
    names: new Map(lines.map((line) => line.trim().slice(0, -1).split("\t/") as [string, string])),
  };
}

/** Packing needs 150 MB for a short time, so it runs in another process. */
async function rebuild(voiceDir: string, tablesFile: string, fingerprint: string): Promise<TableContainer> {
  await promisify(execFile)(process.execPath, [BUILDER, voiceDir, tablesFile]).catch(() => undefined);
  const packed = await readCurrent(tablesFile, fingerprint);
  if (packed !== undefined) return packed;
  const bytes = await packTables(voiceDir);
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  const container = readContainer(shared);
  if (container === undefined) throw new Error(`The text tables made from ${voiceDir} cannot be read back.`);
  return container;
}

/**
 * A block above glibc's `M_MMAP_THRESHOLD` (mallopt(3)) returns to the system as soon as it is freed. Unused pages
 * cost no memory.
 */
const RETURNED_BYTES = 33 * 2 ** 20;

/** Reads a packed file, if it is intact and has this fingerprint. */
export async function readCurrent(file: string, fingerprint: string): Promise<TableContainer | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const shared = new SharedArrayBuffer(Math.max(size, RETURNED_BYTES));
    const bytes = new Uint8Array(shared, 0, size);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await handle.read(bytes, at, size - at, at);
      if (bytesRead === 0) return undefined;
      at += bytesRead;
    }
    const container = readContainer(shared, size);
    return container?.meta.fingerprint === fingerprint ? container : undefined;
  } finally {
    await handle.close();
  }
}

function tablesOf(container: TableContainer): Omit<TextTables, keyof OwnTables> {
  const { meta } = container;
  const strings = (name: string): StringTable => ({
    slots: container.uint32(`${name}.slots`),
    offsets: container.uint32(`${name}.offsets`),
    units: container.uint16(`${name}.units`),
  });
  const dictionary = (name: "gold" | "silver"): Dictionary => ({
    words: strings(`${name}.words`),
    phonemes: {
      offsets: container.uint32(`${name}.phonemes.offsets`),
      units: container.uint16(`${name}.phonemes.units`),
    },
    tagged: new Map(Object.entries(meta[name]).map(([word, byTag]) => [word, mapOf(byTag)])),
  });
  const { normaliser } = meta;
  return {
    gold: dictionary("gold"),
    silver: dictionary("silver"),
    tagger: {
      tags: meta.tags,
      fixedWords: strings("tagger.fixed"),
      fixedTags: container.uint8("tagger.fixedTags"),
      vocabulary: strings("tagger.vocabulary"),
      features: strings("tagger.features"),
      starts: container.uint32("tagger.starts"),
      weightTags: container.uint8("tagger.weightTags"),
      tenfoldWeights: container.int16("tagger.tenfoldWeights"),
    },
    exceptions: mapOf(meta.exceptions),
    normaliser: {
      titles: mapOf(normaliser.titles),
      abbreviations: mapOf(normaliser.abbreviations),
      symbols: mapOf(normaliser.symbols),
      romanCardinal: normaliser.roman_cardinal,
      romanOrdinal: normaliser.roman_ordinal,
    },
    unknownWords: {
      input: new Map(meta.unknownWords.in.map((character, index) => [character, index + 1])),
      output: meta.unknownWords.out,
      maxChars: meta.unknownWords.maxlen,
    },
    vocabulary: mapOf(meta.vocabulary),
  };
}

function mapOf<T>(object: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(object));
}
