import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  CACHES_BYTES,
  estimateMemory,
  type MemoryPlan,
  requireCheckpointMemory,
} from "../../../src/engines/codec-lm/memory.ts";
import { readCheckpoint } from "../../../src/engines/codec-lm/read-checkpoint.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { CSM } from "./goldens.ts";
import { BASE } from "./qwen3-tts/cases.ts";

const TINY = join(CSM, "csm-tiny");
const GB = 1e9;

/** The tiny checkpoint with the sizes of CSM-1B. */
async function largeCsm(): Promise<string> {
  const config = JSON.parse(await readFile(join(TINY, "config.json"), "utf8"));
  const common = { vocab_size: 2_051, intermediate_size: 8_192 };
  Object.assign(config, common, {
    ...{ text_vocab_size: 128_256, hidden_size: 2_048, num_hidden_layers: 16 },
    ...{ num_attention_heads: 32, num_key_value_heads: 8, head_dim: 64, max_position_embeddings: 2_048 },
  });
  Object.assign(config.depth_decoder_config, common, {
    ...{ backbone_hidden_size: 2_048, hidden_size: 1_024, num_hidden_layers: 4 },
    ...{ num_attention_heads: 8, num_key_value_heads: 2, head_dim: 128 },
  });
  Object.assign(config.codec_config, {
    ...{ hidden_size: 512, num_filters: 64, codebook_size: 2_048, intermediate_size: 2_048 },
    ...{ num_hidden_layers: 8, num_attention_heads: 8, num_key_value_heads: 8, head_dim: 64 },
    ...{ codebook_dim: 256, vector_quantization_hidden_dimension: 256, upsample_groups: 512 },
  });
  const folder = temporaryFolder();
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  return folder;
}

describe("estimateMemory", () => {
  test("is close to what was measured", async () => {
    const checkpoint = await readCheckpoint(await largeCsm());
    const run = (precision: MemoryPlan["precision"], more: Partial<MemoryPlan> = {}) =>
      estimateMemory(checkpoint, { precision, slots: 1, cacheBytes: 0, ...more });
    // Peak RSS of opening and running, with weights of its own in each layer, in MiB.
    for (const [precision, measured] of [
      ["int4", 1_752],
      ["int8", 2_350],
      ["fp32", 5_114],
    ] as const) {
      const estimated = (await run(precision)) / 2 ** 20;
      assert.ok(estimated >= measured && estimated < 1.1 * measured, `${precision}: ${estimated} MiB`);
    }
    const one = await run("int4");
    // 16 layers, 8 heads of 64, keys and values: 64 KiB per position; and the depth decoder's 32.
    const place = 2_048 * 65_536 + 32 * 4 * 2 * 2 * 128 * 4;
    assert.equal(await run("int4", { slots: 4 }), one + 3 * place);
    assert.equal(await run("int4", { positions: 1_024 }), one - 1_024 * 65_536);
    assert.equal(estimateMemory(checkpoint, { precision: "int4", slots: 1 }), one + CACHES_BYTES);
    assert.ok(estimateMemory(checkpoint, { precision: "int4", slots: 4 }) < 2.8 * GB);
  });

  test("grows with precision and slots in both architectures", async () => {
    for (const folder of [TINY, BASE]) {
      const checkpoint = await readCheckpoint(folder);
      const of = (precision: MemoryPlan["precision"], slots: number) =>
        estimateMemory(checkpoint, { precision, slots });
      const bytes = [await of("int4", 1), await of("int8", 1), await of("fp32", 1), await of("fp32", 2)];
      for (const [at, each] of bytes.entries())
        assert.ok(Number.isSafeInteger(each) && each > (bytes[at - 1] ?? CACHES_BYTES), `${bytes}`);
    }
  });

  test("rejects too large a checkpoint, with both figures and the remedies", async () => {
    const checkpoint = await readCheckpoint(await largeCsm());
    const short = { bytes: 1_000 * 2 ** 20, limitedBy: "machine" } as const;
    const cases: readonly [MemoryPlan, Parameters<typeof requireCheckpointMemory>[3], RegExp][] = [
      [
        { precision: "fp32", slots: 4 },
        short,
        /^csm-1b in fp32 with 4 concurrent utterances takes \d{4} MiB of memory, and 1000 MiB are available: lower maxConcurrent, use int8 or int4, stop other programs, or use a machine with more\.$/,
      ],
      [
        { precision: "int4", slots: 1 },
        short,
        /1 concurrent utterance takes .*: stop other programs, or use a machine with more\.$/,
      ],
      [
        { precision: "int8", slots: 1 },
        { ...short, limitedBy: "container" },
        /: use int4, stop other programs, or give the container more\.$/,
      ],
    ];
    for (const [plan, available, message] of cases) {
      await assert.rejects(requireCheckpointMemory(checkpoint, plan, "csm-1b", available), (error: Error) => {
        assert.equal(error.name, "CheckpointError");
        assert.match(error.message, message);
        return true;
      });
    }
    const plenty = { bytes: 64 * GB, limitedBy: "machine" } as const;
    const plan = { precision: "int4", slots: 4 } as const;
    assert.equal(
      await requireCheckpointMemory(checkpoint, plan, "csm-1b", plenty),
      estimateMemory(checkpoint, plan),
    );
  });
});
