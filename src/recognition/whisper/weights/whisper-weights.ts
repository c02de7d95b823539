import { type ByteSource, WeightsError } from "../../../onnx/byte-source.ts";
import { readFloats, type Variables } from "../../../onnx/variable.ts";
import { HEAD_WIDTH, type WhisperSizes } from "../sizes.ts";

/**
 * The numbers of a Whisper model, by the names that Hugging Face gives them, without `model.` in front:
 * `encoder.layers.0.self_attn.q_proj.weight`, [out, in].
 */
export interface WhisperWeights {
  readonly sizes: WhisperSizes;
  /** @throws WeightsError when there is none, or it has another shape. */
  read(name: string, shape: readonly number[]): Promise<Float32Array>;
  close(): Promise<void>;
}

/** Where a file keeps a variable: as one of its own, or as one of the parts of equal size, by rows, that it is stacked of. */
export interface VariableLocation {
  readonly name: string;
  readonly part: number;
  readonly parts: number;
}

/**
 * The weights in a file. They own the source.
 *
 * @param placeOf where the file keeps the variable that Hugging Face calls so
 * @throws WeightsError when one that tells a size is missing
 */
export function weightsOf(
  source: ByteSource,
  variables: Variables,
  placeOf: (name: string) => VariableLocation,
): WhisperWeights {
  return {
    sizes: sizesOf(variables, (name) => placeOf(name).name),
    async read(name, shape) {
      const place = placeOf(name);
      const variable = variables.get(place.name);
      if (variable === undefined) throw new WeightsError(`The weights lack ${place.name}.`);
      const rows = variable.shape[0]! / place.parts;
      if ([rows, ...variable.shape.slice(1)].join() !== shape.join()) {
        throw new WeightsError(`${place.name} is not of the size that the model's others ask for.`);
      }
      const bytes = variable.bytes / place.parts;
      const part = { ...variable, shape, from: variable.from + place.part * bytes, bytes };
      return await readFloats(source, place.name, part);
    },
    close: () => source.close(),
  };
}

/** A model's sizes by the shapes of its variables. */
function sizesOf(variables: Variables, placeOf: (name: string) => string): WhisperSizes {
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
