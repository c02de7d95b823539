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

/** As many code points as OpenAI's own API takes. */
const MAX_CHARS = 4_096;
/** Nobody says more letters and digits than that in a second: about twice what is usual. */
const MAX_CHARS_PER_S = 40;

/**
 * A server with OpenAI's `POST /audio/speech`. It is given words, a voice, a speed and instructions how to speak, and of the
 * earlier turns a clip to clone at most, or a recording that was chosen; the other knobs and pronunciations have no place there.
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
          const minS = countAlphanumerics(input) / MAX_CHARS_PER_S;
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

function countAlphanumerics(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** What is asked of `POST /audio/speech`. */
interface SpeechRequest {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  /** 1 is the voice's own. */
  readonly speed: number;
  /** How it is said, as it was asked for. */
  readonly instructions: string | null;
  readonly format: "wav" | "pcm";
  /** A voice to clone, in place of `voice`. */
  readonly reference: Reference | null;
}

/** Its body. `stream_format` says to newer servers what `stream` alone did to older ones; others pass both over. */
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

/** A voice to clone: somebody's words, and how they sounded. */
interface Reference {
  readonly text: string;
  /** A WAV in base64, in pieces. */
  readonly wavBase64: readonly Uint8Array[];
}

/** What servers take. */
const SECONDS = { min: 1, max: 30 } as const;

/** The speaker's latest clip whose words are known, of 1 to 30 s; `null` where there is none. */
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

/** A recording that was chosen. Throws a {@link ConversationError} where the server takes none, or not this one. */
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

/** Of a clip whose end was left out the words are too many. */
function isSuitable({ durationS, samples, sampleRateHz }: Clip): boolean {
  const isWhole = samples.length >= durationS * sampleRateHz - 1;
  return isWhole && durationS >= SECONDS.min && durationS <= SECONDS.max;
}

/** What an answer has to come to. */
interface ExpectedSpeech {
  readonly format: "wav" | "pcm";
  /** The rate of samples that come without a head. */
  readonly sampleRateHz: number;
  /** Less of it is not all of the text. */
  readonly minS: number;
}

/** The quietest that speech is taken to be at its loudest: 60 dB below full scale. */
const MIN_PEAK = 1e-3;

/**
 * Takes an answer of samples apart, as a WAV or without a head: mono, at 24 kHz. A WAV is known by its first bytes, also
 * where it was not asked for. Throws {@link AttemptError} for what is no speech of 16-bit samples, for an answer that ends
 * far too early, and for silence.
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
      peak = Math.max(peak, peakOf(samples));
      return { samples };
    };
    for (let bytes: Uint8Array | null = first; bytes !== null; bytes = await exchange.next()) {
      // What follows the samples of a WAV is none.
      const own = bytes.subarray(0, Math.min(bytes.length, leftBytes));
      leftBytes -= own.length;
      if (own.length > 0) yield take(reader.push(own));
    }
    if (layout.dataBytes !== null && leftBytes > 0)
      throw new AttemptError("ended before the length that its WAV tells");
    if (resampler !== null) {
      const samples = resampler.end();
      given += samples.length;
      yield { samples };
    }
    if (given === 0) throw new AttemptError("answered well, and without a sound");
    const s = given / SAMPLE_RATE_HZ;
    if (s < minS) throw new AttemptError(`ended far too early, after ${s.toFixed(2)} s`);
    if (peak < MIN_PEAK) throw new AttemptError(`gave nothing but silence, ${s.toFixed(2)} s of it`);
    return { stop: "finished" };
  };
}

interface Layout {
  readonly channels: 1 | 2;
  readonly sampleRateHz: number;
  readonly dataBytes: number | null;
}

/** Reads up to the first samples: how they lie, and those that have come with the head. */
async function detectFormat(
  exchange: HttpExchange,
  format: ExpectedSpeech["format"],
  sampleRateHz: number,
): Promise<{ readonly first: Uint8Array; readonly layout: Layout }> {
  let begun: Uint8Array = new Uint8Array(0);
  for (;;) {
    const bytes = await exchange.next();
    if (bytes === null) {
      throw new AttemptError(
        begun.length === 0 ? "answered well, and without a byte" : "ended before any sound",
      );
    }
    begun = begun.length === 0 ? bytes : Buffer.concat([begun, bytes]);
    if (looksLikeWav(begun)) {
      if (begun.length < 4) continue;
      const head = parseWavHead(begun);
      if (head !== null) return { first: begun.subarray(head.bytes), layout: head };
    } else if (format === "wav") {
      throw permanentError("sent no WAV: set format to pcm if its samples come without a head");
    } else if (begun.length >= SNIFFED_BYTES) {
      if (begun.subarray(0, SNIFFED_BYTES).every(isPrintable))
        throw permanentError("sent text where samples should be");
      return { first: begun, layout: { channels: 1, sampleRateHz, dataBytes: null } };
    }
  }
}

/** So many bytes of samples are never all letters; of JSON or a page they are. */
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
  if (encoding !== "identity") throw permanentError("sent compressed bytes, which it was not asked for");
  if (/^text\/|json|xml|^multipart\/|^image\/|^video\//.test(type.trim())) {
    throw permanentError("answered with text where speech should be: check urls, model and voices");
  }
  if (/mpeg|mp3|mp4|aac|ogg|opus|flac|webm/.test(type)) {
    throw permanentError("sent compressed speech, where wav or pcm was asked for");
  }
}

function peakOf(samples: Float32Array): number {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  return peak;
}

/** Layout of the samples in a WAV stream. */
interface WavHead {
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
  /** Byte offset of the first sample. */
  readonly bytes: number;
  /** Declared bytes of samples; `null` if the writer did not know. */
  readonly dataBytes: number | null;
}

/** Sample rates accepted for speech. */
export const RATES_HZ = { min: 8_000, max: 48_000 } as const;

/** Whether the bytes received so far begin as a WAV does. */
export function looksLikeWav(bytes: Uint8Array): boolean {
  return [...RIFF].every((byte, at) => at >= bytes.length || bytes[at] === byte);
}

const RIFF = Buffer.from("RIFF");

/**
 * Reads the head of a WAV of 16-bit samples; `null` if it takes more bytes. Throws {@link AudioFormatError} for anything
 * but a WAV, for other samples, more than two channels and a rate outside {@link RATES_HZ}.
 */
export function readWavHead(bytes: Uint8Array): WavHead | null {
  const head = readAnyWavHead(bytes);
  if (head === null) return null;
  const { kind, channels, sampleRateHz } = head.format;
  if (kind !== "s16") throw new AudioFormatError(`its samples are not of 16 bits (${kind})`);
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
