import { FRAME_SAMPLES } from "../../../audio/format.ts";
import { type Tokenizer, TokenizerError } from "../../../onnx/tokenizer.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import type { SpokenTurn } from "../codec-language-model.ts";
import { CheckpointError } from "../fields.ts";
import type { CodeFrame } from "../mimi/frame-decoder.ts";
import { CSM_NAMES, type CsmConfig } from "./config.ts";

export type PromptPosition = { readonly token: number } | { readonly frame: CodeFrame };

/** Encodes a turn's text. @throws TokenizerError if the tokenizer belongs to another model */
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

/** Returns the positions of a turn's audio, which a frame of zeros closes. */
export function audioPositions(frames: readonly CodeFrame[], { codebooks }: CsmConfig): PromptPosition[] {
  const close: CodeFrame = new Array<number>(codebooks).fill(0);
  return [...frames, close].map((frame) => ({ frame }));
}

const END_OF_TEXT = "<|end_of_text|>";

export class CsmEmbeddings {
  readonly #weights: Weights;
  readonly #config: CsmConfig;
  /** Names of the audio embeddings of the backbone and the depth decoder. */
  readonly #audio: readonly [string, string];

  constructor(weights: Weights, config: CsmConfig) {
    this.#weights = weights;
    this.#config = config;
    const [backbone, depth] = CSM_NAMES.audio;
    const shared = CSM_NAMES.audio.find((name) => weights.variables.has(name)) ?? backbone;
    this.#audio = config.isTied ? [shared, shared] : [backbone, depth];
  }

  async preload(): Promise<void> {
    for (const name of new Set(this.#audio)) await this.#weights.preload(name);
  }

  /** Returns rows at the backbone's input, [positions, width]. */
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

  ofFrame(frame: CodeFrame): Float32Array {
    const { codes } = this.#config;
    const sum = new Float32Array(this.#config.backbone.width);
    for (const [codebook, code] of frame.entries()) {
      const row = this.#weights.row(this.#audio[0], codebook * codes + code);
      for (let at = 0; at < sum.length; at++) sum[at]! += row[at]!;
    }
    return sum;
  }

  ofCode(codebook: number, code: number): Float32Array {
    return this.#weights.row(this.#audio[1], codebook * this.#config.codes + code);
  }
}

export interface PromptBudget {
  readonly history: readonly SpokenTurn[];
  readonly lengths: readonly number[];
  readonly speaker: string;
  /** Positions of the open turn. */
  readonly needed: number;
  readonly wanted: number;
  readonly positions: number;
  readonly mayDropTurns: boolean;
}

/** Returns the positions of a turn's audio, with the frame that closes it. */
export function audioPositionCount({ audio, codes }: SpokenTurn): number {
  const frames = codes?.length ?? Math.ceil((audio?.length ?? 0) / FRAME_SAMPLES);
  return frames === 0 ? 0 : frames + 1;
}

/**
 * Selects the turns to read: all, if they fit and leave room for the frames to generate (at most half of the
 * positions). Otherwise drops the oldest whole turns, but keeps the speaker's first turn with audio, which defines
 * the voice.
 *
 * @returns indices in the history, oldest first
 * @throws CheckpointError if there are too few positions and turns may not be dropped, or dropping them is not enough
 */
export function selectTurns(reading: PromptBudget): readonly number[] {
  const { history, lengths, speaker, needed, wanted, positions, mayDropTurns } = reading;
  const total = lengths.reduce((sum, length) => sum + length, needed);
  if (needed > positions) {
    throw new CheckpointError(
      `The text takes ${needed} of the model's ${positions} positions: make it shorter.`,
    );
  }
  if (!mayDropTurns && total > positions) {
    throw new CheckpointError(
      `The conversation takes ${total} of the model's ${positions} positions: leave out its earliest turns.`,
    );
  }
  const room = positions - needed - Math.min(wanted, positions >> 1);
  if (!mayDropTurns || total - needed <= room) return [...history.keys()];
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
