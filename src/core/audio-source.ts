import type { Clip } from "./conversation.ts";

/** Recorded speech that is read in pieces, in order and once. */
export interface AudioSource {
  readonly sampleRateHz: number;
  /** Seconds that it may have at most: its length, where that is known before it was read. */
  readonly boundS: number;
  /**
   * The next `count` samples, mono and in [-1, 1]; fewer only at the end, and none after it. One call at a time. They are
   * not to be changed. Throws the signal's reason, and what whoever makes the sound throws.
   */
  read(count: number, signal: AbortSignal): Promise<Float32Array>;
}

/**
 * A clip, from the beginning.
 *
 * @param owned the same clip, of whoever has its samples by then: others may have given theirs away
 */
export function clipSource(clip: Clip, owned = (): Clip => clip): AudioSource {
  let at = 0;
  return {
    sampleRateHz: clip.sampleRateHz,
    boundS: clip.durationS,
    async read(count, signal) {
      signal.throwIfAborted();
      const read = owned().samples.subarray(at, at + count);
      at += read.length;
      return read;
    },
  };
}

/** Reads so much of a sound and forgets it; less only where it ends before. Throws as {@link AudioSource.read} does. */
export async function skipSamples(sound: AudioSource, count: number, signal: AbortSignal): Promise<number> {
  let skipped = 0;
  while (skipped < count) {
    const { length } = await sound.read(Math.min(count - skipped, sound.sampleRateHz), signal);
    if (length === 0) break;
    skipped += length;
  }
  return skipped;
}
