import { setImmediate as turn } from "node:timers/promises";
import { wavHeader } from "../../audio/encode-wav.ts";
import { pcm16Bytes } from "../../audio/pcm.ts";
import type { Clip } from "../../core/conversation.ts";
import type { ChosenVoice, Script, VoicePart } from "../../core/script.ts";
import { ConversationError, type FollowedVoice } from "../../core/speech-model.ts";
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
  toLocalVoice(voice: FollowedVoice): FollowedVoice;
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

/** What a voice is called by whom the settings name it for; what they do not name is called the same there. */
export function remoteVoiceName(name: string, voices: Readonly<Record<string, string>>): string {
  return Object.hasOwn(voices, name) ? voices[name]! : name;
}

/** The name of a voice that was chosen without the settings knowing it; `null` where none was. */
export function unmappedVoice(
  part: VoicePart | null,
  voices: Readonly<Record<string, string>>,
): string | null {
  return part !== null && "id" in part && !Object.hasOwn(voices, part.id) ? part.id : null;
}

/** The one voice that a script chooses; `null` where it leaves that to the speaker's label. Throws {@link ConversationError} for a mix. */
export function singleVoice(voice: ChosenVoice | undefined): VoicePart | null {
  if (voice === undefined) return null;
  const [part] = voice;
  if (part !== undefined && voice.length === 1) return part;
  throw new ConversationError("this model speaks with one voice at a time: choose one, and no mix");
}

/** Of a name, in a message. */
const MAX_SHOWN_CHARS = 60;

/**
 * Reads an answer, in which a refusal is one of the voice that was asked for: nobody here knows whether there is one of that
 * name. Throws a {@link ConversationError} then.
 *
 * @param name what a client called it; `null` where the settings name the voice
 */
export function withVoiceCheck(name: string | null, read: ReadSpeech): ReadSpeech {
  if (name === null) return read;
  return async function* (exchange) {
    const { status } = await exchange.head();
    if (status === 400 || status === 422) {
      throw new ConversationError(
        `the model's server refused the voice ${JSON.stringify(name.slice(0, MAX_SHOWN_CHARS))} (${status}): name one of those that GET /v1/audio/voices lists for the model`,
      );
    }
    return yield* read(exchange);
  };
}

/** Together with the head a multiple of 3 bytes, as base64 needs it of every piece but the last. */
const FIRST_SAMPLES = 2;
/** A multiple of 3, which takes less than a millisecond. */
const CHUNK_SAMPLES = 48_000;

/**
 * A clip as a WAV of 16 bits at its own rate, in base64, in pieces; samples that were read from 16 bits are the same
 * again. Others have their turn between two pieces. Throws the signal's reason when that aborts.
 */
export async function encodeBase64Wav(
  { samples, sampleRateHz }: Clip,
  signal: AbortSignal,
): Promise<Buffer[]> {
  const first = samples.subarray(0, FIRST_SAMPLES);
  const head = Buffer.concat([wavHeader(2 * samples.length, sampleRateHz), bytesOf(first)]);
  const pieces = [asText(head)];
  for (let at = FIRST_SAMPLES; at < samples.length; at += CHUNK_SAMPLES) {
    pieces.push(asText(bytesOf(samples.subarray(at, at + CHUNK_SAMPLES))));
    await turn();
    signal.throwIfAborted();
  }
  return pieces;
}

function bytesOf(samples: Float32Array): Uint8Array {
  const pcm = new Int16Array(samples.length);
  for (let at = 0; at < pcm.length; at += 1) pcm[at] = Math.min(32_767, Math.round(samples[at]! * 32_768));
  return pcm16Bytes(pcm);
}

function asText(bytes: Uint8Array): Buffer {
  return Buffer.from(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
    "latin1",
  );
}
