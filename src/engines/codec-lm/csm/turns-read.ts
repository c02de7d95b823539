import { FRAME_SAMPLES } from "../../../audio/format.ts";
import { CheckpointError } from "../fields.ts";
import type { SpokenTurn } from "../model.ts";

/** A conversation, as far as it decides which of its turns are read. */
export interface Reading {
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
export function soundsIn({ audio, codes }: SpokenTurn): number {
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
export function turnsRead(reading: Reading): readonly number[] {
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
  const reference = history.findIndex((turn) => turn.speaker === speaker && soundsIn(turn) > 0);
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
