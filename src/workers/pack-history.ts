import type { Clip, Turn } from "../core/conversation.ts";
import type { ChosenVoice, VoicePart } from "../core/script.ts";

/** Something ready to be posted, with the buffers to transfer. */
export interface Packed<T> {
  readonly packed: T;
  readonly transfer: readonly ArrayBuffer[];
}

/**
 * Readies clips for another thread: those that are given away go as they are and are gone here, of others a copy goes.
 * Transferred memory belongs to one thread at a time and counts there, so that no thread that is idle keeps it. Whoever gets
 * the clips may let go of them.
 */
export function packHistory(turns: readonly Turn[]): Packed<readonly Turn[]> {
  const transfer: ArrayBuffer[] = [];
  const packed = turns.map((turn): Turn => {
    if (turn.audio === null) return turn;
    const samples = ownSamples(turn.audio);
    transfer.push(samples.buffer);
    return { ...turn, audio: { ...turn.audio, samples, isGivenAway: true } };
  });
  return { packed, transfer };
}

/** The same of the recordings in a voice, of which a copy goes. */
export function packVoice(voice: ChosenVoice): Packed<ChosenVoice> {
  const transfer: ArrayBuffer[] = [];
  const packed = voice.map((part): VoicePart => {
    if (!("sample" in part)) return part;
    const { clip, text } = part.sample;
    const samples = new Float32Array(clip.samples);
    transfer.push(samples.buffer);
    return { ...part, sample: { clip: { ...clip, samples, isGivenAway: true }, text } };
  });
  return { packed, transfer };
}

/** Samples in a buffer that nobody else uses. */
function ownSamples({ samples, isGivenAway }: Clip): Float32Array<ArrayBuffer> {
  const { buffer } = samples;
  const isWhole = buffer instanceof ArrayBuffer && samples.byteLength === buffer.byteLength;
  return isGivenAway === true && isWhole ? new Float32Array(buffer) : new Float32Array(samples);
}
