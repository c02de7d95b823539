import type { SpeakerLabel } from "./conversation.ts";

/** What an endpoint can ask of a model. */
export type Mode = "converse" | "tts";

/** A public model as its users see it: the id is stable and hides the checkpoint. */
export interface ModelCard {
  readonly id: string;
  readonly displayName: string;
  readonly modes: readonly Mode[];
  /** Valid labels, in turn order. */
  readonly speakers: readonly SpeakerLabel[];
  /** True for the model that a request without `model` gets. */
  readonly isDefault: boolean;
  readonly description: string;
  /** The model's own voices: at least one. Those that the labels stand for are among them. */
  readonly voices: readonly ModelVoice[];
  /** The ids of the voices that labels stand for, where those are not called as the labels are. */
  readonly labels?: Readonly<Record<SpeakerLabel, string>>;
  readonly takes: VoiceSupport;
}

/** A voice of a model's own. */
export interface ModelVoice {
  /** Unique within the model, whatever the case of its letters. */
  readonly id: string;
  readonly name: string;
  /** `null` where the model does not say. */
  readonly sex: "female" | "male" | null;
  /** What is spoken with it, as a language tag: `en-US`. `null` where the model does not say. */
  readonly accent: string | null;
  readonly description: string;
  /** OpenAI's names that mean this voice on this model; each of the thirteen means exactly one voice of it. */
  readonly aliases: readonly string[];
}

/** The id of the voice that a label stands for; a name that is no label's is taken as an id. */
export function voiceIdOf(label: SpeakerLabel, { labels = {} }: Pick<ModelCard, "labels">): string {
  return Object.hasOwn(labels, label) ? labels[label]! : label;
}

/** What a voice may be besides one of the model's own. */
export interface VoiceSupport {
  /** Several of the model's own, weighted. */
  readonly mixes: boolean;
  /** Somebody's recording. */
  readonly samples: boolean;
  /** Any name that is not known here: it is passed on to who computes elsewhere. Absent, none. */
  readonly anyName?: boolean;
  /**
   * How it speaks: `figures` is followed as far as it was understood, `words` goes to who computes elsewhere as it was
   * written. Absent, nothing is done.
   */
  readonly manner?: "figures" | "words";
  /** Whether it follows what a text says of how parts of it are spoken. Pauses are made for every model. */
  readonly marks?: boolean;
  /** Whether it reads every text as English. */
  readonly englishOnly?: boolean;
}
