import { join } from "node:path";
import { readVocabularyFiles } from "../../../tokens/vocabulary-files.ts";
import { weightsFileIn } from "../opened.ts";
import type { CheckpointParts } from "../parts.ts";
import { codecManifest } from "./codec/manifest.ts";
import { CODEC_FOLDER, readConfig } from "./config.ts";
import { NAMES, quantisationOf, qwen3TtsManifest } from "./manifest.ts";

const WEIGHTS = "model.safetensors";

/** A clip and some minutes: the talker itself has 32,768. */
const POSITIONS = 1_024;

/** @throws CheckpointError naming the field of a configuration that is wrong */
export async function qwen3TtsParts(folder: string): Promise<CheckpointParts> {
  const config = await readConfig(folder);
  const { ids, talker, codebooks } = config;
  return {
    weights: [
      { folder: "", file: await weightsFileIn(folder, WEIGHTS), manifest: qwen3TtsManifest(config) },
      {
        folder: CODEC_FOLDER,
        file: await weightsFileIn(join(folder, CODEC_FOLDER), WEIGHTS),
        manifest: codecManifest(config.codec),
      },
    ],
    quantisation: (precision) => quantisationOf(config, precision),
    readByRow: [
      NAMES.text,
      NAMES.codec,
      ...Array.from({ length: codebooks - 1 }, (_, at) => NAMES.predictorCodec(at)),
    ],
    backbone: talker,
    depthDecoder: config.predictor,
    positions: Math.min(POSITIONS, talker.positions),
    specialTokens: [
      { field: "im_start_token_id", token: "<|im_start|>", id: ids.imStart },
      { field: "im_end_token_id", token: "<|im_end|>", id: ids.imEnd },
      { field: "tts_pad_token_id", token: "<tts_pad>", id: ids.textPad },
      { field: "tts_bos_token_id", token: "<tts_text_bos>", id: ids.textBegin },
      { field: "tts_eos_token_id", token: "<tts_text_eod>", id: ids.textEnd },
    ],
    textTokens: config.textTokens,
    readTokenizer: () => readVocabularyFiles(folder),
  };
}
