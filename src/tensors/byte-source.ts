import { type FileHandle, open } from "node:fs/promises";

/** Bytes that are read piece by piece: a file, or several that follow one another. */
export interface ByteSource {
  readonly size: number;
  /** @throws WeightsError when fewer are left. */
  read(from: number, length: number): Promise<Uint8Array>;
  /** Reads as many as there is room for. @throws WeightsError when fewer are left. */
  readInto(room: Uint8Array, from: number): Promise<void>;
  close(): Promise<void>;
}

/** Weights that cannot be read, or that are not those of the model that was asked for. */
export class WeightsError extends Error {
  override readonly name = "WeightsError";
}

/** Opens files as if they were one. @throws WeightsError */
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
  const checkRange = (from: number, length: number): void => {
    if (length < 0 || from + length > total) throw new WeightsError("The weights are cut short.");
  };
  const readInto = async (room: Uint8Array, from: number): Promise<void> => {
    const length = room.length;
    checkRange(from, length);
    let done = 0;
    for (const file of files) {
      const at = from + done - file.from;
      while (done < length && at < file.size) {
        const wanted = Math.min(length - done, file.from + file.size - from - done);
        if (wanted <= 0) break;
        const { bytesRead } = await file.handle.read(room, done, wanted, from + done - file.from);
        if (bytesRead === 0) throw new WeightsError("The weights are cut short.");
        done += bytesRead;
      }
    }
  };
  return {
    size: total,
    async read(from, length) {
      checkRange(from, length);
      const bytes = new Uint8Array(length);
      await readInto(bytes, from);
      return bytes;
    },
    readInto,
    close,
  };
}

/** Bytes that are in memory. */
export function inMemory(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    async read(from, length) {
      if (length < 0 || from + length > bytes.length) throw new WeightsError("The weights are cut short.");
      // A copy that is aligned, also of a Buffer, whose slice would be none.
      return new Uint8Array(bytes.subarray(from, from + length));
    },
    async readInto(room, from) {
      if (from + room.length > bytes.length) throw new WeightsError("The weights are cut short.");
      room.set(bytes.subarray(from, from + room.length));
    },
    async close() {},
  };
}
