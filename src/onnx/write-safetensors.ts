import { createHash, subtle } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";

export interface TensorPlan {
  readonly name: string;
  readonly dtype: "F32" | "F16" | "BF16" | "U8";
  readonly shape: readonly number[];
}

/** Tensors that are computed together. */
export interface TensorGroup {
  readonly tensors: readonly TensorPlan[];
  /**
   * Yields their bytes, in order, in chunks of any length. Each chunk is consumed before the next one is requested,
   * so its memory may be reused.
   */
  make(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export type Metadata = Readonly<Record<string, string>>;

/** Size of the chunks that are hashed separately, several at once. */
export const CHUNK_BYTES = 4 * 2 ** 20;

/** Metadata entry with the seal ({@link sealOf}) that {@link isIntact} checks. */
export const SEAL_KEY = "sealed_sha256";

/** Placeholder of the seal while it is computed. */
export const UNSEALED = "0".repeat(64);

/**
 * Writes a safetensors file tensor by tensor; hashes and writes finished chunks meanwhile, a few {@link CHUNK_BYTES}
 * in memory. The file is not synced to disk: its seal reveals what a power loss left incomplete.
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

/** Returns the size of the file that {@link writeSafetensors} would write. */
export function bytesToWrite(makings: readonly TensorGroup[], metadata: Metadata = {}): number {
  const tensors = makings.flatMap((making) => making.tensors);
  return headOf(makings, metadata).length + tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
}

/** Returns the SHA-256 of the SHA-256 of the header and of each chunk, in hexadecimal. */
export function sealOf(digests: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const digest of digests) hash.update(digest);
  return hash.digest("hex");
}

export async function digestOf(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

/** Returns the header and its length, with the placeholder seal, padded to a multiple of 8 bytes. */
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
  // The seal comes first: other metadata may look like one.
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

/** Chunks hashed and written, or read, at once. */
const AT_ONCE = 4;

/** Writes data after a header, in chunks. */
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

  /** Waits until everything is written. @throws what a write failed with */
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
    // Awaited later: avoids an unhandled rejection until then.
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

const MAX_HEADER_BYTES = 2 ** 24;

/**
 * Returns whether a file is readable and exactly as `writeSafetensors` wrote it. Hashes on Node's thread pool.
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

/** Returns a safetensors file's metadata; `null` if it is unreadable or another kind of file. */
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
  // All reads end before the file is closed.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return digests;
}

/** @param look gets the header, with its length first */
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
