import { AudioFormatError } from "../audio-format-error.ts";
import { findWavSamples } from "../decode-wav.ts";
import { frameBytes, mixDown, type PcmFormat, WholeFrames } from "../pcm-format.ts";
import { DecodingBudget } from "./decoding-budget.ts";
import { openFlac } from "./flac.ts";
import { openMp3 } from "./mp3.ts";
import { openOgg } from "./ogg.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";
import { type RecordingKind, recordingKind } from "./recording-kind.ts";
import { keptRateHz, SampleSink } from "./sample-sink.ts";
import { openWebm } from "./webm.ts";

/**
 * Opens a file of any readable kind for decoding.
 *
 * @param maxS longest accepted recording in seconds
 * @throws AudioFormatError with a remedy for a damaged, empty or unknown file; RecordingTooLongError. Damage that
 * shows only in decoding is thrown by {@link RecordingSound.read}.
 */
export function openSound(bytes: Uint8Array, maxS: number): RecordingSound {
  return soundOver((budget) => openRecording(bytes, budget), maxS);
}

/**
 * Opens raw samples: all at once, or as a stream of chunks of any size. A read waits for the next chunk, so the
 * source must end when the reader stops.
 */
export function openPcmSound(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  format: PcmFormat,
  maxS: number,
): RecordingSound {
  return soundOver((budget) => openPcm(source, format, budget), maxS);
}

function soundOver(open: (budget: DecodingBudget) => RecordingDecoder, maxS: number): RecordingSound {
  const budget = new DecodingBudget(maxS);
  try {
    return new RecordingSound(open(budget), budget);
  } catch (error) {
    throw withRemedy(error);
  }
}

/** Recording that is decoded as it is read: mono, at 24 kHz or less. Memory: the file and a few seconds of sound. */
export class RecordingSound {
  /** Rate of the samples that are read. */
  readonly sampleRateHz: number;
  /** Upper bound of the length in seconds. */
  readonly boundS: number;
  readonly #budget: DecodingBudget;
  readonly #fromHz: number;
  readonly #blocks: AsyncGenerator<DecodedBlock, void, void>;
  /** Created by the first read, so that an unread recording takes no extra memory. */
  #sink: SampleSink | null = null;
  #isOver = false;

  constructor(decoder: RecordingDecoder, budget: DecodingBudget) {
    this.boundS = decoder.boundS;
    this.#budget = budget;
    this.#fromHz = decoder.sampleRateHz;
    this.#blocks = decoder.blocks();
    this.sampleRateHz = keptRateHz(decoder.sampleRateHz);
  }

  /**
   * Returns the next samples, in [-1, 1]; fewer only at the end. One call at a time. Throws as {@link openSound}
   * does, the source's error, and the signal's reason between two chunks.
   */
  async read(count: number, signal?: AbortSignal): Promise<Float32Array<ArrayBuffer>> {
    this.#sink ??= new SampleSink(this.#fromHz);
    const sink = this.#sink;
    try {
      signal?.throwIfAborted();
      while (sink.available < count && !this.#isOver) {
        await this.#decode(sink);
        signal?.throwIfAborted();
      }
    } catch (error) {
      throw withRemedy(error);
    }
    return sink.take(count);
  }

  /** Stops decoding and frees the decoder. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#blocks.return();
  }

  async #decode(sink: SampleSink): Promise<void> {
    const { done, value } = await this.#blocks.next();
    if (done !== true) {
      sink.add(value);
      this.#budget.checkLength(sink.received / this.#fromHz);
      return;
    }
    // A sample or two at a high rate resample to none.
    const kept = Math.round((sink.received * this.sampleRateHz) / this.#fromHz);
    if (kept === 0) throw new AudioFormatError("it has no samples");
    sink.end();
    this.#isOver = true;
  }
}

type Opens = (bytes: Uint8Array, budget: DecodingBudget) => RecordingDecoder;

const OPENERS: Readonly<Record<RecordingKind, Opens>> = {
  wav: openWav,
  mp3: openMp3,
  flac: openFlac,
  ogg: openOgg,
  webm: openWebm,
};

const READABLE = "send WAV, MP3, FLAC, or Opus in Ogg or WebM";
const WHOLE = "send a whole and undamaged file of WAV, MP3, FLAC, or Opus in Ogg or WebM";

/**
 * Checks a file's head and, if the container gives them, its length and integrity. Decodes nothing. Throws {@link
 * AudioFormatError} or `RecordingTooLongError`.
 */
function openRecording(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  if (bytes.length === 0) throw new AudioFormatError("it is empty", WHOLE);
  const kind = recordingKind(bytes);
  if (kind === null) throw new AudioFormatError("it is not a recording that can be read", READABLE);
  if ("refused" in kind) throw new AudioFormatError(`it is ${kind.refused}, which cannot be read`, READABLE);
  return OPENERS[kind.kind](bytes.subarray(kind.start, kind.end), budget);
}

/** Adds the remedy for a damaged file to an error without one. Returns other errors unchanged. */
function withRemedy(error: unknown): unknown {
  const isBare = error instanceof AudioFormatError && error.remedy === null;
  return isBare ? new AudioFormatError(error.problem, WHOLE) : error;
}

/** Samples per channel that are decoded at a time. */
const BLOCK_SAMPLES = 16_384;

/** Opens raw samples, all at once or in chunks of any size. Throws as `openRecording` does. */
function openPcm(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  format: PcmFormat,
  budget: DecodingBudget,
): RecordingDecoder {
  const { sampleRateHz, channels } = format;
  const bytesPerFrame = frameBytes(format);
  const isWhole = source instanceof Uint8Array;
  budget.checkFormat(sampleRateHz, channels);
  const boundS = isWhole ? Math.floor(source.length / bytesPerFrame) / sampleRateHz : budget.maxS;
  budget.checkLength(boundS);
  async function* blocks(): AsyncGenerator<DecodedBlock, void, void> {
    const whole = new WholeFrames(bytesPerFrame);
    let decoded = 0;
    for await (const piece of isWhole ? [source] : source) {
      if (!isWhole) budget.chargeItems(1);
      const bytes = whole.push(piece);
      for (let at = 0; at < bytes.length; at += BLOCK_SAMPLES * bytesPerFrame) {
        const count = Math.min(BLOCK_SAMPLES, (bytes.length - at) / bytesPerFrame);
        budget.chargeSound(count, channels, sampleRateHz);
        yield {
          channels: [mixDown(bytes.subarray(at), format, count, decoded)],
          from: 0,
          to: count,
          scale: null,
        };
        decoded += count;
      }
    }
  }
  return { sampleRateHz, boundS, blocks };
}

/** Opens a WAV file. Throws as `openRecording` does. */
function openWav(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const onChunk = (): void => budget.chargeItems(1);
  const { format, samples } = findWavSamples(bytes, { isCompandedAccepted: true, onChunk });
  return openPcm(samples, format, budget);
}
