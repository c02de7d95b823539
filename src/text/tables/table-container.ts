import { crc32 } from "node:zlib";

/** The small data of a voice, as its JSON files have it, beside the arrays. */
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

/** What is used of a voice's `normalize.json`. */
export interface NormaliserJson {
  readonly titles: Readonly<Record<string, string>>;
  readonly abbreviations: Readonly<Record<string, string>>;
  readonly symbols: Readonly<Record<string, string>>;
  readonly roman_cardinal: readonly string[];
  readonly roman_ordinal: readonly string[];
}

/** `oov.json` of a voice. */
export interface UnknownWordsJson {
  readonly in: readonly string[];
  readonly out: readonly string[];
  readonly maxlen: number;
}

export type TableArray = Uint8Array | Uint16Array | Int16Array | Uint32Array;

/** Named arrays over one block of memory, with the small data. */
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

/** Lays arrays and small data out in one block: header, JSON, arrays, in this machine's byte order. */
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
 * Opens a block in place. Nothing where it is not such a block, is of another format, or is damaged.
 *
 * @param size its bytes, where the memory has more
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
