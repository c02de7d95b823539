import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { fromPcm16 } from "../../audio/pcm.ts";
import { WholeFrames } from "../../audio/pcm-format.ts";
import { type Frame, type SpokenWord, type TimedName, takeStartedBefore } from "../../core/speech-model.ts";
import type { SpeechChunk } from "./speech-chunks.ts";

/**
 * Splits chunks of any size into frames of 1920 samples, the last of which is shorter, and assigns words and mouth
 * shapes to the frame in which they begin.
 */
export class PcmFrames {
  readonly #maxFrames: number;
  readonly #maxS: number;
  #frame = new Float32Array(FRAME_SAMPLES);
  #filled = 0;
  #given = 0;
  /** Offsets of the current response, in samples and in code points of the text. */
  #before = 0;
  #charsBefore = 0;
  #words: SpokenWord[] | null = null;
  #mouth: { readonly phonemes: TimedName[]; readonly visemes: TimedName[] } | null = null;

  /** @param maxFrames words that end later are dropped */
  constructor(maxFrames: number) {
    this.#maxFrames = maxFrames;
    this.#maxS = (maxFrames * FRAME_SAMPLES) / SAMPLE_RATE_HZ + 1e-6;
  }

  /** Full frames so far. */
  get frameCount(): number {
    return this.#given;
  }

  /** Samples of the incomplete frame. */
  get pendingSamples(): number {
    return this.#filled;
  }

  /** Starts the next response: its times are relative to the current position, its words to `offsetChars`. */
  beginResponse(offsetChars: number): void {
    this.#before = this.#given * FRAME_SAMPLES + this.#filled;
    this.#charsBefore = offsetChars;
  }

  *push({ samples, words, mouth }: SpeechChunk): Generator<Frame, void, void> {
    const byS = this.#before / SAMPLE_RATE_HZ;
    if (words !== undefined) {
      this.#words ??= [];
      for (const word of words) {
        const shiftedWord = { ...shifted(word, byS), offset: word.offset + this.#charsBefore };
        if (shiftedWord.endS <= this.#maxS) this.#words.push(shiftedWord);
      }
    }
    if (mouth !== undefined) {
      this.#mouth ??= { phonemes: [], visemes: [] };
      this.#mouth.phonemes.push(...mouth.phonemes.map((each) => shifted(each, byS)));
      this.#mouth.visemes.push(...mouth.visemes.map((each) => shifted(each, byS)));
    }
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(FRAME_SAMPLES - this.#filled, samples.length - at);
      this.#frame.set(samples.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === FRAME_SAMPLES)
        yield this.#take(((this.#given + 1) * FRAME_SAMPLES) / SAMPLE_RATE_HZ);
    }
  }

  /** Yields frames of silence as far as they fit. */
  *silence(durationS: number): Generator<Frame, void, void> {
    for (let left = Math.round(durationS * SAMPLE_RATE_HZ); left > 0 && this.#given < this.#maxFrames; ) {
      const count = Math.min(FRAME_SAMPLES - this.#filled, left);
      yield* this.push({ samples: new Float32Array(count) });
      left -= count;
    }
  }

  flush(): Frame | null {
    return this.#filled === 0 ? null : this.#take(Number.POSITIVE_INFINITY);
  }

  #take(endS: number): Frame {
    const samples = this.#filled === FRAME_SAMPLES ? this.#frame : this.#frame.slice(0, this.#filled);
    this.#frame = new Float32Array(FRAME_SAMPLES);
    this.#filled = 0;
    this.#given += 1;
    const mouth = this.#mouth && {
      phonemes: takeStartedBefore(this.#mouth.phonemes, endS),
      visemes: takeStartedBefore(this.#mouth.visemes, endS),
    };
    return {
      samples,
      ...(this.#words === null ? {} : { words: takeStartedBefore(this.#words, endS) }),
      ...(mouth && { mouth }),
    };
  }
}

function shifted<T extends { readonly startS: number; readonly endS: number }>(of: T, byS: number): T {
  return byS === 0 ? of : { ...of, startS: of.startS + byS, endS: of.endS + byS };
}

const BYTES_PER_SAMPLE = 2;

/**
 * Decodes 16-bit little-endian PCM from chunks that may end within a sample. Mixes two channels down to their mean.
 */
export class PcmDecoder {
  readonly #channels: 1 | 2;
  readonly #whole: WholeFrames;

  constructor(channels: 1 | 2) {
    this.#channels = channels;
    this.#whole = new WholeFrames(BYTES_PER_SAMPLE * channels);
  }

  /** Returns the complete samples in [-1, 1], mono. */
  push(bytes: Uint8Array): Float32Array {
    const samples = fromPcm16(littleEndian(this.#whole.push(bytes)));
    return this.#channels === 1 ? samples : mixToMono(samples);
  }
}

/** Works on any host and at any byte offset. */
function littleEndian(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pcm = new Int16Array(bytes.length / BYTES_PER_SAMPLE);
  for (let at = 0; at < pcm.length; at += 1) pcm[at] = view.getInt16(BYTES_PER_SAMPLE * at, true);
  return pcm;
}

function mixToMono(samples: Float32Array): Float32Array {
  const mono = new Float32Array(samples.length / 2);
  for (let at = 0; at < mono.length; at += 1) mono[at] = (samples[2 * at]! + samples[2 * at + 1]!) / 2;
  return mono;
}
