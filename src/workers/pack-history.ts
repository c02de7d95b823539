import type { Turn } from "../model/conversation.ts";

/** Turns ready to be posted, with the buffers to transfer. */
export interface PackedHistory {
  readonly history: readonly Turn[];
  readonly transfer: readonly ArrayBuffer[];
}

/**
 * Copies each clip once and transfers the copy: the caller keeps its samples, and the other side gets them without
 * copying again. Samples in shared memory go as they are.
 */
export function packHistory(turns: readonly Turn[]): PackedHistory {
  const transfer: ArrayBuffer[] = [];
  const history = turns.map((turn): Turn => {
    if (turn.audio === null || turn.audio.samples.buffer instanceof SharedArrayBuffer) return turn;
    const samples = new Float32Array(turn.audio.samples);
    transfer.push(samples.buffer);
    return { ...turn, audio: { ...turn.audio, samples } };
  });
  return { history, transfer };
}
