import { WeightsError } from "../../../tensors/byte-source.ts";
import type { Variables } from "../../../tensors/variable.ts";
import { HEAD_WIDTH, type WhisperSizes } from "./whisper-weights.ts";

/**
 * A model's sizes by the shapes of its variables.
 *
 * @param placeOf what the file calls the variable that Hugging Face calls so
 * @throws WeightsError when one is missing
 */
export function sizesOf(variables: Variables, placeOf: (name: string) => string): WhisperSizes {
  const size = (name: string, at: number): number => {
    const found = variables.get(placeOf(name))?.shape[at];
    if (found === undefined) throw new WeightsError(`The weights lack ${placeOf(name)}.`);
    return found;
  };
  const layers = (side: string): number => {
    let count = 0;
    while (variables.has(placeOf(`${side}.layers.${count}.fc1.weight`))) count++;
    return count;
  };
  const width = size("decoder.embed_tokens.weight", 1);
  return {
    mels: size("encoder.conv1.weight", 1),
    width,
    heads: width / HEAD_WIDTH,
    encoderLayers: layers("encoder"),
    decoderLayers: layers("decoder"),
    audioPositions: size("encoder.embed_positions.weight", 0),
    textPositions: size("decoder.embed_positions.weight", 0),
    vocabulary: size("decoder.embed_tokens.weight", 0),
  };
}
