import type { SpeakerLabel } from "../../model/conversation.ts";
import type { EndpointEvent } from "./endpoints.ts";

/** A speech model elsewhere. */
export interface RemoteOptions {
  /** The checkpoint's name, for messages. */
  readonly name: string;
  /** A server with OpenAI's `POST /audio/speech`, or another Antiphon. */
  readonly kind: "openai" | "antiphon";
  /** Where its routes begin, as in `http://127.0.0.1:8880/v1`; of several alike, any may be asked. */
  readonly urls: readonly string[];
  /** What it calls the model; `null` is its default, which only an Antiphon has. */
  readonly model: string | null;
  /** What it calls the voices of speakers. A speaker that is not in it has its own label there. */
  readonly voices: Readonly<Record<SpeakerLabel, string>>;
  /** What is asked of `openai`. */
  readonly format: "wav" | "pcm";
  /** The rate of samples that come without a head. */
  readonly sampleRateHz: number;
  /** Whether it clones voices. */
  readonly references: boolean;
  /** Goes to those hosts alone; `null` sends none. */
  readonly apiKey: string | null;
  /** Until the first sound, all tries included. */
  readonly firstSoundTimeoutMs: number;
  /** The longest silence after it, while more is waited for. */
  readonly idleTimeoutMs: number;
  readonly onEvent?: (event: EndpointEvent) => void;
}
