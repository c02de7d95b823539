import { createHash, randomBytes } from "node:crypto";
import { AudioFormatError } from "../../audio/audio-format-error.ts";
import { base64DecodedBytes, decodeBase64Audio } from "../../audio/base64.ts";
import { decodeWav } from "../../audio/decode-wav.ts";
import { MAX_RATE_HZ } from "../../audio/recordings/decoding-budget.ts";
import { averageEvery } from "../../audio/resample.ts";
import { fieldError, ServiceError } from "../../contract/errors.ts";
import { MAX_TURN_AUDIO_BYTES } from "../../contract/limits.ts";
import type { ConversationTurn } from "../../contract/requests.ts";
import type { Clip } from "../../core/conversation.ts";
import type { Delivery, Lexicon } from "../../core/script.ts";

/** Resolves the placeholder of a turn's audio to its base64 text. */
export type TextOf = (audio: string) => string;

/**
 * Longest part of a clip that is kept, from its beginning (250 s at 24 kHz), and of all turns together (1000 s).
 * Voices need half a minute.
 */
const MAX_CLIP_SAMPLES = 6_000_000;
export const MAX_HISTORY_SAMPLES = 24_000_000;

/**
 * Decodes the audio of an earlier turn and adds it to the hash; `null` if it has none. Throws a 400 {@link
 * ServiceError} that names the turn.
 */
export function decodeHistoryAudio(
  turn: ConversationTurn,
  index: number,
  { turns, textOf }: { readonly turns: readonly ConversationTurn[]; readonly textOf: TextOf },
  hash: ContentHash,
): Clip | null {
  if (turn.audio_wav_b64 === undefined || turn.audio_wav_b64 === null) return null;
  const field = `conversation[${index}].audio_wav_b64`;
  const base64 = textOf(turn.audio_wav_b64);
  if (base64DecodedBytes(base64) > MAX_TURN_AUDIO_BYTES)
    throw fieldError(field, `is over the cap of ${MAX_TURN_AUDIO_BYTES} bytes (25 MiB) of decoded WAV`);
  try {
    const bytes = decodeBase64Audio(base64);
    const digest = createHash("sha256").update(bytes).digest();
    hash.bytes(digest);
    const maxSamples = Math.min(MAX_CLIP_SAMPLES, Math.floor(MAX_HISTORY_SAMPLES / turns.length));
    const { samples, sampleRateHz, durationS } = decodeWav(bytes, maxSamples);
    // The consumers would take seconds to convert higher rates, in threads that also speak.
    const atOnce = Math.ceil(sampleRateHz / MAX_RATE_HZ);
    return {
      samples: atOnce === 1 ? samples : averageEvery(samples, atOnce),
      sampleRateHz: Math.round(sampleRateHz / atOnce),
      durationS,
      digest: digest.toString("base64"),
      isGivenAway: true,
    };
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    throw new ServiceError(400, `${field}: ${error.message}`, { param: field, cause: error });
  }
}

/** Hash of a request's content, from which its seed follows at temperature 0. */
export class ContentHash {
  readonly #hash = createHash("sha256");

  constructor(modelId: string) {
    this.text(modelId);
  }

  /** Adds a text or its absence, with its length, so that no two lists of texts hash alike. */
  text(text: string | null): this {
    if (text === null) {
      this.#hash.update("-");
      return this;
    }
    this.#hash.update(`${text.length}:`).update(text, "utf16le");
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.#hash.update(`${bytes.length};`).update(bytes);
    return this;
  }

  /** Adds pronunciations in any order; none add nothing. */
  lexicon(words: Lexicon): this {
    if (words.length === 0) return this;
    this.#hash.update(`w${words.length};`);
    for (const [word, said] of [...words].sort(([a], [b]) => (a < b ? -1 : 1))) this.text(word).text(said);
    return this;
  }

  /**
   * Returns 64 bits: from the content if `temperature` is 0, fresh otherwise. The maximum length and the quality stay
   * out, so that a longer maximum only adds to the same audio.
   */
  seed(delivery: Delivery): bigint {
    const digest = delivery.temperature === 0 ? this.#hash.digest() : randomBytes(8);
    return digest.readBigUInt64LE(0);
  }
}
