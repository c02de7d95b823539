import { readFile } from "node:fs/promises";
import { float32, floatsOf, type Tensors } from "../../../tensors/tensor.ts";
import { HEAD_WIDTH, type WhisperSizes } from "../weights/whisper-weights.ts";

/**
 * So many positions of the silence behind a clip are one key and one value, the means of theirs, which weigh as much as
 * all of them: silence is much the same everywhere, and a clip of 2 s would else drag 28 s of it through every step.
 */
export const SILENCE_GROUP = 8;

/** What the encoder makes of the silence behind a clip. */
export interface Silence {
  /**
   * An encoded clip, and the silence behind it up to 30 s.
   *
   * @param clip `keys.0`, `values.0` …, [1, heads, positions, 64]; as many positions as are some whole groups
   * @returns the same with more positions, and `weights`, [positions], as the decoder wants them
   */
  behind(clip: Tensors): Tensors;
}

/** Reads what `makeSilence` made. @throws what the file system says */
export async function readSilence(path: string, sizes: WhisperSizes): Promise<Silence> {
  const { heads, decoderLayers, audioPositions } = sizes;
  const groups = Math.ceil(audioPositions / SILENCE_GROUP);
  const bytes = await readFile(path);
  const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const one = heads * groups * HEAD_WIDTH;
  const names = Array.from({ length: decoderLayers }, (_, layer) => [`keys.${layer}`, `values.${layer}`]);
  const silence = new Map(names.flat().map((name, at) => [name, all.subarray(at * one, (at + 1) * one)]));

  return {
    behind(clip) {
      const own = clip["keys.0"]!.shape[2]!;
      const first = Math.ceil(own / SILENCE_GROUP);
      const positions = own + groups - first;
      const weights = new Float32Array(positions);
      for (let at = own; at < positions; at++) {
        const from = (first + at - own) * SILENCE_GROUP;
        weights[at] = Math.log(Math.min(SILENCE_GROUP, audioPositions - from));
      }
      const joined: Record<string, Tensors[string]> = { weights: float32(weights, [positions]) };
      for (const [name, behind] of silence) {
        if (positions === own) {
          joined[name] = clip[name]!;
          continue;
        }
        const data = new Float32Array(heads * positions * HEAD_WIDTH);
        const spoken = floatsOf(clip, name);
        for (let head = 0; head < heads; head++) {
          const at = head * positions * HEAD_WIDTH;
          data.set(spoken.subarray(head * own * HEAD_WIDTH, (head + 1) * own * HEAD_WIDTH), at);
          const rest = behind.subarray(
            (head * groups + first) * HEAD_WIDTH,
            (head + 1) * groups * HEAD_WIDTH,
          );
          data.set(rest, at + own * HEAD_WIDTH);
        }
        joined[name] = float32(data, [1, heads, positions, HEAD_WIDTH]);
      }
      return joined;
    },
  };
}
