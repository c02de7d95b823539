import { type ByteSource, WeightsError } from "../../../tensors/byte-source.ts";
import { readFloats } from "../../../tensors/variable.ts";
import { readCt2 } from "./ct2-file.ts";
import { sizesOf } from "./sizes.ts";
import type { WhisperWeights } from "./whisper-weights.ts";

/** The weights in a `model.bin` of CTranslate2. They own the source. @throws WeightsError */
export async function ct2Weights(source: ByteSource): Promise<WhisperWeights> {
  const variables = await readCt2(source);
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

/** A variable, or one of the parts of equal size, by rows, that it is stacked of. */
interface Place {
  readonly name: string;
  readonly part: number;
  readonly parts: number;
}

const TOP: Readonly<Record<string, string>> = {
  "encoder.embed_positions.weight": "encoder/position_encodings/encodings",
  "decoder.embed_positions.weight": "decoder/position_encodings/encodings",
  "decoder.embed_tokens.weight": "decoder/embeddings/weight",
  "encoder.conv1.": "encoder/conv1/",
  "encoder.conv2.": "encoder/conv2/",
  "encoder.layer_norm.": "encoder/layer_norm/",
  "decoder.layer_norm.": "decoder/layer_norm/",
};

const IN_LAYER: Readonly<Record<string, readonly [name: string, part?: number, parts?: number]>> = {
  "self_attn_layer_norm.": ["self_attention/layer_norm/"],
  "self_attn.q_proj.": ["self_attention/linear_0/", 0, 3],
  "self_attn.k_proj.": ["self_attention/linear_0/", 1, 3],
  "self_attn.v_proj.": ["self_attention/linear_0/", 2, 3],
  "self_attn.out_proj.": ["self_attention/linear_1/"],
  "encoder_attn_layer_norm.": ["attention/layer_norm/"],
  "encoder_attn.q_proj.": ["attention/linear_0/"],
  "encoder_attn.k_proj.": ["attention/linear_1/", 0, 2],
  "encoder_attn.v_proj.": ["attention/linear_1/", 1, 2],
  "encoder_attn.out_proj.": ["attention/linear_2/"],
  "final_layer_norm.": ["ffn/layer_norm/"],
  "fc1.": ["ffn/linear_0/"],
  "fc2.": ["ffn/linear_1/"],
};

/** Where CTranslate2 keeps what Hugging Face calls so. */
function placeOf(name: string): Place {
  const whole = TOP[name];
  if (whole !== undefined) return { name: whole, part: 0, parts: 1 };
  const [, stem = "", end = ""] = /^(.*\.)(weight|bias)$/.exec(name) ?? [];
  const [, side, layer, rest = ""] = /^(encoder|decoder)\.layers\.(\d+)\.(.*)$/.exec(stem) ?? [];
  const [base, part = 0, parts = 1] = side === undefined ? [TOP[stem]] : (IN_LAYER[rest] ?? []);
  if (base === undefined) throw new WeightsError(`A Whisper model has no ${name}.`);
  const own = !base.includes("layer_norm") ? end : end === "weight" ? "gamma" : "beta";
  return { name: `${side === undefined ? "" : `${side}/layer_${layer}/`}${base}${own}`, part, parts };
}
