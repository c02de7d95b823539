import { crc16 } from "../recordings/crc16.ts";
import { BitWriter } from "./bit-writer.ts";
import { type Predictor, predictorOf, residualOf } from "./linear-prediction.ts";
import { planRice, type RicePlan, writeRice } from "./rice.ts";

/**
 * One frame of FLAC (RFC 9639, 9): one channel of 16 bits at 24 kHz, in blocks of one length but for the last. Its
 * samples are written as they are where a prediction would take more.
 *
 * @param samples 1 to 65536
 * @param index of the frame in its stream, from 0
 */
export function flacFrame(samples: Int16Array, index: number): Uint8Array {
  const writer = new BitWriter();
  putHeader(writer, samples.length, index);
  putSubframe(writer, samples);
  writer.align();
  const sum = crc16(writer.bytes);
  writer.put(sum, 16);
  return writer.bytes.slice();
}

const SYNC_FIXED_BLOCKS = 0xfff8;
/** The length follows in 16 bits; 24 kHz; one channel; 16 bits. */
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

/** As UTF-8 writes a number, of up to 31 bits (9.1.5). */
function codedNumber(value: number): number[] {
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

/** CRC-8 with the polynomial 0x07 (9.1.8). */
function crc8(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = ((value << 1) ^ (value & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return value;
}
