import type { MarkedText } from "./marked-text.ts";

/** A role label such as `"0"`: who speaks, by position, never a name. */
export type SpeakerLabel = string;

/** Recorded speech: mono samples in [-1, 1] at the rate it was recorded at. Whoever listens resamples. */
export interface Clip {
  readonly samples: Float32Array;
  readonly sampleRateHz: number;
  readonly durationS: number;
  /** Names what is recorded: clips of one digest are the same. */
  readonly digest: string;
  /** Nobody needs the samples after whoever is given the clip: they may be taken to another thread, and be gone here. */
  readonly isGivenAway?: boolean;
}

/** One earlier turn. It has text, or audio, or both; never neither. */
export interface Turn {
  readonly speaker: SpeakerLabel;
  readonly text: string | null;
  readonly audio: Clip | null;
}

/** The turn to complete. `text: null` asks a writer for the words (an authored turn). */
export interface OpenTurn {
  readonly speaker: SpeakerLabel;
  readonly text: string | null;
  /** The text with its marks, where it has any. */
  readonly marked?: MarkedText;
}

/** Turns, oldest first, decoded and checked: nothing downstream checks them again. */
export interface Conversation {
  readonly history: readonly Turn[];
  readonly open: OpenTurn;
}
