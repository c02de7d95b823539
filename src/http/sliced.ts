import { Readable } from "node:stream";

/** So much is written at once: small enough that a reader who takes it slowly is seen to take it. */
const SLICE_BYTES = 64 * 1024;

/** A long reply in slices; a short one as it is. */
export function sliced(bytes: Buffer): Buffer | Readable {
  return bytes.length <= SLICE_BYTES ? bytes : Readable.from(slices(bytes), { objectMode: false });
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES);
}
