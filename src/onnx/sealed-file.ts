import { type FileHandle, open } from "node:fs/promises";
import { CHUNK, digestOf, type Metadata, SEAL, sealOf, UNSEALED } from "./write-safetensors.ts";

/** Chunks that are read and digested at once. */
const AT_ONCE = 4;

/** The longest header that is looked at. */
const MAX_HEADER_BYTES = 2 ** 24;

/**
 * Whether a file is there, can be read, and is what `writeSafetensors` wrote, to the last byte. It is digested on threads
 * of Node's own.
 *
 * @throws the signal's reason
 */
export async function isSound(path: string, signal: AbortSignal): Promise<boolean> {
  try {
    return await withHead(path, async (file, head) => {
      const seal = metadataIn(head)[SEAL];
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
export async function metadataOf(path: string): Promise<Metadata | null> {
  return await withHead(path, async (_, head) => metadataIn(head)).catch(() => null);
}

async function digestsOf(file: FileHandle, head: Buffer, signal: AbortSignal): Promise<Uint8Array[]> {
  const { size } = await file.stat();
  const digests = [await digestOf(head)];
  let next = head.length;
  const work = async (): Promise<void> => {
    const room = Buffer.alloc(CHUNK);
    while (next < size) {
      signal.throwIfAborted();
      const from = next;
      next += CHUNK;
      const bytes = await readFrom(file, room.subarray(0, size - from), from);
      digests[1 + (from - head.length) / CHUNK] = await digestOf(bytes);
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
