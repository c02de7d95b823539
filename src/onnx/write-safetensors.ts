import { createHash, subtle } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";

/** A tensor that is to be written. */
export interface TensorPlan {
  readonly name: string;
  readonly dtype: "F32" | "F16" | "BF16" | "U8";
  readonly shape: readonly number[];
}

/** Tensors that are made together, and how. */
export interface TensorGroup {
  readonly tensors: readonly TensorPlan[];
  /**
   * Their bytes, in the same order, in pieces of any length. A piece is read before the next one is asked for, and not
   * afterwards: its memory may be used again.
   */
  make(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** What a file says about itself, besides its tensors. */
export type Metadata = Readonly<Record<string, string>>;

/** Bytes that are digested together, so that several can be at once. */
export const CHUNK_BYTES = 4 * 2 ** 20;

/** The entry of the metadata that {@link isIntact} holds the file against: {@link sealOf} in hexadecimal. */
export const SEAL_KEY = "sealed_sha256";

/** What stands in the place of the seal while it is computed. */
export const UNSEALED = "0".repeat(64);

/**
 * Writes a safetensors file, making its tensors one after the other. What was made is digested and written while the next
 * is made; a few {@link CHUNK_BYTES}s are in memory. The file carries a seal, and can be checked by it (`sealed-file.ts`).
 *
 * The system is not made to write it through to its disk: what a loss of power leaves behind is told by the seal.
 */
export async function writeSafetensors(
  path: string,
  makings: readonly TensorGroup[],
  metadata: Metadata = {},
): Promise<void> {
  const head = headOf(makings, metadata);
  await rm(path, { force: true });
  const file = await open(path, "wx");
  try {
    const writer = new ChunkWriter(file, head);
    try {
      for (const making of makings) await appendGroup(writer, making);
    } finally {
      await writer.end();
    }
    await writeAll(file, Buffer.from(sealOf(writer.digests)), head.indexOf(UNSEALED));
  } finally {
    await file.close();
  }
}

/** Bytes that {@link writeSafetensors} would write. */
export function bytesToWrite(makings: readonly TensorGroup[], metadata: Metadata = {}): number {
  const tensors = makings.flatMap((making) => making.tensors);
  return headOf(makings, metadata).length + tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
}

/** SHA-256 of the SHA-256 of the head and of each chunk behind it, in hexadecimal. */
export function sealOf(digests: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const digest of digests) hash.update(digest);
  return hash.digest("hex");
}

export async function digestOf(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

/** The length of the header and the header, not sealed yet. The data behind it begins at a multiple of 8. */
function headOf(makings: readonly TensorGroup[], metadata: Metadata): Buffer {
  let end = 0;
  const entries = makings
    .flatMap(({ tensors }) => tensors)
    .map((tensor) => {
      const { name, dtype, shape } = tensor;
      const from = end;
      end += bytesOf(tensor);
      return [name, { dtype, shape, data_offsets: [from, end] }];
    });
  // The seal comes first: what is sealed may look like one.
  const about = { [SEAL_KEY]: UNSEALED, ...metadata };
  const header = Buffer.from(JSON.stringify({ __metadata__: about, ...Object.fromEntries(entries) }));
  const head = Buffer.alloc(8 + Math.ceil(header.length / 8) * 8, " ");
  head.writeBigUInt64LE(BigInt(head.length - 8));
  header.copy(head, 8);
  return head;
}

async function appendGroup(writer: ChunkWriter, { tensors, make }: TensorGroup): Promise<void> {
  const wanted = tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
  let found = 0;
  for await (const piece of make()) {
    found += piece.length;
    await writer.append(piece);
  }
  if (found === wanted) return;
  throw new Error(`${tensors.map(({ name }) => name).join(", ")}: ${found} bytes, not ${wanted}.`);
}

/** Chunks that are digested and written at once. */
const AT_ONCE = 4;

/** Writes bytes behind a head, in chunks. */
class ChunkWriter {
  readonly digests: Uint8Array[] = [];
  readonly #file: FileHandle;
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  #chunk = new Uint8Array(CHUNK_BYTES);
  #filled = 0;
  #position = 0;
  #underWay: Promise<void>[] = [];

  constructor(file: FileHandle, head: Uint8Array) {
    this.#file = file;
    this.#write(head);
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(CHUNK_BYTES - this.#filled, bytes.length - at);
      this.#chunk.set(bytes.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === CHUNK_BYTES) await this.#flush();
    }
  }

  /** Waits until all of it is written. @throws what a write failed with */
  async end(): Promise<void> {
    if (this.#filled > 0) this.#write(this.#chunk.subarray(0, this.#filled));
    this.#filled = 0;
    const failures = await Promise.allSettled(this.#underWay);
    for (const failure of failures) if (failure.status === "rejected") throw failure.reason;
  }

  async #flush(): Promise<void> {
    const full = this.#chunk;
    this.#filled = 0;
    this.#write(full, () => this.#spare.push(full));
    while (this.#underWay.length >= AT_ONCE) await this.#underWay.shift();
    this.#chunk = this.#spare.pop() ?? new Uint8Array(CHUNK_BYTES);
  }

  #write(bytes: Uint8Array, done: () => void = () => {}): void {
    const [at, position] = [this.digests.length, this.#position];
    this.#position += bytes.length;
    this.digests.push(new Uint8Array());
    const work = Promise.all([digestOf(bytes), writeAll(this.#file, bytes, position)]).then(([digest]) => {
      this.digests[at] = digest;
      done();
    });
    // Somebody awaits it later; until then its failure is nobody's.
    work.catch(() => {});
    this.#underWay.push(work);
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

const NUMBER_BYTES = { F32: 4, F16: 2, BF16: 2, U8: 1 } as const;

function bytesOf({ dtype, shape }: TensorPlan): number {
  return shape.reduce((product, size) => product * size, NUMBER_BYTES[dtype]);
}

/** The longest header that is looked at. */
const MAX_HEADER_BYTES = 2 ** 24;

/**
 * Whether a file is there, can be read, and is what `writeSafetensors` wrote, to the last byte. It is digested on threads
 * of Node's own.
 *
 * @throws the signal's reason
 */
export async function isIntact(path: string, signal: AbortSignal): Promise<boolean> {
  try {
    return await withHead(path, async (file, head) => {
      const seal = metadataIn(head)[SEAL_KEY];
      if (seal === undefined || seal.length !== UNSEALED.length) return false;
      head.write(UNSEALED, head.indexOf(seal));
      return seal === sealOf(await digestsOf(file, head, signal));
    });
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** What a safetensors file says about itself; `null` when it cannot be read, or is none. */
export async function readMetadata(path: string): Promise<Metadata | null> {
  return await withHead(path, async (_, head) => metadataIn(head)).catch(() => null);
}

async function digestsOf(file: FileHandle, head: Buffer, signal: AbortSignal): Promise<Uint8Array[]> {
  const { size } = await file.stat();
  const digests = [await digestOf(head)];
  let next = head.length;
  const work = async (): Promise<void> => {
    const room = Buffer.alloc(CHUNK_BYTES);
    while (next < size) {
      signal.throwIfAborted();
      const from = next;
      next += CHUNK_BYTES;
      const bytes = await readFrom(file, room.subarray(0, size - from), from);
      digests[1 + (from - head.length) / CHUNK_BYTES] = await digestOf(bytes);
    }
  };
  // All of them are done before the file is closed.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return digests;
}

/** @param look is given the header with its length in front */
async function withHead<T>(path: string, look: (file: FileHandle, head: Buffer) => Promise<T>): Promise<T> {
  const file = await open(path);
  try {
    const length = Number((await readFrom(file, Buffer.alloc(8), 0)).readBigUInt64LE());
    if (length > MAX_HEADER_BYTES) throw new Error(`${path} is no safetensors file.`);
    return await look(file, await readFrom(file, Buffer.alloc(8 + length), 0));
  } finally {
    await file.close();
  }
}

function metadataIn(head: Buffer): Metadata {
  const { __metadata__: metadata } = JSON.parse(head.toString("utf8", 8)) as { __metadata__?: Metadata };
  return metadata ?? {};
}

async function readFrom(file: FileHandle, room: Buffer, position: number): Promise<Buffer> {
  for (let done = 0; done < room.length; ) {
    const { bytesRead } = await file.read(room, done, room.length - done, position + done);
    if (bytesRead === 0) throw new Error("The file is cut short.");
    done += bytesRead;
  }
  return room;
}
