import type { Clip, SpeakerLabel, Turn } from "./conversation.ts";
import type { TextPiece } from "./marked-text.ts";

/** Fidelity of the audio. Does not change the wire format. */
export type AudioQuality = "low" | "medium" | "high";

/** Resolved parameters of one request. Only `topK` may still be `null`. */
export interface Delivery {
  /** 0 to 1.5. At 0, equal scripts give equal bytes. */
  readonly temperature: number;
  /** 0 to 1.5, for fine acoustic detail. */
  readonly acousticTemperature: number;
  /** Number of likeliest choices to sample from; `null` for all. */
  readonly topK: number | null;
  /** 0 to 6, subtractive; 0 is off. */
  readonly repetitionPenalty: number;
  /** 1 to 80 frames. */
  readonly penaltyWindow: number;
  /** Maximum length in frames of 80 ms; at least 16. */
  readonly maxFrames: number;
  readonly quality: AudioQuality;
}

/** Parameters without effect, and why, in a sentence for users. */
export type UnusedKnobs = Readonly<Partial<Record<keyof Delivery, string>>>;

/** Options that a public model adds to its checkpoint; the engine documents them. */
export type Preset = Readonly<Record<string, string | number | boolean>>;

/** Words and their pronunciations: `/phonemes/`, or other words to read instead. */
export type Lexicon = readonly (readonly [word: string, said: string])[];

/** A part of a voice: a built-in voice, or a recording. Weights are positive and add up to 1. */
export type VoicePart = { readonly weight: number } & (
  | { readonly id: string }
  | { readonly sample: VoiceSample }
);

export interface VoiceSample {
  /** 1 to 30 s of one speaker. Later scripts use it again, so it must not be transferred. */
  readonly clip: Clip;
  /** Transcript of the clip; `null` if unknown. */
  readonly text: string | null;
  /** Default manner of this voice. */
  readonly manner?: RequestedManner;
}

/** Usually one part; several are a mix. Never empty. */
export type ChosenVoice = readonly VoicePart[];

/** A voice that a text names: a chosen one, or that of a label. */
export interface TextVoice {
  readonly voice?: ChosenVoice;
  readonly speaker?: SpeakerLabel;
}

/** All inputs of a speech model for one turn. */
export interface Script {
  /** Earlier turns. Their audio is analysed before the first frame and may be freed after it. */
  readonly history: readonly Turn[];
  readonly speaker: SpeakerLabel;
  /**
   * The voice, whatever audio the speaker's turns have. Default: the label's voice, following the audio of the
   * speaker's turns.
   */
  readonly voice?: ChosenVoice;
  /** Language of the speaker labels' voices, and of a text that a recording's voice speaks. Default: the voice's own. */
  readonly language?: string;
  /** Voices that the text names, by its own names for them. */
  readonly textVoices?: Readonly<Record<string, TextVoice>>;
  /** Passages of whole sentences: one for given text, a stream for written replies. */
  readonly text: AsyncIterable<TextPiece>;
  readonly delivery: Delivery;
  /** How to speak; ignored by engines without manners. */
  readonly manner?: RequestedManner;
  readonly preset: Preset;
  /** User lexicon; ignored by engines without phonemes. */
  readonly lexicon?: Lexicon;
  /** Whether frames include phonemes and visemes. */
  readonly hasMouth?: boolean;
  /** 64 bits: derived from the content at temperature 0, random above. */
  readonly seed: bigint;
  /** The key of the request. When the CPU is scarce, keys get equal shares. */
  readonly keyId?: string;
  /** Headers that propagate the request's trace to an endpoint. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

/** Factors relative to a voice's own way of speaking; 1 changes nothing. */
export interface Manner {
  /** Above 1 is faster. */
  readonly tempo: number;
  readonly pitch: number;
  /** Scales the pitch's distance from its median, in semitones. */
  readonly range: number;
  /** Scales pauses. */
  readonly pause: number;
  /** Decibels added. */
  readonly levelDb: number;
}

/** A requested manner, and the factors recognised in it. */
export interface RequestedManner {
  /** Never blank. */
  readonly words: string;
  readonly figures: Manner;
}
