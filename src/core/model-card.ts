import type { SpeakerLabel } from "./conversation.ts";

/** Kind of endpoint that may use a model. */
export type Mode = "converse" | "tts";

/** A public model. The id is stable and hides the checkpoint. */
export interface ModelCard {
  readonly id: string;
  readonly displayName: string;
  readonly modes: readonly Mode[];
  /** Valid labels, in turn order. */
  readonly speakers: readonly SpeakerLabel[];
  /** Whether requests without `model` use it. */
  readonly isDefault: boolean;
  readonly description: string;
  /** The model's built-in voices: at least one, including those of the labels. */
  readonly voices: readonly ModelVoice[];
  /** Voice ids of labels, where the two differ. */
  readonly labels?: Readonly<Record<SpeakerLabel, string>>;
  /** Voice ids of labels in requests that name a language, by its tag. */
  readonly languageLabels?: Readonly<Record<string, Readonly<Record<SpeakerLabel, string>>>>;
  /** Voices of other languages than the one that a request asks for. Default: none. */
  readonly others?: readonly ModelVoice[];
  readonly takes: VoiceSupport;
}

/** A built-in voice of a model. */
export interface ModelVoice {
  /** Unique within the model, ignoring case. */
  readonly id: string;
  readonly name: string;
  /** `null` if the model does not say. */
  readonly sex: "female" | "male" | null;
  /** BCP 47 tag of what it speaks, such as `en-US`; `null` if the model does not say. */
  readonly language: string | null;
  readonly description: string;
  /** OpenAI voice names for this voice. Each of OpenAI's thirteen names one voice of the model. */
  readonly aliases: readonly string[];
}

/** Returns the id of a label's voice. A name that is not a label is returned as an id. */
export function voiceIdOf(label: SpeakerLabel, { labels = {} }: Pick<ModelCard, "labels">): string {
  return Object.hasOwn(labels, label) ? labels[label]! : label;
}

/** Voices and instructions a model accepts beyond its built-in voices. */
export interface VoiceSupport {
  /** Weighted mixes of built-in voices. */
  readonly mixes: boolean;
  /** Recordings. */
  readonly samples: boolean;
  /** Unknown voice names, which are passed to the remote model. Default: false. */
  readonly anyName?: boolean;
  /**
   * How `instructions` are followed: `figures` applies the factors that were recognised, `words` passes the text to a
   * remote model. Default: ignored.
   */
  readonly manner?: "figures" | "words";
  /** Whether it follows marks on parts of a text. Every model makes pauses. */
  readonly marks?: boolean;
  /** Whether it reads every text in its voice's language. */
  readonly oneLanguage?: boolean;
}
