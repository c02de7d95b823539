import type { Random } from "./fuzzer.ts";

/** Boundary values of a byte. */
const EXTREMES = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff];
const MAX_BENDS = 6;
const MAX_BYTES = 64 * 1024;

/** Corrupts a few bits, numbers or sections of a file, or its length. */
export function bentBytes(file: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let bytes = Buffer.from(file);
  const bends = 1 + Math.floor(random() * MAX_BENDS);
  for (let bend = 0; bend < bends && bytes.length > 0; bend += 1) bytes = bent(bytes, other, random);
  return new Uint8Array(bytes.subarray(0, MAX_BYTES));
}

function bent(bytes: Buffer<ArrayBuffer>, other: Uint8Array, random: Random): Buffer<ArrayBuffer> {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  // Half of them in the first bytes, where the headers are.
  const at = upTo(random() < 0.5 ? Math.min(200, bytes.length - 1) : bytes.length - 1);
  const length = upTo(random() < 0.5 ? 8 : 600);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (upTo(8)) {
    case 0:
      return Buffer.concat([head, Buffer.of(bytes[at]! ^ (1 << upTo(7))), tail.subarray(1)]);
    case 1:
      return Buffer.concat([head, Buffer.of(EXTREMES[upTo(EXTREMES.length - 1)]!), tail.subarray(1)]);
    case 2: {
      // A number of two, four or eight bytes in either byte order.
      const size = 2 << upTo(2);
      const number = Buffer.alloc(size, random() < 0.5 ? 0xff : 0);
      if (random() < 0.5) number[random() < 0.5 ? 0 : size - 1] = upTo(255);
      return Buffer.concat([head, number, tail.subarray(size)]);
    }
    case 3:
      return Buffer.from(head);
    case 4:
      return Buffer.concat([head, tail.subarray(length)]);
    case 5:
      return Buffer.concat([head, tail.subarray(0, length), tail]);
    case 6: {
      const times = 1 + upTo(random() < 0.2 ? 400 : 4);
      const part = tail.subarray(0, Math.min(length, 64));
      return Buffer.concat([head, ...Array<Buffer>(times).fill(part), tail]);
    }
    case 7: {
      const from = upTo(other.length);
      return Buffer.concat([head, other.subarray(from, from + length), tail]);
    }
    default:
      return Buffer.concat([head, Buffer.from(Array.from({ length: upTo(9) }, () => upTo(255))), tail]);
  }
}
