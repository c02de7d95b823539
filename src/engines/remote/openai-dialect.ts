import { AudioFormatError } from "../../audio/audio-format-error.ts";
import { readWavHead as readAnyWavHead } from "../../audio/decode-wav.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { Resampler } from "../../audio/resample.ts";
import type { Clip, SpeakerLabel, Turn } from "../../core/conversation.ts";
import type { VoiceSample } from "../../core/script.ts";
import { ConversationError } from "../../core/speech-model.ts";
import { withoutPhonemes } from "../../text/phonemes/given-phonemes.ts";
import { AttemptError, checkStatus, permanentError } from "./attempt-error.ts";
import {
  type Dialect,
  encodeBase64Wav,
  type RemoteOptions,
  remoteVoiceName,
  singleVoice,
  unmappedVoice,
  withVoiceCheck,
} from "./dialect.ts";
import type { HttpExchange, ResponseHead } from "./http-exchange.ts";
import { PcmDecoder } from "./pcm-frames.ts";
import type { ReadSpeech, SpeechChunk, SpeechEnd } from "./speech-chunks.ts";

/** Limit of OpenAI's own API. */
const MAX_CHARS = 4_096;
/** About twice the usual rate of letters and digits. */
const MAX_CHARS_PER_S = 40;

/**
 * Creates the dialect of OpenAI's `POST /audio/speech`. It sends text, a voice, a speed and instructions, and at most
 * one clip to clone, from an earlier turn or a chosen recording. The API takes no other parameters or pronunciations.
 */
export function openaiDialect(options: RemoteOptions): Dialect {
  const { voices, format, sampleRateHz, references } = options;
  return {
    route: "/audio/speech",
    accept: "audio/wav, audio/pcm, audio/*;q=0.5",
    async prepare({ history, speaker, voice: chosen, manner, preset }, signal) {
      const part = singleVoice(chosen);
      const heard = references && part === null ? await findReference(history, speaker, signal) : null;
      let reference =
        part !== null && "sample" in part ? await encodeReference(part.sample, options, signal) : heard;
      const name = part !== null && "id" in part ? part.id : speaker;
      const voice = remoteVoiceName(name, voices);
      const passedOn = unmappedVoice(part, voices);
      const speed = typeof preset.rate === "number" ? preset.rate : 1;
      const instructions = manner?.words ?? null;
      const model = options.model ?? "";
      return {
        maxChars: MAX_CHARS,
        request(text) {
          const input = withoutPhonemes(text).trim();
          const minS = (input.match(/[\p{L}\p{N}]/gu)?.length ?? 0) / MAX_CHARS_PER_S;
          return {
            body: speechBody({ model, input, voice, speed, instructions, format, reference }),
            read: withVoiceCheck(passedOn, readOpenAiSpeech({ format, sampleRateHz, minS })),
          };
        },
        finish() {
          reference = null;
        },
        toLocalVoice: (heard) => heard,
      };
    },
  };
}

interface SpeechRequest {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  /** 1: the voice's own. */
  readonly speed: number;
  readonly instructions: string | null;
  readonly format: "wav" | "pcm";
  readonly reference: Reference | null;
}

/** Encodes the body. Newer servers read `stream_format`, older ones `stream`; others ignore both. */
function speechBody(asked: SpeechRequest): Uint8Array[] {
  const { model, input, voice, speed, instructions, format, reference } = asked;
  const body = {
    model,
    input,
    ...(reference === null ? { voice } : { ref_text: reference.text }),
    response_format: format,
    stream: true,
    stream_format: "audio",
    ...(speed === 1 ? {} : { speed }),
    ...(instructions === null ? {} : { instructions }),
  };
  const json = JSON.stringify(body);
  if (reference === null) return [Buffer.from(json)];
  const open = Buffer.from(`${json.slice(0, -1)},"ref_audio":"data:audio/wav;base64,`);
  return [open, ...reference.wavBase64, Buffer.from('"}')];
}

interface Reference {
  readonly text: string;
  /** Base64 of a WAV, in chunks. */
  readonly wavBase64: readonly Uint8Array[];
}

/** Lengths of clips that servers accept. */
const SECONDS = { min: 1, max: 30 } as const;

/** Returns the speaker's latest clip of 1 to 30 s with text; `null` if there is none. */
async function findReference(
  history: readonly Turn[],
  speaker: SpeakerLabel,
  signal: AbortSignal,
): Promise<Reference | null> {
  for (const { speaker: of, text, audio } of history.toReversed()) {
    if (of !== speaker || text === null || audio === null || !isSuitable(audio)) continue;
    return { text, wavBase64: await encodeBase64Wav(audio, signal) };
  }
  return null;
}

/** Encodes a chosen recording. Throws {@link ConversationError} if the server accepts none, or not this one. */
async function encodeReference(
  { clip, text }: VoiceSample,
  { references }: RemoteOptions,
  signal: AbortSignal,
): Promise<Reference> {
  if (!references)
    throw new ConversationError("this model follows no recording: choose one of its own voices");
  if (text === null) {
    throw new ConversationError(
      "this model needs to know what is said in a recording: make the voice again with its ref_text",
    );
  }
  return { text, wavBase64: await encodeBase64Wav(clip, signal) };
}

/** The text of a truncated clip has too many words. */
function isSuitable({ durationS, samples, sampleRateHz }: Clip): boolean {
  const isWhole = samples.length >= durationS * sampleRateHz - 1;
  return isWhole && durationS >= SECONDS.min && durationS <= SECONDS.max;
}

interface ExpectedSpeech {
  readonly format: "wav" | "pcm";
  readonly sampleRateHz: number;
  /** Shorter audio cannot be the whole text. */
  readonly minS: number;
}

/** 60 dB below full scale: quieter audio is not speech. */
const MIN_PEAK = 1e-3;

/**
 * Reads a response of 16-bit WAV or headerless PCM as mono at 24 kHz. A WAV is recognised by its first bytes even if
 * PCM was requested. Throws {@link AttemptError} for other data, and for audio that is far too short or silent.
 */
export function readOpenAiSpeech({ format, sampleRateHz, minS }: ExpectedSpeech): ReadSpeech {
  return async function* (exchange): AsyncGenerator<SpeechChunk, SpeechEnd, void> {
    const head = await exchange.head();
    checkStatus(head);
    checkType(head);
    const { first, layout } = await detectFormat(exchange, format, sampleRateHz);
    const reader = new PcmDecoder(layout.channels);
    const rateHz = layout.sampleRateHz;
    const resampler = rateHz === SAMPLE_RATE_HZ ? null : new Resampler(rateHz, SAMPLE_RATE_HZ);
    let leftBytes = layout.dataBytes ?? Number.POSITIVE_INFINITY;
    let given = 0;
    let peak = 0;
    const take = (own: Float32Array): SpeechChunk => {
      const samples = resampler === null ? own : resampler.push(own);
      given += samples.length;
      for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
      return { samples };
    };
    for (let bytes: Uint8Array | null = first; bytes !== null; bytes = await exchange.next()) {
      // Ignore bytes after the samples.
      const own = bytes.subarray(0, Math.min(bytes.length, leftBytes));
      leftBytes -= own.length;
      if (own.length > 0) yield take(reader.push(own));
    }
    if (layout.dataBytes !== null && leftBytes > 0)
      throw new AttemptError("ended before the length in its WAV header");
    if (resampler !== null) {
      const samples = resampler.end();
      given += samples.length;
      yield { samples };
    }
    if (given === 0) throw new AttemptError("answered without audio");
    const s = given / SAMPLE_RATE_HZ;
    if (s < minS) throw new AttemptError(`ended too early, after ${s.toFixed(2)} s`);
    if (peak < MIN_PEAK) throw new AttemptError(`sent only silence, ${s.toFixed(2)} s of it`);
    return { stop: "finished" };
  };
}

/** Reads up to the first samples. Returns their layout, and the samples that came with the header. */
async function detectFormat(
  exchange: HttpExchange,
  format: ExpectedSpeech["format"],
  sampleRateHz: number,
): Promise<{ readonly first: Uint8Array; readonly layout: Omit<WavHead, "bytes"> }> {
  let begun: Uint8Array = new Uint8Array(0);
  for (;;) {
    const bytes = await exchange.next();
    if (bytes === null) {
      throw new AttemptError(begun.length === 0 ? "answered with an empty body" : "ended before any sound");
    }
    begun = begun.length === 0 ? bytes : Buffer.concat([begun, bytes]);
    if (looksLikeWav(begun)) {
      if (begun.length < 4) continue;
      const head = parseWavHead(begun);
      if (head !== null) return { first: begun.subarray(head.bytes), layout: head };
    } else if (format === "wav") {
      throw permanentError("sent no WAV: set format to pcm if its audio has no header");
    } else if (begun.length >= SNIFFED_BYTES) {
      if (begun.subarray(0, SNIFFED_BYTES).every(isPrintable))
        throw permanentError("sent text instead of audio");
      return { first: begun, layout: { channels: 1, sampleRateHz, dataBytes: null } };
    }
  }
}

/** So many bytes of PCM are never all printable; JSON and HTML are. */
const SNIFFED_BYTES = 16;

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function parseWavHead(bytes: Uint8Array): ReturnType<typeof readWavHead> {
  try {
    return readWavHead(bytes);
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    throw permanentError(`sent ${error.message}`);
  }
}

function checkType({ headers }: ResponseHead): void {
  const [type = ""] = (headers["content-type"] ?? "").toLowerCase().split(";");
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw permanentError("sent a compressed body that was not requested");
  if (/^text\/|json|xml|^multipart\/|^image\/|^video\//.test(type.trim())) {
    throw permanentError("answered with text instead of audio: check urls, model and voices");
  }
  if (/mpeg|mp3|mp4|aac|ogg|opus|flac|webm/.test(type)) {
    throw permanentError("sent compressed audio instead of wav or pcm");
  }
}

interface WavHead {
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
  /** Offset of the first sample. */
  readonly bytes: number;
  /** Declared bytes of samples; `null` if unknown. */
  readonly dataBytes: number | null;
}

export const RATES_HZ = { min: 8_000, max: 48_000 } as const;

export function looksLikeWav(bytes: Uint8Array): boolean {
  return [...RIFF].every((byte, at) => at >= bytes.length || bytes[at] === byte);
}

const RIFF = Buffer.from("RIFF");

/**
 * Reads the header of a 16-bit WAV; `null` if it is incomplete. Throws {@link AudioFormatError} for other data, other
 * samples, more than two channels, or a rate outside {@link RATES_HZ}.
 */
export function readWavHead(bytes: Uint8Array): WavHead | null {
  const head = readAnyWavHead(bytes);
  if (head === null) return null;
  const { kind, channels, sampleRateHz } = head.format;
  if (kind !== "s16") throw new AudioFormatError(`its samples are not 16-bit (${kind})`);
  if (channels !== 1 && channels !== 2) {
    throw new AudioFormatError(`it has ${channels} channels, and one or two are taken`);
  }
  if (sampleRateHz < RATES_HZ.min || sampleRateHz > RATES_HZ.max) {
    throw new AudioFormatError(
      `its rate is ${sampleRateHz} Hz, and ${RATES_HZ.min} to ${RATES_HZ.max} Hz are taken`,
    );
  }
  return { channels, sampleRateHz, bytes: head.dataStart, dataBytes: head.dataBytes };
}
