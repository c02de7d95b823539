import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import {
  GgufError,
  type GgufHead,
  type GgufTensor,
  HeadCutError,
  readGgufHead,
  sizeOf,
} from "./gguf-head.ts";

/**
 * A GGUF file that is read tensor by tensor. Owns a descriptor until it is closed. This folder knows the format;
 * `writers/llama` is what writes replies with such a file, whatever `writer.kind` says.
 */
export class GgufFile {
  readonly head: GgufHead;
  readonly #descriptor: number;

  private constructor(descriptor: number, head: GgufHead) {
    this.#descriptor = descriptor;
    this.head = head;
  }

  /**
   * Reads the head, and makes sure that every tensor is within the file.
   *
   * @throws GgufError
   */
  static open(path: string): GgufFile {
    const descriptor = readable(() => openSync(path, "r"));
    try {
      const { size } = readable(() => fstatSync(descriptor));
      const head = headOf(descriptor, size);
      for (const tensor of head.tensors) {
        if (head.dataStart + tensor.offset + sizeOf(tensor) > size) throw new GgufError("is cut short");
      }
      return new GgufFile(descriptor, head);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** The bytes of a tensor, or as many of them as `into` has room for, from the one at `from` on. @throws GgufError */
  read(tensor: GgufTensor, into: Uint8Array, from = 0): void {
    readAt(this.#descriptor, into, this.head.dataStart + tensor.offset + from);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function headOf(descriptor: number, size: number): GgufHead {
  for (let length = FIRST_BYTES; ; length *= 4) {
    const bytes = Buffer.alloc(Math.min(length, size));
    readAt(descriptor, bytes, 0);
    try {
      return readGgufHead(bytes);
    } catch (error) {
      if (!(error instanceof HeadCutError) || length >= size) throw error;
    }
  }
}

function readAt(descriptor: number, into: Uint8Array, position: number): void {
  for (let done = 0; done < into.length; ) {
    const bytes = readable(() => readSync(descriptor, into, done, into.length - done, position + done));
    if (bytes === 0) throw new GgufError("is cut short");
    done += bytes;
  }
}

/** Does what reads a file. Its errors are then known from those of whoever writes what was read. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new GgufError(`cannot be read (${code ?? message})`, { cause: error });
  }
}

/** Enough for the head of most, whose vocabularies are the most of it. */
const FIRST_BYTES = 1 << 21;
