import { BitWriter, planRice, writeRice } from "../../src/audio/encode/flac.ts";
import { predictorOf, residualOf } from "../../src/audio/encode/linear-prediction.ts";
import {
  type FlacHead,
  flacFrame,
  flacFrameHead,
  flacHead,
} from "../../test/audio/recordings/flac-writer.ts";

/** A block of the usual size. */
const BLOCK = 4_096;
const BITS = 16;
const VERBATIM = 1;
const PREDICTED = 32;

/** FLAC as encoders write it, with a predictor of order 8 for each channel and block. What is left of a block is left out. */
export function flacOf(channels: readonly Int16Array[], rateHz: number): Uint8Array {
  const blocks = Math.floor((channels[0]?.length ?? 0) / BLOCK);
  const head: FlacHead = { rateHz, channels: channels.length, bits: BITS, samples: blocks * BLOCK };
  const frames = Array.from({ length: blocks }, (_, index) => {
    const subframes = new BitWriter();
    for (const channel of channels) {
      putSubframe(subframes, channel.subarray(index * BLOCK, (index + 1) * BLOCK));
    }
    subframes.align();
    return flacFrame(flacFrameHead(head, index, BLOCK, channels.length - 1), subframes.bytes);
  });
  return Buffer.concat([flacHead(head), ...frames]);
}

function putSubframe(writer: BitWriter, samples: Int16Array): void {
  const predictor = predictorOf(samples);
  if (predictor === null) {
    writer.put(VERBATIM << 1, 8);
    for (const sample of samples) writer.put(sample, BITS);
    return;
  }
  const { coefficients, precision, shift } = predictor;
  const order = coefficients.length;
  writer.put((PREDICTED | (order - 1)) << 1, 8);
  for (const sample of samples.subarray(0, order)) writer.put(sample, BITS);
  writer.put(precision - 1, 4);
  writer.put(shift, 5);
  for (const coefficient of coefficients) writer.put(coefficient, precision);
  const residual = residualOf(samples, predictor);
  writeRice(writer, residual, order, planRice(residual, order));
}
