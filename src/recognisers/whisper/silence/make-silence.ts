import { openSession } from "../../../tensors/session.ts";
import { floatsOf, type Tensors } from "../../../tensors/tensor.ts";
import { encode } from "../listening/encode.ts";
import { HEAD_WIDTH, type WhisperSizes } from "../weights/whisper-weights.ts";
import { buzz } from "./buzz.ts";
import { SILENCE_GROUP } from "./silence.ts";

/**
 * What the encoder makes of 30 s of silence behind a word or two, to be put behind every clip: the bytes that
 * {@link readSilence} reads.
 *
 * @param encoder path of the graph
 */
export async function makeSilence(encoder: string, sizes: WhisperSizes): Promise<readonly Uint8Array[]> {
  const session = await openSession(encoder, "encoder.onnx", { isExactIn8Bits: true });
  try {
    const encoded = await encode(session, buzz(), sizes.audioPositions);
    return Array.from({ length: sizes.decoderLayers }, (_, layer) => [
      means(encoded, `keys.${layer}`, sizes),
      means(encoded, `values.${layer}`, sizes),
    ]).flat();
  } finally {
    await session.release();
  }
}

/** [heads, positions, 64] → [heads, groups, 64], the mean of each group, little endian. */
function means(encoded: Tensors, name: string, { heads, audioPositions }: WhisperSizes): Uint8Array {
  const all = floatsOf(encoded, name);
  const groups = Math.ceil(audioPositions / SILENCE_GROUP);
  const found = new DataView(new ArrayBuffer(4 * heads * groups * HEAD_WIDTH));
  for (let head = 0; head < heads; head++) {
    for (let group = 0; group < groups; group++) {
      const from = group * SILENCE_GROUP;
      const to = Math.min(from + SILENCE_GROUP, audioPositions);
      for (let at = 0; at < HEAD_WIDTH; at++) {
        let sum = 0;
        for (let position = from; position < to; position++) {
          sum += all[(head * audioPositions + position) * HEAD_WIDTH + at]!;
        }
        found.setFloat32(4 * ((head * groups + group) * HEAD_WIDTH + at), sum / (to - from), true);
      }
    }
  }
  return new Uint8Array(found.buffer);
}
