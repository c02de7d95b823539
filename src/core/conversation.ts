import type { MarkedText } from "./marked-text.ts";

/** Role of a speaker by position, such as `"0"`. Never a name. */
export type SpeakerLabel = string;

/** Recorded speech: mono samples in [-1, 1] at their original rate. */
export interface Clip {
  readonly samples: Float32Array;
  readonly sampleRateHz: number;
  readonly durationS: number;
  /** Identifies the content: clips with equal digests are equal. */
  readonly digest: string;
  /** Whether the receiver owns the samples: it may transfer them to another thread, which empties them here. */
  readonly isGivenAway?: boolean;
}

/** An earlier turn, with text, audio or both. */
export interface Turn {
  readonly speaker: SpeakerLabel;
  readonly text: string | null;
  readonly audio: Clip | null;
}

/** The turn to complete. `text: null` asks a writer for the words (an authored turn). */
export interface OpenTurn {
  readonly speaker: SpeakerLabel;
  readonly text: string | null;
  /** The text with its marks, if it has any. */
  readonly marked?: MarkedText;
}

/** Decoded and validated turns, oldest first. Later stages need not check them again. */
export interface Conversation {
  readonly history: readonly Turn[];
  readonly open: OpenTurn;
}
