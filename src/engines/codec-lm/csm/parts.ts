import { join } from "node:path";
import { readTokenizer } from "../../../tokens/tokenizer-file.ts";
import { type Fields, readFields } from "../fields.ts";
import { weightsFileIn } from "../opened.ts";
import type { CheckpointParts, SpecialToken } from "../parts.ts";
import { readConfig } from "./config.ts";
import { csmManifest, NAMES, quantisationOf } from "./manifest.ts";

/** @throws CheckpointError naming the field of `config.json` that is wrong */
export async function csmParts(folder: string): Promise<CheckpointParts> {
  const config = await readConfig(folder);
  const manifest = csmManifest(config);
  return {
    weights: [{ folder: "", file: await weightsFileIn(folder, config.weightsFile), manifest }],
    quantisation: (precision) => quantisationOf(config, precision),
    readByRow: [NAMES.text, ...NAMES.audio],
    backbone: config.backbone,
    // A frame's codes, behind the state that they begin with.
    depthDecoder: { ...config.depth, positions: config.codebooks },
    positions: config.backbone.positions,
    specialTokens: specialTokensOf(await readFields(folder, "config.json")),
    textTokens: config.textTokens,
    readTokenizer: () => readTokenizer(join(folder, "tokenizer.json")),
  };
}

function specialTokensOf(config: Fields): SpecialToken[] {
  const named = [
    ["bos_token_id", "<|begin_of_text|>"],
    ["audio_token_id", "<|AUDIO|>"],
    ["audio_eos_token_id", "<|audio_eos|>"],
  ] as const;
  return named
    .filter(([field]) => config.has(field))
    .map(([field, token]) => ({ field, token, id: config.whole(field, undefined, 0) }));
}
