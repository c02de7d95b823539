import type { Clip, SpeakerLabel, Turn } from "./conversation.ts";
import type { TextPiece } from "./marked-text.ts";

/** How faithful the audio is. The wire format never changes with it. */
export type AudioQuality = "low" | "medium" | "high";

/** The knobs of one request, all resolved: no `null` follows anything any more but `topK`. */
export interface Delivery {
  /** 0 to 1.5. 0 is the model's own reading of the script, and repeats byte for byte. */
  readonly temperature: number;
  /** 0 to 1.5. Fine acoustic detail. */
  readonly acousticTemperature: number;
  /** Most likely choices to sample from; `null` is all of them. */
  readonly topK: number | null;
  /** 0 to 6, subtractive: 0 is off. */
  readonly repetitionPenalty: number;
  /** 1 to 80 frames. */
  readonly penaltyWindow: number;
  /** 16 or more. Frames of 80 ms that the audio may have at most. */
  readonly maxFrames: number;
  readonly quality: AudioQuality;
}

/** Knobs that do nothing, and why, in a sentence for people. */
export type UnusedKnobs = Readonly<Partial<Record<keyof Delivery, string>>>;

/** What a public model adds to its checkpoint: named options that the engine documents. */
export type Preset = Readonly<Record<string, string | number | boolean>>;

/** Words and how each is said: `/phonemes/`, or other words that are read in its place. */
export type Lexicon = readonly (readonly [word: string, said: string])[];

/** One part of a voice: one of the model's own voices by its id, or somebody's recording. `weight` > 0; a mix's add up to 1. */
export type VoicePart = { readonly weight: number } & (
  | { readonly id: string }
  | { readonly sample: VoiceSample }
);

/** A voice by its recording. */
export interface VoiceSample {
  /** 1 to 30 s of one person's speech. Used again by later scripts: it is never given away. */
  readonly clip: Clip;
  /** All that is said in it; `null` where that is not known. */
  readonly text: string | null;
  /** How it speaks where nothing else is asked for. */
  readonly manner?: RequestedManner;
}

/** Whose voice speaks: mostly one part; several are a mix. Never empty. */
export type ChosenVoice = readonly VoicePart[];

/** A voice that a text names for a part of it: one that was chosen, or the one that a label stands for. */
export interface TextVoice {
  readonly voice?: ChosenVoice;
  readonly speaker?: SpeakerLabel;
}

/** All that a speech model needs to speak one turn. */
export interface Script {
  /** Its audio is listened to before the first frame, and may be gone after it. */
  readonly history: readonly Turn[];
  readonly speaker: SpeakerLabel;
  /**
   * Whose voice speaks, with whatever audio the speaker's turns have. Absent, the one that the speaker's label stands for;
   * where its turns have audio, that is followed.
   */
  readonly voice?: ChosenVoice;
  /** The voices that the text names for parts of it, by what it calls them. */
  readonly textVoices?: Readonly<Record<string, TextVoice>>;
  /** Pieces of text, each of one or more whole sentences: one piece for given words, a stream for written ones. */
  readonly text: AsyncIterable<TextPiece>;
  readonly delivery: Delivery;
  /** How it is said; an engine that takes none does nothing with it. Absent, the voice's own way. */
  readonly manner?: RequestedManner;
  readonly preset: Preset;
  /** The speaker's own words; an engine without phonemes does nothing with them. */
  readonly lexicon?: Lexicon;
  /** Whether frames tell of the mouth too. */
  readonly hasMouth?: boolean;
  /** 64 bits: from the request's content at temperature 0, fresh above. */
  readonly seed: bigint;
  /** The key whose request it is: where there is too little time for all, keys get equal parts of it. */
  readonly keyId?: string;
  /** Headers that carry the request's trace on to an endpoint that speaks. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

/** How something is said, against a voice's own way: factors, of which 1 changes nothing. */
export interface Manner {
  /** Above 1 is faster. */
  readonly tempo: number;
  readonly pitch: number;
  /** On how far the pitch moves away from its median, in semitones. */
  readonly range: number;
  /** On the length of pauses. */
  readonly pause: number;
  /** Added to the level. */
  readonly levelDb: number;
}

/** A manner as somebody asked for it, and what was understood of that. */
export interface RequestedManner {
  /** Never blank. */
  readonly words: string;
  readonly figures: Manner;
}
