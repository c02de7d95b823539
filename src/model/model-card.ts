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
}
