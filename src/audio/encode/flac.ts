import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../format.ts";
import { joinedBytes } from "../joined.ts";
import { pcm16Bytes } from "../pcm.ts";
import type { Encoder } from "./encoder.ts";
import { flacFrame } from "./flac-frame.ts";

/** An MD5 that is fed piece by piece. */
export interface Digest {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

/**
 * FLAC (RFC 9639), without loss and without delay: a frame of speech is a frame of FLAC. While it is being made it has
 * neither length nor checksum, which is what a decoder takes for unknown.
 *
 * @param digest where there is none, a finished file has no checksum either
 */
export function flacEncoder(digest: Digest | null): Encoder {
  const block = new Int16Array(FRAME_SAMPLES);
  let filled = 0;
  let samples = 0;
  let frames = 0;
  let md5: Uint8Array = NO_MD5;

  const closeBlock = (): Uint8Array => {
    const frame = flacFrame(block.subarray(0, filled), frames++);
    filled = 0;
    return frame;
  };
  return {
    head: () => headOf(0, NO_MD5),
    push(pcm) {
      samples += pcm.length;
      digest?.update(pcm16Bytes(pcm));
      const ready: Uint8Array[] = [];
      for (let at = 0; at < pcm.length; ) {
        const part = pcm.subarray(at, at + FRAME_SAMPLES - filled);
        block.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled === FRAME_SAMPLES) ready.push(closeBlock());
      }
      return joinedBytes(ready);
    },
    end() {
      md5 = digest?.digest() ?? NO_MD5;
      return filled > 0 ? closeBlock() : joinedBytes([]);
    },
    finishedHead: () => headOf(samples, md5),
    free: () => {},
  };
}

const NO_MD5 = new Uint8Array(16);
const BITS = 16;
/** `fLaC`. */
const MARK = 0x664c6143;

/** The mark, and the one block of metadata that there has to be (8.2): sizes of frames are unknown (0). */
function headOf(samples: number, md5: Uint8Array): Uint8Array {
  const head = new Uint8Array(42);
  const view = new DataView(head.buffer);
  view.setUint32(0, MARK);
  view.setUint32(4, 0x80_00_00_22);
  view.setUint16(8, FRAME_SAMPLES);
  view.setUint16(10, FRAME_SAMPLES);
  // 20 bits of rate, 3 of channels less one, 5 of bits less one, and 36 of length.
  view.setBigUint64(
    18,
    (BigInt(SAMPLE_RATE_HZ) << 44n) | (BigInt(BITS - 1) << 36n) | BigInt.asUintN(36, BigInt(samples)),
  );
  head.set(md5, 26);
  return head;
}
