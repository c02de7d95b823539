import type { Tokenizer } from "../../onnx/tokenizer.ts";
import type { CodecLanguageModel, ModelSetup, Precision } from "./codec-language-model.ts";
import type { Fields } from "./fields.ts";
import type { CheckpointWeights } from "./manifest.ts";
import type { TransformerSizes } from "./networks/transformer.ts";
import type { Quantisation } from "./quantised-weights.ts";
import type { Qwen3TtsConfig } from "./qwen3-tts/config.ts";

export interface Architecture {
  readonly modelType: string;
  /**
   * Reads a checkpoint's configuration, which no other code reads.
   *
   * @throws CheckpointError naming the wrong field
   */
  describe(folder: string, config: Fields): Promise<Checkpoint>;
  /** @throws CheckpointError naming the wrong field of `generation_config.json` */
  checkGeneration(generation: Fields): void;
  /** @throws TokenizerError naming the missing or damaged file */
  readTokenizer(folder: string): Promise<Tokenizer>;
}

export interface Checkpoint {
  readonly folder: string;
  readonly facts: readonly string[];
  /** Configuration of a Qwen3-TTS; `null` for a CSM. */
  readonly qwen3Tts: Qwen3TtsConfig | null;
  /** Weights of the transformers first. */
  readonly weights: readonly CheckpointWeights[];
  /** Tensors of the first weights to quantise. */
  readonly quantisation: (precision: Exclude<Precision, "fp32">) => Quantisation;
  /** Names of embeddings whose rows are read from disk one at a time. */
  readonly embeddingTables: readonly string[];
  /** Sizes of the transformer that reads the conversation, one position per token or frame. */
  readonly backbone: TransformerSizes;
  /** Sizes of the transformer that scores the remaining codes of a frame. */
  readonly depthDecoder: TransformerSizes;
  /** Positions in memory per slot by default. */
  readonly defaultPositions: number;
  readonly specialTokens: readonly SpecialToken[];
  readonly textTokens: number;
  readTokenizer(): Promise<Tokenizer>;
  /** @throws CheckpointError, WeightsError or TokenizerError naming the problem; the signal's reason */
  open(setup: ModelSetup): Promise<CodecLanguageModel>;
}

/** A token that a configuration names by its number. */
export interface SpecialToken {
  readonly field: string;
  readonly token: string;
  readonly id: number;
}

export const GENERATION_CONFIG = "generation_config.json";

/** Returns signs of another model's tokenizer: special tokens with other ids, or ids beyond the embedding. */
export function findTokenizerProblems(checkpoint: Checkpoint, tokenizer: Tokenizer): string[] {
  const { specialTokens, textTokens } = checkpoint;
  const problems = specialTokens.flatMap(({ field, token, id }) => {
    const found = tokenizer.idOf(token);
    if (found === id) return [];
    const is = found === undefined ? `has no ${token}` : `has ${token} as ${found}`;
    return [`The tokenizer is of another model: it ${is}; by config.json (${field}) that is ${id}.`];
  });
  if (tokenizer.maxId >= textTokens) {
    problems.push(
      `The tokenizer is of another model: its tokens go up to ${tokenizer.maxId}; the text's embedding has ${textTokens} rows.`,
    );
  }
  return problems;
}
