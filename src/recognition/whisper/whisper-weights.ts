import { type ByteSource, WeightsError } from "../../onnx/byte-source.ts";
import { readSafetensors } from "../../onnx/safetensors.ts";
import { readFloats, type Variable, type Variables } from "../../onnx/variable.ts";
import { HEAD_WIDTH, type WhisperSizes } from "./description.ts";

/**
 * Tensors of a Whisper model by Hugging Face's names without `model.`: `encoder.layers.0.self_attn.q_proj.weight`,
 * [out, in].
 */
export interface WhisperWeights {
  readonly sizes: WhisperSizes;
  /** @throws WeightsError when it is missing or has another shape */
  read(name: string, shape: readonly number[]): Promise<Float32Array>;
  close(): Promise<void>;
}

/** A tensor in a file, or one of several of equal size that are stacked by rows. */
export interface VariableLocation {
  readonly name: string;
  readonly part: number;
  readonly parts: number;
}

/**
 * Reads weights from a source and takes ownership of it.
 *
 * @param locate maps Hugging Face's names to the file's
 * @throws WeightsError when a tensor that determines a size is missing
 */
export function createWeights(
  source: ByteSource,
  variables: Variables,
  locate: (name: string) => VariableLocation,
): WhisperWeights {
  return {
    sizes: sizesOf(variables, (name) => locate(name).name),
    async read(name, shape) {
      const place = locate(name);
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

/** Derives the model's sizes from tensor shapes. */
function sizesOf(variables: Variables, nameOf: (name: string) => string): WhisperSizes {
  const size = (name: string, at: number): number => {
    const found = variables.get(nameOf(name))?.shape[at];
    if (found === undefined) throw new WeightsError(`The weights lack ${nameOf(name)}.`);
    return found;
  };
  const layers = (side: string): number => {
    let count = 0;
    while (variables.has(nameOf(`${side}.layers.${count}.fc1.weight`))) count++;
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

/** Opens a `model.safetensors` of Hugging Face and takes ownership of the source. @throws WeightsError */
export async function hubWeights(source: ByteSource): Promise<WhisperWeights> {
  const variables = [...(await readSafetensors(source))].map(
    ([name, variable]) => [name.replace(/^model\./, ""), variable] as const,
  );
  return createWeights(source, new Map(variables), (name) => ({ name, part: 0, parts: 1 }));
}

/** Opens a `model.bin` of CTranslate2 and takes ownership of the source. @throws WeightsError */
export async function ct2Weights(source: ByteSource): Promise<WhisperWeights> {
  return createWeights(source, await readCt2(source), locateCt2);
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

/** Maps Hugging Face's names to CTranslate2's. */
function locateCt2(name: string): VariableLocation {
  const whole = TOP[name];
  if (whole !== undefined) return { name: whole, part: 0, parts: 1 };
  const [, stem = "", end = ""] = /^(.*\.)(weight|bias)$/.exec(name) ?? [];
  const [, side, layer, rest = ""] = /^(encoder|decoder)\.layers\.(\d+)\.(.*)$/.exec(stem) ?? [];
  const [base, part = 0, parts = 1] = side === undefined ? [TOP[stem]] : (IN_LAYER[rest] ?? []);
  if (base === undefined) throw new WeightsError(`A Whisper model has no ${name}.`);
  const own = !base.includes("layer_norm") ? end : end === "weight" ? "gamma" : "beta";
  return { name: `${side === undefined ? "" : `${side}/layer_${layer}/`}${base}${own}`, part, parts };
}

/**
 * Reads the tensor table of a CTranslate2 `model.bin`, format 6, little endian; a text is a u16 length, including the
 * final NUL, and that many bytes. Layout: u32 format, text specification, u32 revision, u32 count; per tensor: text
 * name, u8 rank, u32 sizes, u8 type (0 float32, 1 int8, 2 int16, 4 float16), u32 bytes, data; then u32 count of
 * aliases: text alias, text name.
 *
 * @throws WeightsError when it is of another format or model, or truncated
 */
async function readCt2(source: ByteSource): Promise<Variables> {
  const reader = new Reader(source);
  const format = await reader.u32();
  if (format !== 6) throw new WeightsError(`The weights are of format ${format}; only 6 can be read.`);
  const specification = await reader.text();
  if (specification !== "WhisperSpec")
    throw new WeightsError("The weights are not those of a Whisper model.");
  await reader.u32();
  const variables = new Map<string, Variable>();
  for (let left = await reader.u32(); left > 0; left--) {
    const name = await reader.text();
    const shape: number[] = [];
    for (let rank = await reader.u8(); rank > 0; rank--) shape.push(await reader.u32());
    const type = TYPES[await reader.u8()] ?? "other";
    const bytes = await reader.u32();
    variables.set(name, { shape, type, from: reader.skip(bytes), bytes });
  }
  return variables;
}

const TYPES: Readonly<Record<number, Variable["type"]>> = { 0: "float32", 4: "float16" };

/** More than any tensor's header takes. */
const WINDOW = 4_096;

class Reader {
  readonly #source: ByteSource;
  #at = 0;
  #window: DataView = new DataView(new ArrayBuffer(0));
  #windowFrom = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  async u8(): Promise<number> {
    return (await this.#take(1)).getUint8(0);
  }

  async u32(): Promise<number> {
    return (await this.#take(4)).getUint32(0, true);
  }

  async text(): Promise<string> {
    const length = (await this.#take(2)).getUint16(0, true);
    if (length === 0 || length > WINDOW) throw new WeightsError("The weights hold a name that is none.");
    const view = await this.#take(length);
    return new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset, length - 1));
  }

  /** Skips bytes. @returns where they begin */
  skip(bytes: number): number {
    const from = this.#at;
    this.#at += bytes;
    if (this.#at > this.#source.size) throw new WeightsError("The weights are cut short.");
    return from;
  }

  async #take(length: number): Promise<DataView> {
    const from = this.skip(length);
    if (from < this.#windowFrom || from + length > this.#windowFrom + this.#window.byteLength) {
      const bytes = await this.#source.read(from, Math.min(WINDOW, this.#source.size - from));
      this.#window = new DataView(bytes.buffer);
      this.#windowFrom = from;
    }
    return new DataView(this.#window.buffer, from - this.#windowFrom, length);
  }
}
