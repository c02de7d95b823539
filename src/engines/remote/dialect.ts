import type { Script } from "../../core/script.ts";
import type { HeardVoice } from "../../core/speech-model.ts";
import type { ReadSpeech } from "./speech-chunks.ts";

/** How a kind of server is asked for speech. */
export interface Dialect {
  /** Its route, as in `/audio/speech`. */
  readonly route: string;
  /** What answer is asked for: a value of `Accept`. */
  readonly accept: string;
  /** Readies what the requests of an utterance have in common. Throws the signal's reason when that aborts. */
  prepare(script: Script, signal: AbortSignal): Promise<PreparedRequests>;
}

/** The requests of one utterance. */
export interface PreparedRequests {
  /** Code points that one may have. */
  readonly maxChars: number;
  /** The one for some words, of which so many frames are taken at most. */
  request(text: string, maxFrames: number): SpeechCall;
  /** No more words will come: lets go of what the requests have in common. */
  finish(): void;
  /** A voice that was heard there, with its speaker as it is called here. */
  voiceOf(voice: HeardVoice): HeardVoice;
}

/** A request's body, as JSON in pieces, and how its answer is read. */
export interface SpeechCall {
  readonly body: readonly Uint8Array[];
  readonly read: ReadSpeech;
}

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
  /** What it calls the voices of speakers, and others. One that is not in it is called the same there. */
  readonly voices: Readonly<Record<string, string>>;
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

/** What became of an endpoint: told when it changes, not at every request. */
export interface EndpointEvent {
  readonly kind: "failing" | "recovered";
  readonly checkpoint: string;
  /** Host and port. */
  readonly endpoint: string;
  /** What is wrong, or was; quotes nothing that the endpoint sent, and holds no key. */
  readonly problem: string;
}
