import { AudioFormatError } from "../../audio/audio-format-error.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { Resampler } from "../../audio/resample.ts";
import { AttemptError, checkStatus, permanentError } from "./attempt-error.ts";
import type { AnswerHead, Exchange } from "./exchange.ts";
import { PcmSamples } from "./pcm-samples.ts";
import type { ReadSpeech, SpeechChunk, SpeechEnd } from "./speech-chunks.ts";
import { looksLikeWav, readWavHead } from "./wav-head.ts";

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
export function readSpeech({ format, sampleRateHz, minS }: ExpectedSpeech): ReadSpeech {
  return async function* (exchange): AsyncGenerator<SpeechChunk, SpeechEnd, void> {
    const head = await exchange.head();
    checkStatus(head);
    checkType(head);
    const { first, layout } = await readHead(exchange, format, sampleRateHz);
    const reader = new PcmSamples(layout.channels);
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
async function readHead(
  exchange: Exchange,
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
      const head = wavHead(begun);
      if (head !== null) return { first: begun.subarray(head.bytes), layout: head };
    } else if (format === "wav") {
      throw permanentError("sent no WAV: set format to pcm if its samples come without a head");
    } else if (begun.length >= TELLING_BYTES) {
      if (begun.subarray(0, TELLING_BYTES).every(isPrintable))
        throw permanentError("sent text where samples should be");
      return { first: begun, layout: { channels: 1, sampleRateHz, dataBytes: null } };
    }
  }
}

/** So many bytes of samples are never all letters; of JSON or a page they are. */
const TELLING_BYTES = 16;

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function wavHead(bytes: Uint8Array): ReturnType<typeof readWavHead> {
  try {
    return readWavHead(bytes);
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    throw permanentError(`sent ${error.message}`);
  }
}

function checkType({ headers }: AnswerHead): void {
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
