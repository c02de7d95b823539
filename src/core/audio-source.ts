import type { Clip } from "./conversation.ts";

/** Recorded speech, read once, in order. */
export interface AudioSource {
  readonly sampleRateHz: number;
  /** Maximum seconds: its length, if known before reading. */
  readonly boundS: number;
  /**
   * Returns the next `count` samples, mono and in [-1, 1]; fewer at the end, then none. The caller must not modify
   * them, nor make two calls at once. Throws the signal's reason, and errors of the source.
   */
  read(count: number, signal: AbortSignal): Promise<Float32Array>;
}

/**
 * Reads a clip from its beginning.
 *
 * @param owned returns the clip that currently owns the samples, which may have been transferred
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

/** Skips up to `count` samples and returns how many there were. Throws as {@link AudioSource.read} does. */
export async function skipSamples(sound: AudioSource, count: number, signal: AbortSignal): Promise<number> {
  let skipped = 0;
  while (skipped < count) {
    const { length } = await sound.read(Math.min(count - skipped, sound.sampleRateHz), signal);
    if (length === 0) break;
    skipped += length;
  }
  return skipped;
}
