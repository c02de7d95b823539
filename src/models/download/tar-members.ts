import { SourceError } from "./pull-error.ts";

const BLOCK = 512;

/**
 * Reads a tar archive from its first byte to its last and hands on the files in it that are wanted, in their order there
 * (POSIX 1003.1, pax; extended headers are passed over, since no name here needs one).
 *
 * @param wanted whether a file's bytes are to be handed on, by its path in the archive
 * @param give is given them, in pieces; what it throws ends the reading
 * @throws SourceError when it is no archive, or cut short
 */
export async function readTar(
  archive: AsyncIterable<Buffer>,
  wanted: (path: string) => boolean,
  give: (path: string, bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  let held: Buffer = Buffer.alloc(0);
  /** What is left of the file that is read, and of what fills its last block. */
  let path: string | null = null;
  let left = 0;
  let padding = 0;
  for await (const piece of archive) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    for (;;) {
      if (left > 0) {
        const bytes = held.subarray(0, left);
        if (bytes.length === 0) break;
        if (path !== null) await give(path, bytes);
        left -= bytes.length;
        held = held.subarray(bytes.length);
      } else if (padding > 0) {
        const skipped = Math.min(padding, held.length);
        if (skipped === 0) break;
        padding -= skipped;
        held = held.subarray(skipped);
      } else if (held.length >= BLOCK) {
        const head = headerIn(held.subarray(0, BLOCK));
        held = held.subarray(BLOCK);
        if (head === null) continue;
        path = head.isFile && wanted(head.path) ? head.path : null;
        left = head.size;
        padding = (BLOCK - (left % BLOCK)) % BLOCK;
      } else break;
    }
  }
  if (left > 0) throw new SourceError("the archive is cut short");
}

/** What stands ahead of a file; null where a block of zeros ends the archive. */
function headerIn(
  block: Buffer,
): { readonly path: string; readonly size: number; readonly isFile: boolean } | null {
  if (block.every((byte) => byte === 0)) return null;
  const text = (from: number, to: number) => block.toString("utf8", from, to).replace(/\0.*$/s, "");
  const size = text(124, 136).trim();
  const sum = text(148, 156).trim();
  if (!/^[0-7]{1,11}$/.test(size) || Number.parseInt(sum, 8) !== sumOf(block)) {
    throw new SourceError("what it sent is no archive");
  }
  const prefix = text(257, 262) === "ustar" ? text(345, 500) : "";
  const name = text(0, 100);
  return {
    path: prefix === "" ? name : `${prefix}/${name}`,
    size: Number.parseInt(size, 8),
    isFile: ["", "0"].includes(text(156, 157)),
  };
}

/** The sum of a header's bytes, its own sum taken for spaces. */
function sumOf(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
}
