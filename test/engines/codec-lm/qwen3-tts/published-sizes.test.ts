import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readCheckpoint } from "../../../../src/engines/codec-lm/read-checkpoint.ts";
import { QWEN3_TTS, readJson } from "../goldens.ts";

type Group = Record<string, unknown>;

const HEADS = { num_attention_heads: 16, num_key_value_heads: 8, head_dim: 128 };
const CODEC = "speech_tokenizer/config.json";

/** A tiny configuration with published sizes. */
async function published(tiny: string, width: number): Promise<string> {
  const config = await readJson<Record<string, Group>>(join(QWEN3_TTS, tiny, "config.json"));
  const talker = config.talker_config!;
  Object.assign(talker, HEADS, {
    ...{ num_hidden_layers: 28, hidden_size: width, intermediate_size: 3 * width },
    ...{ vocab_size: 3_072, text_vocab_size: 151_936, text_hidden_size: 2_048 },
  });
  Object.assign(talker.code_predictor_config as Group, HEADS, {
    ...{ num_hidden_layers: 5, hidden_size: 1_024, intermediate_size: 3_072, vocab_size: 2_048 },
  });
  if (config.speaker_encoder_config !== undefined)
    config.speaker_encoder_config = { enc_dim: width, sample_rate: 24_000 };
  const codec = await readJson<Record<string, Group>>(join(QWEN3_TTS, tiny, CODEC));
  Object.assign(codec.encoder_config!, {
    ...{ hidden_size: 512, num_filters: 64, upsample_groups: 512, num_hidden_layers: 8 },
    ...{ intermediate_size: 2_048, num_attention_heads: 8, num_key_value_heads: 8, head_dim: 64 },
    ...{ codebook_size: 2_048, codebook_dim: 256, vector_quantization_hidden_dimension: 256 },
  });
  Object.assign(codec.decoder_config!, {
    ...{ codebook_size: 2_048, codebook_dim: 512, latent_dim: 1_024, hidden_size: 512, decoder_dim: 1_536 },
    ...{ num_hidden_layers: 8, intermediate_size: 1_024, sliding_window: 72 },
    ...{ num_attention_heads: 16, num_key_value_heads: 16, head_dim: 64 },
  });
  const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
  await mkdir(join(folder, "speech_tokenizer"));
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  await writeFile(join(folder, CODEC), JSON.stringify(codec));
  return folder;
}

test("the published sizes have the tensors and numbers of the published files", async () => {
  // Not in the manifest: four projections, sixteen codebooks of three tensors, and sixteen flags.
  const unused = { decoder: 2, encoder: 2 + 16 * 3 + 16 };
  for (const [tiny, width, tensors, numbers] of [
    ["tiny-base", 1_024, 478, 914_643_008],
    ["tiny-custom", 2_048, 404, 1_916_676_352],
  ] as const) {
    const folder = await published(tiny, width);
    const [own, codec] = (await readCheckpoint(folder)).weights;
    await rm(folder, { recursive: true });
    const { shapes } = own!.manifest;
    const sizes = [...shapes.values()].map((shape) => shape.reduce((product, size) => product * size, 1));
    assert.equal(shapes.size, tensors);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      numbers,
    );
    const names = [...codec!.manifest.shapes.keys()];
    const count = (half: string): number => names.filter((name) => name.startsWith(`${half}.`)).length;
    assert.equal(count("decoder") + unused.decoder, 271);
    assert.equal(count("encoder") + unused.encoder, 225);
  }
});
