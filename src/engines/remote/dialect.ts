import type { Script } from "../../model/script.ts";
import type { HeardVoice } from "../../model/speech-model.ts";
import type { ReadSounds } from "./sounds.ts";

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
  readonly read: ReadSounds;
}
