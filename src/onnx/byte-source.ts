import { readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Random-access bytes of one file or several consecutive files. */
export interface ByteSource {
  readonly size: number;
  /** @throws WeightsError when fewer bytes are left. */
  read(from: number, length: number): Promise<Uint8Array>;
  /** Fills `room`. @throws WeightsError when fewer bytes are left. */
  readInto(room: Uint8Array, from: number): Promise<void>;
  /** Reads synchronously: for a few kilobytes that something waits for. */
  readSync(from: number, length: number): Uint8Array;
  close(): Promise<void>;
}

/** Weights that cannot be read or belong to another model. */
export class WeightsError extends Error {
  override readonly name = "WeightsError";
}

/** Opens files as one source. @throws WeightsError */
export async function openFiles(paths: readonly string[]): Promise<ByteSource> {
  const files: { readonly handle: FileHandle; readonly from: number; readonly size: number }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(files.map(({ handle }) => handle.close()));
  };
  let total = 0;
  try {
    for (const path of paths) {
      const handle = await open(path);
      files.push({ handle, from: total, size: 0 });
      const { size } = await handle.stat();
      files[files.length - 1] = { handle, from: total, size };
      total += size;
    }
  } catch (cause) {
    await close();
    throw new WeightsError(`A file of weights cannot be opened: ${paths.join(", ")}.`, { cause });
  }
  /** Returns which bytes of which files cover the range, and their place in the result. */
  const partsOf = (from: number, length: number) =>
    files.flatMap(({ handle, from: begin, size }) => {
      const first = Math.max(from, begin);
      const count = Math.min(from + length, begin + size) - first;
      return count > 0 ? [{ handle, at: first - begin, to: first - from, count }] : [];
    });
  const readInto = async (room: Uint8Array, from: number): Promise<void> => {
    checkRange(from, room.length, total);
    for (const { handle, at, to, count } of partsOf(from, room.length)) {
      for (let done = 0; done < count; ) {
        const { bytesRead } = await handle.read(room, to + done, count - done, at + done);
        done += checked(bytesRead);
      }
    }
  };
  return {
    size: total,
    async read(from, length) {
      const bytes = sized(from, length, total);
      await readInto(bytes, from);
      return bytes;
    },
    readInto,
    readSync(from, length) {
      const bytes = sized(from, length, total);
      for (const { handle, at, to, count } of partsOf(from, length)) {
        for (let done = 0; done < count; ) {
          done += checked(readSync(handle.fd, bytes, to + done, count - done, at + done));
        }
      }
      return bytes;
    },
    close,
  };
}

/** Allocates an aligned buffer for a range that exists. */
function sized(from: number, length: number, total: number): Uint8Array {
  checkRange(from, length, total);
  return new Uint8Array(length);
}

function checkRange(from: number, length: number, total: number): void {
  if (length < 0 || from < 0 || from + length > total) throw cutShort();
}

function checked(bytesRead: number): number {
  if (bytesRead === 0) throw cutShort();
  return bytesRead;
}

function cutShort(): WeightsError {
  return new WeightsError("The weights are cut short.");
}
