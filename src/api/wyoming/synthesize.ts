import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { ServiceError } from "../../contract/errors.ts";
import { countChars, MAX_SPEECH_FRAMES, MAX_TEXT_CHARS } from "../../contract/limits.ts";
import { isWithin } from "../../serving/prepare/choose-language.ts";
import type { Caller } from "../../serving/prepare/request-reader.ts";
import {
  type ResolvedRequest,
  type ResolveModel,
  resolveTts,
} from "../../serving/prepare/resolve-request.ts";
import { StreamedText } from "../../serving/reply/streamed-text.ts";
import type { ConnectionActivity } from "./eviction.ts";
import type { WyomingDeps } from "./requests.ts";
import { type WyomingEvent, wyomingEvent } from "./wyoming-event.ts";

/** Validates `synthesize`. Throws a 400 or 422 {@link ServiceError} that names the field. */
export function prepareSynthesize(data: WyomingEvent["data"], { resolve }: WyomingDeps): ResolvedRequest {
  const inputType = formatOf(data);
  const text = requiredText(data);
  if (countChars(text) > MAX_TEXT_CHARS) {
    throw new ServiceError(422, `text has more than ${MAX_TEXT_CHARS} characters: send it in parts`);
  }
  return resolved({ text, ...(inputType === null ? {} : { input_type: inputType }) }, data, resolve);
}

/** Validates `synthesize-start`, whose words follow. Throws as {@link prepareSynthesize} does. */
export function prepareSynthesizeStream(
  data: WyomingEvent["data"],
  { resolve }: WyomingDeps,
): ResolvedRequest {
  formatOf(data);
  return resolved({}, data, resolve);
}

/** Returns the text of an event. Throws a 422 {@link ServiceError} if it has none. */
export function requiredText({ text }: WyomingEvent["data"]): string {
  if (typeof text === "string") return text;
  throw new ServiceError(422, "text is missing: send the words to speak, as a string");
}

function resolved(
  request: Parameters<typeof resolveTts>[0],
  data: WyomingEvent["data"],
  resolve: ResolveModel,
): ResolvedRequest {
  const voice = voiceOf(data.voice);
  return resolveTts({ ...request, ...(voice === null ? {} : { [voice.kind]: voice.word }) }, resolve, {
    fields: { text: "text", voice: voice?.field ?? "voice", language: "voice.language" },
    maxFrames: MAX_SPEECH_FRAMES,
  });
}

/** Returns the text format; `null`: detect it from the text, as is always done for a stream. */
function formatOf({ text_format: format }: WyomingEvent["data"]): "ssml" | null {
  if (format === undefined || format === null || format === "text") return null;
  if (format === "ssml") return format;
  throw new ServiceError(400, 'text_format is not read here: send "text" or "ssml", or leave it out');
}

export interface SpeechClient {
  send(event: WyomingEvent): Promise<void>;
  /** Ends the connection of a client that receives nothing. */
  cut(reason: ServiceError): void;
}

/**
 * Sends speech as `audio-start`, an `audio-chunk` per frame, and `audio-stop`, at the client's pace. `audio-start` is
 * sent with the first frame. Throws the service's error or the abort reason; then `audio-stop` is not sent.
 */
export async function sendSpeech(
  client: SpeechClient,
  { service }: WyomingDeps,
  prepared: ResolvedRequest,
  caller: Caller,
  words?: StreamedText,
): Promise<void> {
  const speech = service.speak(prepared, {
    ...caller,
    encoding: "pcm",
    isStreamed: true,
    // Home Assistant stores a whole text as a file, and plays a stream as it arrives.
    isPlayed: words !== undefined,
    onEnded: (reason) => client.cut(reason),
    ...(words === undefined ? {} : { streamedText: words }),
  });
  let sentSamples = 0;
  for await (const { bytes: pcm } of speech) {
    const timestamp = Math.round((1_000 * sentSamples) / SAMPLE_RATE_HZ);
    if (sentSamples === 0) await client.send(wyomingEvent("audio-start", { ...FORMAT, timestamp }));
    await client.send(wyomingEvent("audio-chunk", { ...FORMAT, timestamp }, pcm));
    sentSamples += pcm.length / FORMAT.width;
  }
  await client.send(
    wyomingEvent("audio-stop", { timestamp: Math.round((1_000 * sentSamples) / SAMPLE_RATE_HZ) }),
  );
}

/** Format of the samples: Hz, bytes, channels. */
const FORMAT = { rate: SAMPLE_RATE_HZ, width: 2, channels: 1 } as const;

interface NamedVoice {
  readonly kind: "voice" | "language";
  readonly word: string;
  readonly field: string;
}

/**
 * Returns the voice named by the event (any that `POST /v1/tts` accepts), or else its language; `null` for English, which
 * the usual voices speak. Throws a 400 or 422 {@link ServiceError} that names the field.
 */
function voiceOf(voice: unknown): NamedVoice | null {
  if (voice === undefined || voice === null) return null;
  if (typeof voice !== "object")
    throw new ServiceError(422, "voice must be an object with a name or a language");
  const { name, language, speaker } = voice as Record<string, unknown>;
  // A voice has one speaker, so either name identifies it.
  for (const [field, request] of Object.entries({ "voice.name": name, "voice.speaker": speaker })) {
    if (request === undefined || request === null || request === "") continue;
    if (typeof request !== "string") throw new ServiceError(422, `${field} must be a string`);
    return { kind: "voice", word: request, field };
  }
  if (language === undefined || language === null || language === "") return null;
  if (typeof language !== "string") throw new ServiceError(422, "voice.language must be a string");
  if (isWithin(language.replaceAll("_", "-"), "en")) return null;
  return { kind: "language", word: language, field: "voice.language" };
}

/** A text that is spoken while it arrives. */
export class SynthesizeStream {
  readonly words = new StreamedText(MAX_TEXT_CHARS);
  /** Resolves when `synthesize-stopped` was sent. Never rejects. */
  readonly speaking: Promise<void>;
  /** When it was opened, last received a word or last sent audio. */
  #lastProgressMs = performance.now();
  #sending = 0;
  #isOver = false;
  #isWhole = false;
  #sentChars = 0;

  /** @param speak speaks the text to the client; never rejects */
  constructor(speak: (stream: SynthesizeStream) => Promise<void>) {
    this.speaking = speak(this).then(() => {
      this.#isOver = true;
    });
  }

  /** Whether `synthesize-stopped` was sent. The client may still be sending words. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the characters of a part that may still be spoken. Call it once per part. */
  countSpeakable(text: unknown): number {
    if (typeof text !== "string") return 0;
    this.#sentChars += text.length;
    return this.#isOver || this.#sentChars > MAX_TEXT_CHARS ? 0 : text.length;
  }

  push(piece: string): void {
    if (this.words.push(piece)) this.#lastProgressMs = performance.now();
  }

  async sent(sending: Promise<void>): Promise<void> {
    this.#sending += 1;
    try {
      await sending;
    } finally {
      this.#sending -= 1;
      this.#lastProgressMs = performance.now();
    }
  }

  async end(): Promise<void> {
    this.#isWhole = true;
    this.words.end();
    await this.speaking;
  }

  get activity(): ConnectionActivity {
    const ageMs = performance.now() - this.#lastProgressMs;
    if (this.#isWhole || this.#sending > 0 || this.words.hasMore) return { is: "served" };
    return { is: this.words.hasBegun ? "pausing" : "empty", ageMs };
  }
}
