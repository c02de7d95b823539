import type { SpeakerLabel, Turn } from "./conversation.ts";

/** What a writer is given: the earlier turns (audio-only ones have no text) and whose turn it is. */
export interface Dialogue {
  readonly history: readonly Turn[];
  readonly speaker: SpeakerLabel;
  /** 0 to 1.5; 0 always writes the same. */
  readonly temperature: number;
  readonly seed: bigint;
}

/** Writes what the open turn says, a whole sentence at a time; stops within half a second of the signal. */
export interface Writer {
  write(dialogue: Dialogue, signal: AbortSignal): AsyncIterable<string>;
  close(): Promise<void>;
}
