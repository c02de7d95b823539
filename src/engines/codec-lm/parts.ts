import type { Tokenizer } from "../../tokens/tokenizer-file.ts";
import type { Manifest } from "./manifest.ts";
import type { Precision } from "./model.ts";
import type { Quantisation } from "./quantised-weights.ts";
import type { TransformerSizes } from "./transformer.ts";

/** Weights of a checkpoint: where they are, and which. */
export interface WeightsPart {
  /** Within the checkpoint's folder; "" is the folder itself. */
  readonly folder: string;
  /** The file, or the index of several. */
  readonly file: string;
  readonly manifest: Manifest;
}

/** A token that a configuration names by its number. */
export interface SpecialToken {
  /** The field of `config.json` that names it. */
  readonly field: string;
  readonly token: string;
  readonly id: number;
}

/** What a checkpoint of some configuration consists of, as far as that is known without looking at its weights. */
export interface CheckpointParts {
  readonly weights: readonly WeightsPart[];
  /** What of the first weights is quantised. */
  readonly quantisation: (precision: Exclude<Precision, "fp32">) => Quantisation;
  /** Names of embeddings, of which single rows are read from the disk as they are asked for. */
  readonly readByRow: readonly string[];
  /** What reads the conversation, a position for each token or frame. */
  readonly backbone: TransformerSizes;
  /** What chooses the other codes of a frame. */
  readonly depthDecoder: TransformerSizes;
  /** Positions that a place in memory has, unless a conversation is given more. */
  readonly positions: number;
  readonly specialTokens: readonly SpecialToken[];
  /** Rows of the text's embedding. */
  readonly textTokens: number;
  readonly readTokenizer: () => Promise<Tokenizer>;
}
