import type { Weights } from "../../../tensors/weights-folder.ts";
import { type Tokenizer, TokenizerError } from "../../../tokens/tokenizer-file.ts";
import type { Frame } from "../frame-decoder.ts";
import type { CsmConfig } from "./config.ts";
import { NAMES } from "./manifest.ts";

/** A turn of the prompt: what was said, and how it sounded, in frames; `null`: it was not heard. */
export interface PromptTurn {
  readonly speaker: string;
  readonly text: string;
  readonly frames: readonly Frame[] | null;
}

/** One position of the prompt: a token of text, or a frame. */
export type Position = { readonly token: number } | { readonly frame: Frame };

/** Writes turns as CSM reads them: each begins, has its speaker and text, ends, and then sounds. */
export function promptOf(turns: readonly PromptTurn[], tokenizer: Tokenizer, config: CsmConfig): Position[] {
  return turns.flatMap(({ speaker, text, frames }) => [
    ...textPositions(speaker, text, tokenizer, config),
    ...(frames === null ? [] : soundPositions(frames, config)),
  ]);
}

/** A turn's words. @throws TokenizerError when the tokenizer is another model's */
export function textPositions(
  speaker: string,
  text: string,
  tokenizer: Tokenizer,
  { beginId }: CsmConfig,
): Position[] {
  const endId = tokenizer.idOf(END_OF_TEXT);
  if (endId === undefined) throw new TokenizerError(`The tokenizer has no ${END_OF_TEXT}.`);
  return [beginId, ...tokenizer.encode(`[${speaker}]${text}`), endId].map((token) => ({ token }));
}

/** A turn's sound. What closes it is embedded as a frame of zeros. */
export function soundPositions(frames: readonly Frame[], { codebooks }: CsmConfig): Position[] {
  const close: Frame = new Array<number>(codebooks).fill(0);
  return [...frames, close].map((frame) => ({ frame }));
}

const END_OF_TEXT = "<|end_of_text|>";

/** The rows that stand for texts and frames at the models' inputs, read from the weights as they are asked for. */
export class Embeddings {
  readonly #weights: Weights;
  readonly #config: CsmConfig;
  /** Of the backbone and of the depth decoder. */
  readonly #audio: readonly [string, string];

  constructor(weights: Weights, config: CsmConfig) {
    this.#weights = weights;
    this.#config = config;
    const [backbone, depth] = NAMES.audio;
    const shared = NAMES.audio.find((name) => weights.variables.has(name)) ?? backbone;
    this.#audio = config.isTied ? [shared, shared] : [backbone, depth];
  }

  /** Has what is read for each frame at hand. */
  async preload(): Promise<void> {
    for (const name of new Set(this.#audio)) await this.#weights.preload(name);
  }

  /** [positions, width of the backbone] */
  ofPositions(positions: readonly Position[]): Float32Array {
    const { width } = this.#config.backbone;
    const rows = new Float32Array(positions.length * width);
    for (const [at, position] of positions.entries()) {
      const row =
        "token" in position ? this.#weights.row(NAMES.text, position.token) : this.ofFrame(position.frame);
      rows.set(row, at * width);
    }
    return rows;
  }

  /** The sum of a frame's codes, at the input of the backbone. */
  ofFrame(frame: Frame): Float32Array {
    const { codes } = this.#config;
    const sum = new Float32Array(this.#config.backbone.width);
    for (const [codebook, code] of frame.entries()) {
      const row = this.#weights.row(this.#audio[0], codebook * codes + code);
      for (let at = 0; at < sum.length; at++) sum[at]! += row[at]!;
    }
    return sum;
  }

  /** One code, at the input of the depth decoder. */
  ofCode(codebook: number, code: number): Float32Array {
    return this.#weights.row(this.#audio[1], codebook * this.#config.codes + code);
  }
}
