import { type ByteSource, WeightsError } from "./byte-source.ts";
import { readSafetensors } from "./safetensors-file.ts";
import { readFloats, type Variables } from "./variable.ts";
import { HEAD_WIDTH, type WhisperSizes, type WhisperWeights } from "./whisper-weights.ts";

/** The weights in the `model.safetensors` of a hub. They own the source. @throws WeightsError */
export async function hubWeights(source: ByteSource): Promise<WhisperWeights> {
  const variables = withoutPrefix(await readSafetensors(source));
  return {
    sizes: sizesOf(variables),
    async read(name, shape) {
      const variable = variables.get(name);
      if (variable === undefined) {
        // The only bias that Whisper does not learn.
        if (/\.k_proj\.bias$/.test(name)) return new Float32Array(shape[0]!);
        throw new WeightsError(`The weights lack ${name}.`);
      }
      if (variable.shape.join() !== shape.join()) {
        throw new WeightsError(`${name} is not of the size that the model's others ask for.`);
      }
      return await readFloats(source, name, variable);
    },
    close: () => source.close(),
  };
}

function withoutPrefix(variables: Variables): Variables {
  return new Map([...variables].map(([name, variable]) => [name.replace(/^model\./, ""), variable]));
}

function sizesOf(variables: Variables): WhisperSizes {
  const size = (name: string, at: number): number => {
    const found = variables.get(name)?.shape[at];
    if (found === undefined) throw new WeightsError(`The weights lack ${name}.`);
    return found;
  };
  const layers = (side: string): number => {
    let count = 0;
    while (variables.has(`${side}.layers.${count}.fc1.weight`)) count++;
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
