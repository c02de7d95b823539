import { AudioFormatError } from "../audio-format-error.ts";
import type { BitReader } from "./bit-reader.ts";
import type { DecodingBudget } from "./decoding-budget.ts";

/** Reads one channel of a frame into `samples`, all of them. Throws {@link AudioFormatError} for what has no meaning. */
export function readSubframe(
  reader: BitReader,
  samples: Int32Array,
  bitsPerSample: number,
  budget: DecodingBudget,
): void {
  const header = reader.read(8);
  const wasted = (header & 1) === 0 ? 0 : reader.readUnary() + 1;
  const bits = bitsPerSample - wasted;
  const kind = header >> 1;
  if (kind >= 64 || bits < 1) throw meaningless();
  if (kind === 0) samples.fill(reader.readSigned(bits));
  else if (kind === 1) readVerbatim(reader, samples, bits);
  else if (kind >= 8 && kind <= 12) readPredicted(reader, samples, bits, kind - 8, null, budget);
  else if (kind >= 32) readPredicted(reader, samples, bits, kind - 31, "own", budget);
  else throw meaningless();
  if (wasted > 0) for (let at = 0; at < samples.length; at += 1) samples[at]! <<= wasted;
}

function readVerbatim(reader: BitReader, samples: Int32Array, bits: number): void {
  for (let at = 0; at < samples.length; at += 1) samples[at] = reader.readSigned(bits);
}

/** Fixed predictors by order: what multiplies the sample before, the one before that, and so on. */
const FIXED: readonly (readonly number[])[] = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]];

/** Products of the prediction that cost about what decoding a sample does. */
const ORDERS_PER_UNIT = 8;

function readPredicted(
  reader: BitReader,
  samples: Int32Array,
  bits: number,
  order: number,
  predictor: "own" | null,
  budget: DecodingBudget,
): void {
  if (order > samples.length) throw meaningless();
  budget.chargeWork((samples.length * order) / ORDERS_PER_UNIT);
  for (let at = 0; at < order; at += 1) samples[at] = reader.readSigned(bits);
  let coefficients = FIXED[order] ?? [];
  let shift = 0;
  if (predictor === "own") {
    const precision = reader.read(4) + 1;
    shift = reader.readSigned(5);
    if (precision === 16 || shift < 0) throw meaningless();
    coefficients = Array.from({ length: order }, () => reader.readSigned(precision));
  }
  readResidual(reader, samples, order);
  predict(samples, Float64Array.from(coefficients), 2 ** -shift);
}

/** What the predictor left, by Rice's code in partitions, into the place of the samples. */
function readResidual(reader: BitReader, samples: Int32Array, order: number): void {
  const method = reader.read(2);
  if (method > 1) throw meaningless();
  const parameterBits = method === 0 ? 4 : 5;
  const escapeCode = method === 0 ? 15 : 31;
  const partitionOrder = reader.read(4);
  const size = samples.length >> partitionOrder;
  if (size << partitionOrder !== samples.length || size < order) throw meaningless();
  let at = order;
  for (let end = size; end <= samples.length; end += size) {
    const parameter = reader.read(parameterBits);
    if (parameter === escapeCode) {
      const bits = reader.read(5);
      for (; at < end; at += 1) samples[at] = reader.readSigned(bits);
    } else {
      for (; at < end; at += 1) {
        const folded = reader.readUnary() * 2 ** parameter + reader.read(parameter);
        samples[at] = (folded >>> 1) ^ -(folded & 1);
      }
    }
    reader.check();
  }
}

/** Sums in floating point: they have up to 45 bits, and are exact. */
function predict(samples: Int32Array, coefficients: Float64Array, factor: number): void {
  const order = coefficients.length;
  for (let at = order; at < samples.length; at += 1) {
    let sum = 0;
    for (let back = 0; back < order; back += 1) sum += coefficients[back]! * samples[at - 1 - back]!;
    samples[at] = samples[at]! + Math.floor(sum * factor);
  }
}

function meaningless(): AudioFormatError {
  return new AudioFormatError("it is damaged: a frame of FLAC has no meaning");
}
