import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../src/engines/codec-lm/csm/config.ts";
import { csmManifest, NAMES } from "../src/engines/codec-lm/csm/manifest.ts";
import { writeSafetensors } from "../src/tensors/write-safetensors.ts";

/** CSM-1B's sizes, over the configuration of the tiny one (`test/golden/csm`). */
const REAL = {
  top: {
    ...{ text_vocab_size: 128_256, vocab_size: 2_051, hidden_size: 2_048, intermediate_size: 8_192 },
    ...{ num_hidden_layers: 16, num_attention_heads: 32, num_key_value_heads: 8, head_dim: 64 },
  },
  depth: {
    ...{ backbone_hidden_size: 2_048, vocab_size: 2_051, hidden_size: 1_024, intermediate_size: 8_192 },
    ...{ num_hidden_layers: 4, num_attention_heads: 8, num_key_value_heads: 2, head_dim: 128 },
  },
  codec: {
    ...{
      hidden_size: 512,
      upsample_groups: 512,
      num_filters: 64,
      codebook_size: 2_048,
      intermediate_size: 2_048,
    },
    ...{
      num_hidden_layers: 8,
      num_attention_heads: 8,
      num_key_value_heads: 8,
      head_dim: 64,
      sliding_window: 250,
    },
    ...{ codebook_dim: 256, vector_quantization_hidden_dimension: 256 },
  },
};

/**
 * Writes a CSM of the real one's shapes whose weights are dice, 6.6 GB of float32: it speaks noise, as fast as one that
 * was trained. A folder that is there is left.
 *
 * @param tiny the folder of the tiny one, whose tokenizer it has
 */
export async function writeRandomCsm(folder: string, tiny: string): Promise<void> {
  if (existsSync(join(folder, "model.safetensors"))) return;
  await mkdir(folder, { recursive: true });
  const config = JSON.parse(await readFile(join(tiny, "config.json"), "utf8"));
  Object.assign(config, REAL.top);
  Object.assign(config.depth_decoder_config, REAL.depth);
  Object.assign(config.codec_config, REAL.codec);
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  for (const name of ["tokenizer.json", "generation_config.json"]) {
    await copyFile(join(tiny, name), join(folder, name));
  }
  const manifest = csmManifest(await readConfig(folder));
  const dice = Float32Array.from({ length: 2 ** 20 }, () => Math.random() + Math.random() - 1);
  const makings = [...manifest.shapes]
    .filter(([name]) => name !== NAMES.audio[0])
    .map(([name, shape]) => ({
      tensors: [{ name, dtype: "F32" as const, shape }],
      make: async () => [new Uint8Array(numbersOf(name, shape, dice).buffer)],
    }));
  const draft = join(folder, "model.safetensors.part");
  await writeSafetensors(draft, makings);
  await rename(draft, join(folder, "model.safetensors"));
}

/** Matrices keep what goes through them about as large as it is; norms and what codes were used are one. */
function numbersOf(name: string, shape: readonly number[], dice: Float32Array): Float32Array<ArrayBuffer> {
  const numbers = new Float32Array(shape.reduce((product, size) => product * size, 1));
  if (shape.length === 1 && !name.endsWith("bias")) return numbers.fill(1);
  const ins = shape.slice(1).reduce((product, size) => product * size, 1);
  const scaled = dice.map((value) => (value * 2.4) / Math.sqrt(ins));
  for (let at = 0; at < numbers.length; at += scaled.length) {
    numbers.set(scaled.subarray(0, numbers.length - at), at);
  }
  return numbers;
}
