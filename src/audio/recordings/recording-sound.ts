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
 * Looks a file over, whose kind its first bytes tell, and has it ready to be read.
 *
 * @param maxS seconds that it may have
 * @throws AudioFormatError for what is damaged, empty or of another kind, with what to do; RecordingTooLongError. What only
 *   shows when it is decoded is thrown by {@link RecordingSound.read}.
 */
export function openSound(bytes: Uint8Array, maxS: number): RecordingSound {
  return soundOver((budget) => openRecording(bytes, budget), maxS);
}

/**
 * The same of bare samples: all of them, or as they come, in pieces that may be cut anywhere. Reading those waits for the
 * next piece, so whoever gives them ends them when nobody reads any more.
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

/**
 * A recording that is decoded as it is read: mono, at 24 kHz or less. It takes the memory of the file and of a few seconds
 * of sound, however long it is.
 */
export class RecordingSound {
  /** Of what is read. */
  readonly sampleRateHz: number;
  /** Seconds that it may have at most. */
  readonly boundS: number;
  readonly #budget: DecodingBudget;
  readonly #fromHz: number;
  readonly #blocks: AsyncGenerator<DecodedBlock, void, void>;
  /** Made when something is read: until then a recording takes no memory but its own. */
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
   * The next samples, in [-1, 1], fewer only at the end. One call at a time. Throws as {@link openSound} does, what the
   * source of its pieces throws, and the signal's reason between two of them.
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

  /** Nobody reads any more: frees what decoding took. */
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
    // A sample or two at a high rate are none at the one that is kept.
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
 * Looks a file over, whose kind its first bytes tell: its head, and where the container says it its length and whether it
 * is whole. Nothing is decoded. Throws {@link AudioFormatError} or `RecordingTooLongError`.
 */
function openRecording(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  if (bytes.length === 0) throw new AudioFormatError("it is empty", WHOLE);
  const kind = recordingKind(bytes);
  if (kind === null) throw new AudioFormatError("it is not a recording that can be read", READABLE);
  if ("refused" in kind) throw new AudioFormatError(`it is ${kind.refused}, which cannot be read`, READABLE);
  return OPENERS[kind.kind](bytes.subarray(kind.start, kind.end), budget);
}

/** Says what to do about a file of which only the problem is known: it is damaged. Other errors stay as they are. */
function withRemedy(error: unknown): unknown {
  const isBare = error instanceof AudioFormatError && error.remedy === null;
  return isBare ? new AudioFormatError(error.problem, WHOLE) : error;
}

/** Samples that are decoded at a time, of each channel. */
const BLOCK_SAMPLES = 16_384;

/**
 * Samples of a declared format: all of them, or as they come, in pieces that may be cut anywhere. Throws as
 * `openRecording` does.
 */
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

/** Looks a WAV file over. Throws as `openRecording` does. */
function openWav(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const onChunk = (): void => budget.chargeItems(1);
  const { format, samples } = findWavSamples(bytes, { isCompandedAccepted: true, onChunk });
  return openPcm(samples, format, budget);
}
