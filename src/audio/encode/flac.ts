import { crc8, crc16 } from "../checksums.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../format.ts";
import { joinBytes, pcm16Bytes } from "../pcm.ts";
import { vorbisComments } from "./chapters.ts";
import type { Encoder } from "./encoder.ts";
import { type Predictor, predictorOf, residualOf } from "./linear-prediction.ts";

/** Incremental MD5. */
interface Digest {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

/**
 * Encodes FLAC (RFC 9639) without loss or delay: a frame of speech is a frame of FLAC. Length and checksum are
 * unknown until the end, which decoders accept.
 *
 * @param digest without one, the finished file has no checksum either
 * @param at samples of the same file that were encoded before: whole frames
 */
export function flacEncoder(digest: Digest | null, at = 0): Encoder {
  const block = new Int16Array(FRAME_SAMPLES);
  let filled = 0;
  let samples = at;
  let frames = at / FRAME_SAMPLES;
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
      for (let from = 0; from < pcm.length; ) {
        const part = pcm.subarray(from, from + FRAME_SAMPLES - filled);
        block.set(part, filled);
        filled += part.length;
        from += part.length;
        if (filled === FRAME_SAMPLES) ready.push(closeBlock());
      }
      return joinBytes(ready);
    },
    end() {
      md5 = digest?.digest() ?? NO_MD5;
      return filled > 0 ? closeBlock() : joinBytes([]);
    },
    finishedHead: () => headOf(samples, md5),
    free: () => {},
  };
}

/** Returns the beginning of such a file; 0 samples stand for an unknown number. */
export function flacHead(samples: number, comments: readonly string[] = []): Uint8Array {
  const head = headOf(samples, NO_MD5);
  if (comments.length === 0) return head;
  const body = vorbisComments(comments);
  // The comments (8.6) are the last block, and the stream's properties are not.
  head[4] = 0;
  const block = Uint8Array.of(0x84, body.length >> 16, body.length >> 8, body.length);
  return joinBytes([head, block, body]);
}

const NO_MD5 = new Uint8Array(16);
const BITS = 16;
/** `fLaC`. */
const MARK = 0x664c6143;

/** Writes the mark and the mandatory metadata block (8.2); frame sizes are unknown (0). */
function headOf(samples: number, md5: Uint8Array): Uint8Array {
  const head = new Uint8Array(42);
  const view = new DataView(head.buffer);
  view.setUint32(0, MARK);
  view.setUint32(4, 0x80_00_00_22);
  view.setUint16(8, FRAME_SAMPLES);
  view.setUint16(10, FRAME_SAMPLES);
  // 20 bits of rate, 3 of channels less one, 5 of bits less one, 36 of length.
  view.setBigUint64(
    18,
    (BigInt(SAMPLE_RATE_HZ) << 44n) | (BigInt(BITS - 1) << 36n) | BigInt.asUintN(36, BigInt(samples)),
  );
  head.set(md5, 26);
  return head;
}

/**
 * Encodes one frame (RFC 9639, 9): one channel of 16 bits at 24 kHz, in blocks of equal length except the last.
 * Samples are stored verbatim if a prediction would take more.
 *
 * @param samples 1 to 65536
 * @param index number of the frame in its stream, from 0
 */
function flacFrame(samples: Int16Array, index: number): Uint8Array {
  const writer = new BitWriter();
  putHeader(writer, samples.length, index);
  putSubframe(writer, samples);
  writer.align();
  const sum = crc16(writer.bytes);
  writer.put(sum, 16);
  return writer.bytes.slice();
}

const SYNC_FIXED_BLOCKS = 0xfff8;
/** Length follows in 16 bits; 24 kHz; one channel; 16 bits. */
const LENGTH_FOLLOWS = 7;
const RATE_24_KHZ = 7;
const MONO = 0;
const BITS_16 = 4;

function putHeader(writer: BitWriter, length: number, index: number): void {
  writer.put(SYNC_FIXED_BLOCKS, 16);
  writer.put((LENGTH_FOLLOWS << 4) | RATE_24_KHZ, 8);
  writer.put((MONO << 4) | (BITS_16 << 1), 8);
  for (const byte of codedNumber(index)) writer.put(byte, 8);
  writer.put(length - 1, 16);
  writer.put(crc8(writer.bytes), 8);
}

const CONSTANT = 0;
const VERBATIM = 1;
const PREDICTED = 32;
const SAMPLE_BITS = 16;

function putSubframe(writer: BitWriter, samples: Int16Array): void {
  if (samples.every((sample) => sample === samples[0])) {
    writer.put(CONSTANT << 1, 8);
    writer.put(samples[0]!, SAMPLE_BITS);
    return;
  }
  const predictor = predictorOf(samples);
  const residual = predictor === null ? null : residualOf(samples, predictor);
  const plan = residual === null ? null : planRice(residual, predictor!.coefficients.length);
  if (predictor === null || residual === null || plan === null || plan.bits > SAMPLE_BITS * samples.length) {
    writer.put(VERBATIM << 1, 8);
    for (const sample of samples) writer.put(sample, SAMPLE_BITS);
    return;
  }
  putPredicted(writer, samples, predictor, residual, plan);
}

function putPredicted(
  writer: BitWriter,
  samples: Int16Array,
  { coefficients, precision, shift }: Predictor,
  residual: Int32Array,
  plan: RicePlan,
): void {
  const order = coefficients.length;
  writer.put((PREDICTED | (order - 1)) << 1, 8);
  for (const sample of samples.subarray(0, order)) writer.put(sample, SAMPLE_BITS);
  writer.put(precision - 1, 4);
  writer.put(shift, 5);
  for (const coefficient of coefficients) writer.put(coefficient, precision);
  writeRice(writer, residual, order, plan);
}

/** Encodes a number of up to 31 bits as UTF-8 does (9.1.5). */
export function codedNumber(value: number): number[] {
  if (value < 0x80) return [value];
  const tail: number[] = [];
  let rest = value;
  let room = 0x40;
  do {
    tail.unshift(0x80 | (rest & 0x3f));
    rest >>>= 6;
    room >>= 1;
  } while (rest >= room);
  return [(0x100 - 2 * room) | rest, ...tail];
}

/** Division of a residual into equal partitions with a parameter each, and its cost in bits. */
interface RicePlan {
  readonly partitionOrder: number;
  readonly parameters: readonly number[];
  readonly bits: number;
}

const MAX_PARTITION_ORDER = 6;
const MAX_PARAMETER = 14;
const PARAMETER_BITS = 4;

/**
 * Finds the cheapest Rice coding of a residual (RFC 9639, 9.2.7; Rice, "Some practical universal noiseless coding
 * techniques", 1979). The cost is estimated from sums: a partition's share above its lowest bits, plus a parameter's
 * bits for each value.
 *
 * @param order values at the beginning that are not written
 */
export function planRice(residual: Int32Array, order: number): RicePlan {
  let best: RicePlan | null = null;
  for (let partitionOrder = 0; partitionOrder <= MAX_PARTITION_ORDER; partitionOrder += 1) {
    const size = residual.length >> partitionOrder;
    if (size << partitionOrder !== residual.length || size <= order) break;
    const plan = planParts(residual, order, partitionOrder, size);
    if (best === null || plan.bits < best.bits) best = plan;
  }
  if (best === null) throw new RangeError("A residual has to be longer than what is not written of it.");
  return best;
}

export function writeRice(
  writer: BitWriter,
  residual: Int32Array,
  order: number,
  { partitionOrder, parameters }: RicePlan,
): void {
  writer.put(0, 2);
  writer.put(partitionOrder, 4);
  const size = residual.length >> partitionOrder;
  for (const [part, parameter] of parameters.entries()) {
    writer.put(parameter, PARAMETER_BITS);
    for (let i = Math.max(order, part * size); i < (part + 1) * size; i += 1) {
      const value = foldSign(residual[i]!);
      const zeros = value >>> parameter;
      const low = value & ((1 << parameter) - 1);
      if (zeros + 1 + parameter <= 24) writer.put((1 << parameter) | low, zeros + 1 + parameter);
      else {
        writer.unary(zeros);
        writer.put(low, parameter);
      }
    }
  }
}

function planParts(residual: Int32Array, order: number, partitionOrder: number, size: number): RicePlan {
  const parameters: number[] = [];
  let bits = 6;
  for (let from = 0; from < residual.length; from += size) {
    let sum = 0;
    const first = Math.max(order, from);
    for (let i = first; i < from + size; i += 1) sum += foldSign(residual[i]!);
    const count = from + size - first;
    let parameter = 0;
    while (parameter < MAX_PARAMETER && count * 2 ** (parameter + 1) < sum) parameter += 1;
    parameters.push(parameter);
    bits += PARAMETER_BITS + count * (parameter + 1) + sum / 2 ** parameter;
  }
  return { partitionOrder, parameters, bits };
}

/** Maps 0, -1, 1, -2 … to 0, 1, 2, 3 … */
function foldSign(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** Writes bits, most significant first, into memory that grows. */
export class BitWriter {
  #bytes = new Uint8Array(8_192);
  #length = 0;
  #held = 0;
  #heldBits = 0;

  /** Whole bytes written so far; a view that the next write may change. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Writes the lowest `count` bits of a value; `count` is 0 to 24. */
  put(value: number, count: number): void {
    this.#held = (this.#held << count) | (value & ((1 << count) - 1));
    this.#heldBits += count;
    if (this.#length + 4 > this.#bytes.length) this.#grow();
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8;
      this.#bytes[this.#length++] = this.#held >>> this.#heldBits;
    }
  }

  /** Writes that many zeros and a one. */
  unary(zeros: number): void {
    let left = zeros;
    for (; left >= 24; left -= 24) this.put(0, 24);
    this.put(1, left + 1);
  }

  /** Pads the last byte with zeros. */
  align(): void {
    if (this.#heldBits > 0) this.put(0, 8 - this.#heldBits);
  }

  #grow(): void {
    const larger = new Uint8Array(2 * this.#bytes.length);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
