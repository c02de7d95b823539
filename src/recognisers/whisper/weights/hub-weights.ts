import { type ByteSource, WeightsError } from "../../../tensors/byte-source.ts";
import { readSafetensors } from "../../../tensors/safetensors.ts";
import { readFloats, type Variables } from "../../../tensors/variable.ts";
import { sizesOf } from "./sizes.ts";
import type { WhisperWeights } from "./whisper-weights.ts";

/** The weights in the `model.safetensors` of a hub. They own the source. @throws WeightsError */
export async function hubWeights(source: ByteSource): Promise<WhisperWeights> {
  const variables = withoutPrefix(await readSafetensors(source));
  return {
    sizes: sizesOf(variables, (name) => name),
    async read(name, shape) {
      const variable = variables.get(name);
      if (variable === undefined) throw new WeightsError(`The weights lack ${name}.`);
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
