import { setImmediate as turn } from "node:timers/promises";
import { wavHeader } from "../../audio/encode-wav.ts";
import { pcm16Bytes } from "../../audio/pcm.ts";
import type { Clip } from "../../core/conversation.ts";
import type { ChosenVoice, Script, VoicePart } from "../../core/script.ts";
import { ConversationError, type FollowedVoice } from "../../core/speech-model.ts";
import type { ReadSpeech } from "./speech-chunks.ts";

export interface Dialect {
  /** Path of the route: `/audio/speech`. */
  readonly route: string;
  readonly accept: string;
  /** Prepares what the requests of an utterance share. Throws the signal's reason. */
  prepare(script: Script, signal: AbortSignal): Promise<PreparedRequests>;
}

export interface PreparedRequests {
  readonly maxChars: number;
  /** Returns the request for a text, of which at most so many frames are used. */
  request(text: string, maxFrames: number): SpeechCall;
  /** Releases shared data after the last request. */
  finish(): void;
  /** Translates the speaker of a remote voice to its local name. */
  toLocalVoice(voice: FollowedVoice): FollowedVoice;
}

export interface SpeechCall {
  readonly body: readonly Uint8Array[];
  readonly read: ReadSpeech;
}

export interface RemoteOptions {
  readonly name: string;
  /** OpenAI's `POST /audio/speech`, or another Antiphon. */
  readonly kind: "openai" | "antiphon";
  /** Base URLs of equivalent servers: `http://127.0.0.1:8880/v1`. */
  readonly urls: readonly string[];
  /** Remote name of the model; `null`: the default, for Antiphon only. */
  readonly model: string | null;
  /** Remote names of speakers and voices. Others have the same name there. */
  readonly voices: Readonly<Record<string, string>>;
  readonly format: "wav" | "pcm";
  readonly sampleRateHz: number;
  readonly references: boolean;
  /** API key, sent only to the hosts of `urls`; `null`: none. */
  readonly apiKey: string | null;
  /** Maximum time to the first audio, including all attempts. */
  readonly firstSoundTimeoutMs: number;
  /** Maximum gap between later chunks of audio. */
  readonly idleTimeoutMs: number;
  readonly onEvent?: (event: EndpointEvent) => void;
}

/** A change in an endpoint's health, not reported per request. */
export interface EndpointEvent {
  readonly kind: "failing" | "recovered";
  readonly checkpoint: string;
  readonly endpoint: string;
  /** The problem, current or past; it contains no key and quotes nothing that the endpoint sent. */
  readonly problem: string;
}

export function remoteVoiceName(name: string, voices: Readonly<Record<string, string>>): string {
  return Object.hasOwn(voices, name) ? voices[name]! : name;
}

/** Returns the name of a chosen voice that the settings do not map; `null` if there is none. */
export function unmappedVoice(
  part: VoicePart | null,
  voices: Readonly<Record<string, string>>,
): string | null {
  return part !== null && "id" in part && !Object.hasOwn(voices, part.id) ? part.id : null;
}

/**
 * Returns the one voice that a script chooses; `null` for the speaker's own. Throws {@link ConversationError} for a
 * mix.
 */
export function singleVoice(voice: ChosenVoice | undefined): VoicePart | null {
  if (voice === undefined) return null;
  const [part] = voice;
  if (part !== undefined && voice.length === 1) return part;
  throw new ConversationError("this model speaks with one voice at a time: choose one, and no mix");
}

const MAX_SHOWN_CHARS = 60;

/**
 * Wraps a reader so that a refusal blames the voice, whose name cannot be checked here, with a {@link
 * ConversationError}.
 *
 * @param name the client's name of the voice; `null` if the settings map it
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

/** With the header a multiple of 3 bytes, as base64 requires for every chunk but the last. */
const FIRST_SAMPLES = 2;
/** A multiple of 3 that takes less than 1 ms. */
const CHUNK_SAMPLES = 48_000;

/**
 * Encodes a clip as base64 of a 16-bit WAV at its own rate, in chunks; lossless for samples read from 16 bits. Yields
 * to other work between chunks. Throws the signal's reason.
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
