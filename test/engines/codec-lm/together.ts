import assert from "node:assert/strict";
import type {
  CodeFrame,
  DecodedStream,
  FrameDecoder,
} from "../../../src/engines/codec-lm/mimi/frame-decoder.ts";
import { assertNear } from "./goldens.ts";

/** Frames of eight streams, the last of which have fewer codes. */
function framesOf(codes: readonly CodeFrame[], stream: number): CodeFrame[] {
  return Array.from({ length: 5 * stream + ROUNDS }, (_, at) => {
    const frame = codes[(at * 3 + stream) % codes.length]!;
    return stream < 6 ? frame : frame.slice(0, frame.length / 2);
  });
}

/** Asserts that frames decode alike in chunks of these sizes and in one go. */
export async function assertSameInPieces(
  decoder: FrameDecoder,
  codes: readonly CodeFrame[],
  steps: readonly number[],
  tolerance: number,
): Promise<void> {
  const whole = await decoder.begin().decode(codes);
  const stream = decoder.begin();
  const pieces: Float32Array[] = [];
  for (let at = 0, turn = 0; at < codes.length; turn++) {
    const step = steps[turn % steps.length]!;
    pieces.push(await stream.decode(codes.slice(at, at + step)));
    at += step;
  }
  assertNear(Float32Array.from(pieces.flatMap((piece) => [...piece])), whole, tolerance, `by ${steps}`);
}

const STREAMS = 8;
const ROUNDS = 5;

/**
 * Asserts that streams of different ages sound the same to the bit, decoded together, whether all take part or some.
 *
 * @param decoders of the same weights: all are to give the same samples
 */
export async function assertSameTogether(
  decoders: readonly FrameDecoder[],
  codes: readonly CodeFrame[],
): Promise<void> {
  const spoken = Array.from({ length: STREAMS }, (_, stream) => framesOf(codes, stream));
  const alone: Float32Array[][] = [];
  for (const frames of spoken) {
    const stream = decoders[0]!.begin();
    const samples: Float32Array[] = [];
    for (const frame of frames) samples.push(await stream.decode([frame]));
    alone.push(samples);
  }
  for (const decoder of decoders) {
    const streams = spoken.map((): { stream: DecodedStream; age: number } => ({
      stream: decoder.begin(),
      age: 0,
    }));
    for (const [at, each] of streams.entries()) {
      for (; each.age < 5 * at; each.age++) await each.stream.decode([spoken[at]![each.age]!]);
    }
    for (let round = 0; round < ROUNDS; round++) {
      // In the middle every other one rests.
      const taking = [...streams.keys()].filter((at) => round !== 2 || at % 2 === 0);
      const pieces = taking.map((at) => ({
        stream: streams[at]!.stream,
        codes: spoken[at]![streams[at]!.age]!,
      }));
      const samples = await decoder.decodeTogether(pieces);
      for (const [index, at] of taking.entries()) {
        const { age } = streams[at]!;
        assert.deepEqual(samples[index], alone[at]![age], `stream ${at}, frame ${age}`);
        streams[at]!.age += 1;
      }
    }
  }
}

/** Asserts that a stream of another decoder, and one that appears twice, are refused. */
export async function assertStrangersRefused(decoder: FrameDecoder, frame: CodeFrame): Promise<void> {
  const piece = { stream: decoder.begin(), codes: frame };
  await assert.rejects(decoder.decodeTogether([piece, piece]), /two frames/);
  const stranger = { stream: { ...decoder.begin() }, codes: frame };
  await assert.rejects(decoder.decodeTogether([stranger]), /not one of this decoder's/);
  assert.deepEqual(await decoder.decodeTogether([]), []);
}
