import type { Clip, Turn } from "../model/conversation.ts";

/** Turns ready to be posted, with the buffers to transfer. */
export interface PackedHistory {
  readonly history: readonly Turn[];
  readonly transfer: readonly ArrayBuffer[];
}

/**
 * Readies clips for another thread: those that are given away go as they are and are gone here, of others a copy goes.
 * Transferred memory belongs to one thread at a time and counts there, so that no thread that is idle keeps it. Whoever gets
 * the clips may let go of them.
 */
export function packHistory(turns: readonly Turn[]): PackedHistory {
  const transfer: ArrayBuffer[] = [];
  const history = turns.map((turn): Turn => {
    if (turn.audio === null) return turn;
    const samples = ownSamples(turn.audio);
    transfer.push(samples.buffer);
    return { ...turn, audio: { ...turn.audio, samples, isGivenAway: true } };
  });
  return { history, transfer };
}

/** Samples in a buffer that nobody else uses. */
function ownSamples({ samples, isGivenAway }: Clip): Float32Array<ArrayBuffer> {
  const { buffer } = samples;
  const isWhole = buffer instanceof ArrayBuffer && samples.byteLength === buffer.byteLength;
  return isGivenAway === true && isWhole ? new Float32Array(buffer) : new Float32Array(samples);
}
