/** How the numbers of a tensor are stored, by the format's codes: 32 and 16 bits, and blocks of 4 and of 8 bits. */
export const F32 = 0;
export const F16 = 1;
export const Q4_1 = 3;
export const Q8_0 = 8;

/** A tensor of a file. */
export interface GgufTensor {
  readonly name: string;
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  readonly type: number;
  /** Of its first byte, counted from where tensors begin. */
  readonly offset: number;
}

/** What stands before the numbers of a GGUF file. */
export interface GgufHead {
  readonly version: number;
  /** The metadata as they are written; what is a number or a text also by name. */
  readonly metadataBytes: Buffer;
  readonly metadataCount: number;
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: readonly GgufTensor[];
  /** Tensors begin at multiples of it. */
  readonly alignment: number;
  /** Where tensors begin in the file. */
  readonly dataStart: number;
}

interface MetadataValue {
  readonly value: number | string;
  /** Of its first byte within the metadata's. */
  readonly at: number;
}

/** A file that is not, or no longer, what it should be. The message completes "the file …". */
export class GgufError extends Error {
  override readonly name = "GgufError";
}

/** What was given ends within the head: a longer piece of the file may hold all of it. */
export class HeadCutError extends GgufError {
  constructor() {
    super("is cut short");
  }
}

/**
 * Reads the head from a file's first bytes.
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 *
 * @throws HeadCutError where they end before it does; GgufError when it is none.
 */
export function readGgufHead(bytes: Buffer): GgufHead {
  const reader = new Reader(bytes);
  if (reader.take(4).toString("latin1") !== "GGUF") throw new GgufError("is not a GGUF file");
  const version = reader.u32();
  if (version < 2 || version > 3)
    throw new GgufError(`is of version ${version} of GGUF, which is not supported`);
  const tensorCount = reader.size();
  const metadataCount = reader.size();
  const metadata = new Map<string, MetadataValue>();
  const metadataAt = reader.at;
  for (let index = 0; index < metadataCount; index++) {
    const key = reader.text();
    const type = reader.u32();
    const at = reader.at - metadataAt;
    const value = type === ARRAY ? reader.skipArray() : reader.value(type);
    if (value !== null) metadata.set(key, { value, at });
  }
  const metadataBytes = bytes.subarray(metadataAt, reader.at);
  const alignment = metadata.get("general.alignment")?.value ?? 32;
  if (typeof alignment !== "number" || !(alignment >= 8 && alignment % 8 === 0)) {
    throw new GgufError(`has the alignment ${alignment}`);
  }
  const tensors: GgufTensor[] = [];
  for (let index = 0; index < tensorCount; index++) tensors.push(reader.tensor());
  const dataStart = alignedTo(alignment, reader.at);
  return { version, metadataBytes, metadataCount, metadata, tensors, alignment, dataStart };
}

/** The bytes of a head, up to where tensors begin. */
export function ggufHeadBytes(head: Omit<GgufHead, "dataStart" | "metadata">): Buffer {
  const pieces = [
    Buffer.from("GGUF"),
    u32(head.version),
    u64(head.tensors.length),
    u64(head.metadataCount),
    head.metadataBytes,
  ];
  for (const { name, shape, type, offset } of head.tensors) {
    const text = Buffer.from(name);
    pieces.push(u64(text.length), text, u32(shape.length), ...shape.map(u64), u32(type), u64(offset));
  }
  const bytes = Buffer.concat(pieces);
  return Buffer.concat([bytes, Buffer.alloc(alignedTo(head.alignment, bytes.length) - bytes.length)]);
}

/** The next multiple. */
export function alignedTo(alignment: number, offset: number): number {
  return Math.ceil(offset / alignment) * alignment;
}

/** The bytes of a tensor's numbers. @throws GgufError where that is not known here. */
export function sizeOf({ name, shape, type }: Pick<GgufTensor, "name" | "shape" | "type">): number {
  const [numbers, bytes] = LAYOUTS.get(type) ?? [];
  if (numbers === undefined || bytes === undefined) {
    throw new GgufError(`has numbers of type ${type} in ${name}, which are not known here`);
  }
  const [columns = 1, ...rest] = shape;
  if (columns % numbers !== 0) throw new GgufError(`has rows of ${columns} numbers in blocks in ${name}`);
  return rest.reduce((size, length) => size * length, (columns / numbers) * bytes);
}

/** How many numbers take how many bytes. */
const LAYOUTS: ReadonlyMap<number, readonly [numbers: number, bytes: number]> = new Map([
  [F32, [1, 4]],
  [F16, [1, 2]],
  [Q4_1, [32, 20]],
  [Q8_0, [32, 34]],
]);

/** Bytes of the metadata's numbers, by the format's codes of types; a text and a list have none. */
const NUMBERS: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const TEXT = 8;
const ARRAY = 9;
const MAX_DIMENSIONS = 4;

class Reader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(length: number): Buffer {
    if (length > this.#bytes.length - this.at) throw new HeadCutError();
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  /** A length, a count or an offset. */
  size(): number {
    const size = this.take(8).readBigUInt64LE();
    if (size > Number.MAX_SAFE_INTEGER) throw new GgufError("is damaged: it has an impossible size in it");
    return Number(size);
  }

  text(): string {
    return this.take(this.size()).toString("utf8");
  }

  /** `null` for a kind of number that nobody asks for. */
  value(type: number): number | string | null {
    if (type === TEXT) return this.text();
    const bytes = this.take(bytesOf(type));
    if (type === 4) return bytes.readUInt32LE();
    if (type === 6) return bytes.readFloatLE();
    return null;
  }

  skipArray(): null {
    const type = this.u32();
    const count = this.size();
    if (type === TEXT) for (let index = 0; index < count; index++) this.take(this.size());
    else this.take(count * bytesOf(type));
    return null;
  }

  tensor(): GgufTensor {
    const name = this.text();
    const dimensions = this.u32();
    if (dimensions > MAX_DIMENSIONS) throw new GgufError(`is damaged: ${name} has ${dimensions} dimensions`);
    const shape = Array.from({ length: dimensions }, () => this.size());
    return { name, shape, type: this.u32(), offset: this.size() };
  }
}

function bytesOf(type: number): number {
  const bytes = NUMBERS[type] ?? 0;
  if (bytes === 0) throw new GgufError(`is damaged: it has metadata of type ${type}`);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
