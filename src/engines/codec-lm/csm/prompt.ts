import { FRAME_SAMPLES } from "../../../audio/format.ts";
import { type Tokenizer, TokenizerError } from "../../../onnx/tokenizer.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import type { SpokenTurn } from "../codec-language-model.ts";
import { CheckpointError } from "../fields.ts";
import type { CodeFrame } from "../mimi/frame-decoder.ts";
import { CSM_NAMES, type CsmConfig } from "./config.ts";

/** One position of the prompt: a token of text, or a frame. */
export type PromptPosition = { readonly token: number } | { readonly frame: CodeFrame };

/** A turn's words. @throws TokenizerError when the tokenizer is another model's */
export function textPositions(
  speaker: string,
  text: string,
  tokenizer: Tokenizer,
  { beginId }: CsmConfig,
): PromptPosition[] {
  const endId = tokenizer.idOf(END_OF_TEXT);
  if (endId === undefined) throw new TokenizerError(`The tokenizer has no ${END_OF_TEXT}.`);
  return [beginId, ...tokenizer.encode(`[${speaker}]${text}`), endId].map((token) => ({ token }));
}

/** A turn's sound. What closes it is embedded as a frame of zeros. */
export function audioPositions(frames: readonly CodeFrame[], { codebooks }: CsmConfig): PromptPosition[] {
  const close: CodeFrame = new Array<number>(codebooks).fill(0);
  return [...frames, close].map((frame) => ({ frame }));
}

const END_OF_TEXT = "<|end_of_text|>";

/** The rows that stand for texts and frames at the models' inputs, read from the weights as they are asked for. */
export class CsmEmbeddings {
  readonly #weights: Weights;
  readonly #config: CsmConfig;
  /** Of the backbone and of the depth decoder. */
  readonly #audio: readonly [string, string];

  constructor(weights: Weights, config: CsmConfig) {
    this.#weights = weights;
    this.#config = config;
    const [backbone, depth] = CSM_NAMES.audio;
    const shared = CSM_NAMES.audio.find((name) => weights.variables.has(name)) ?? backbone;
    this.#audio = config.isTied ? [shared, shared] : [backbone, depth];
  }

  /** Has what is read for each frame at hand. */
  async preload(): Promise<void> {
    for (const name of new Set(this.#audio)) await this.#weights.preload(name);
  }

  /** [positions, width of the backbone] */
  ofPositions(positions: readonly PromptPosition[]): Float32Array {
    const { width } = this.#config.backbone;
    const rows = new Float32Array(positions.length * width);
    for (const [at, position] of positions.entries()) {
      const row =
        "token" in position
          ? this.#weights.row(CSM_NAMES.text, position.token)
          : this.ofFrame(position.frame);
      rows.set(row, at * width);
    }
    return rows;
  }

  /** The sum of a frame's codes, at the input of the backbone. */
  ofFrame(frame: CodeFrame): Float32Array {
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

/** A conversation, as far as it decides which of its turns are read. */
export interface PromptBudget {
  readonly history: readonly SpokenTurn[];
  /** Positions that each of its turns takes. */
  readonly lengths: readonly number[];
  /** Who speaks. */
  readonly speaker: string;
  /** Positions that the open turn takes. */
  readonly needed: number;
  /** Frames that are to follow. */
  readonly wanted: number;
  /** Of the model. */
  readonly positions: number;
  readonly mayForget: boolean;
}

/** Positions that a turn's sound takes in a prompt: its frames, and what closes it. */
export function audioPositionCount({ audio, codes }: SpokenTurn): number {
  const frames = codes?.length ?? Math.ceil((audio?.length ?? 0) / FRAME_SAMPLES);
  return frames === 0 ? 0 : frames + 1;
}

/**
 * Which turns are read: all, as long as the model has positions for them and for what is to follow, for which half of them
 * are kept free at most. Otherwise the oldest are left out, each as a whole; the speaker's first turn with sound stays,
 * since it is what the voice is known by.
 *
 * @returns indices in the history, oldest first
 * @throws CheckpointError when there are too few positions, and nothing may be left out or that is not enough
 */
export function selectTurns(reading: PromptBudget): readonly number[] {
  const { history, lengths, speaker, needed, wanted, positions, mayForget } = reading;
  const total = lengths.reduce((sum, length) => sum + length, needed);
  if (needed > positions) {
    throw new CheckpointError(
      `The text takes ${needed} of the model's ${positions} positions: make it shorter.`,
    );
  }
  if (!mayForget && total > positions) {
    throw new CheckpointError(
      `The conversation takes ${total} of the model's ${positions} positions: leave out its earliest turns.`,
    );
  }
  const room = positions - needed - Math.min(wanted, positions >> 1);
  if (!mayForget || total - needed <= room) return [...history.keys()];
  const reference = history.findIndex((turn) => turn.speaker === speaker && audioPositionCount(turn) > 0);
  const fits = reference >= 0 && lengths[reference]! <= room;
  const kept = new Set(fits ? [reference] : []);
  let left = fits ? room - lengths[reference]! : room;
  for (const at of [...history.keys()].reverse()) {
    if (kept.has(at)) continue;
    left -= lengths[at]!;
    if (left < 0) break;
    kept.add(at);
  }
  return [...kept].sort((a, b) => a - b);
}
