import type { Tokenizer } from "../../onnx/tokenizer.ts";
import type { CodecLanguageModel, ModelSetup, Precision } from "./codec-language-model.ts";
import type { Fields } from "./fields.ts";
import type { CheckpointWeights } from "./manifest.ts";
import type { TransformerSizes } from "./networks/transformer.ts";
import type { Quantisation } from "./quantised-weights.ts";
import type { Qwen3TtsConfig } from "./qwen3-tts/config.ts";

/** A kind of codec language model that can be run. */
export interface Architecture {
  /** `model_type` in its `config.json`. */
  readonly modelType: string;
  /**
   * What a checkpoint is by its configuration, which is read here and nowhere else.
   *
   * @param config of its `config.json`
   * @throws CheckpointError naming the field that is wrong
   */
  describe(folder: string, config: Fields): Promise<Checkpoint>;
  /** @throws CheckpointError naming the field of `generation_config.json` that is wrong */
  checkGeneration(generation: Fields): void;
  /** @throws TokenizerError naming the file that is missing or damaged */
  readTokenizer(folder: string): Promise<Tokenizer>;
}

/** A checkpoint, as far as it is known without looking at its weights. */
export interface Checkpoint {
  readonly folder: string;
  /** The kind of model, and its sizes: one line each. */
  readonly facts: readonly string[];
  /** What is known of a Qwen3-TTS alone; `null` for a CSM. */
  readonly qwen3Tts: Qwen3TtsConfig | null;
  /** The transformers' first. */
  readonly weights: readonly CheckpointWeights[];
  /** What of the first weights is quantised. */
  readonly quantisation: (precision: Exclude<Precision, "fp32">) => Quantisation;
  /** Names of embeddings, of which single rows are read from the disk as they are asked for. */
  readonly embeddingTables: readonly string[];
  /** What reads the conversation, a position for each token or frame. */
  readonly backbone: TransformerSizes;
  /** What scores the other codes of a frame. */
  readonly depthDecoder: TransformerSizes;
  /** Positions that a slot has in memory, unless a conversation is given more. */
  readonly defaultPositions: number;
  readonly specialTokens: readonly SpecialToken[];
  /** Rows of the text's embedding. */
  readonly textTokens: number;
  readTokenizer(): Promise<Tokenizer>;
  /** @throws CheckpointError, WeightsError or TokenizerError saying what is missing or wrong; the signal's reason */
  open(setup: ModelSetup): Promise<CodecLanguageModel>;
}

/** A token that a configuration names by its number. */
export interface SpecialToken {
  /** The field of `config.json` that names it. */
  readonly field: string;
  readonly token: string;
  readonly id: number;
}

/** The file that has a checkpoint's defaults for sampling. */
export const GENERATION_CONFIG = "generation_config.json";

/** What tells a tokenizer of another model: other numbers for the tokens that the configuration names, or too many. */
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
