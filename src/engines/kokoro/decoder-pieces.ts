import { FRAMES_PER_STEP } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";
import { CHANNELS, SPECTRA_PER_STEP } from "./graphs/cuts.ts";
import type { DecoderPiece } from "./network.ts";

/** Steps of 25 ms [from, to). */
export interface StepRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Some steps of a plan as the decoder takes them.
 *
 * @param source of the whole sentence, [22, 120 · steps + 1]
 * @param whole the steps that are decoded of it: where the decoder is told that the sentence begins and ends
 */
export function pieceOf(
  plan: Plan,
  source: Float32Array,
  { from, to }: StepRange,
  whole: StepRange,
): DecoderPiece {
  const isLast = to === whole.to;
  const length = plan.ids.length;
  const columns = new Float32Array(CHANNELS.decoder * (to - from));
  for (let channel = 0, at = 0; channel < CHANNELS.decoder; channel++) {
    const row = channel * length;
    for (let step = from; step < to; step++) columns[at++] = plan.decoderEncoding[row + plan.owner[step]!]!;
  }
  const frames = [from * FRAMES_PER_STEP, to * FRAMES_PER_STEP] as const;
  return {
    columns,
    pitchHz: plan.pitchHz.slice(...frames),
    energy: plan.energy.slice(...frames),
    source: columnsOf(
      source,
      CHANNELS.source,
      from * SPECTRA_PER_STEP,
      to * SPECTRA_PER_STEP + (isLast ? 1 : 0),
    ),
    isFirst: from === whole.from,
    isLast,
  };
}

/** Columns [from, to) of [channels, columns]. */
function columnsOf(values: Float32Array, channels: number, from: number, to: number): Float32Array {
  const length = values.length / channels;
  const out = new Float32Array(channels * (to - from));
  for (let channel = 0; channel < channels; channel++) {
    out.set(values.subarray(channel * length + from, channel * length + to), channel * (to - from));
  }
  return out;
}
