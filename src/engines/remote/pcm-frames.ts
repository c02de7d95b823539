import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { fromPcm16 } from "../../audio/pcm.ts";
import { WholeFrames } from "../../audio/pcm-format.ts";
import type { Frame, Mouth, SpokenWord, TimedName } from "../../core/speech-model.ts";
import type { SpeechChunk } from "./speech-chunks.ts";

/**
 * Cuts speech that comes in pieces of any size into frames of 1920 samples, the last of which is shorter, and puts what
 * begins in them to the frame in which it does.
 */
export class PcmFrames {
  readonly #maxFrames: number;
  readonly #maxS: number;
  #frame = new Float32Array(FRAME_SAMPLES);
  #filled = 0;
  #given = 0;
  /** Samples, and code points of the text, before the answer that is being cut. */
  #before = 0;
  #charsBefore = 0;
  #words: SpokenWord[] | null = null;
  #mouth: { readonly phonemes: TimedName[]; readonly visemes: TimedName[] } | null = null;

  /** @param maxFrames words are told that are heard whole within so many */
  constructor(maxFrames: number) {
    this.#maxFrames = maxFrames;
    this.#maxS = (maxFrames * FRAME_SAMPLES) / SAMPLE_RATE_HZ + 1e-6;
  }

  /** Frames that were given, all of them full. */
  get frameCount(): number {
    return this.#given;
  }

  /** Samples that wait for a frame to be full. */
  get pendingSamples(): number {
    return this.#filled;
  }

  /** Another answer begins behind what there is: times in it are from here on, and its words from there in the text. */
  beginResponse(offsetChars: number): void {
    this.#before = this.#given * FRAME_SAMPLES + this.#filled;
    this.#charsBefore = offsetChars;
  }

  /** The frames that are full now. */
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

  /** The frames of a silence, as many as there is room for. */
  *silence(durationS: number): Generator<Frame, void, void> {
    for (let left = Math.round(durationS * SAMPLE_RATE_HZ); left > 0 && this.#given < this.#maxFrames; ) {
      const count = Math.min(FRAME_SAMPLES - this.#filled, left);
      yield* this.push({ samples: new Float32Array(count) });
      left -= count;
    }
  }

  /** What is left, as a shorter frame; `null` where nothing is. */
  flush(): Frame | null {
    return this.#filled === 0 ? null : this.#take(Number.POSITIVE_INFINITY);
  }

  #take(endS: number): Frame {
    const samples = this.#filled === FRAME_SAMPLES ? this.#frame : this.#frame.slice(0, this.#filled);
    this.#frame = new Float32Array(FRAME_SAMPLES);
    this.#filled = 0;
    this.#given += 1;
    return {
      samples,
      ...(this.#words === null ? {} : { words: takeStartedBefore(this.#words, endS) }),
      ...(this.#mouth === null ? {} : { mouth: mouthBegunIn(this.#mouth, endS) }),
    };
  }
}

function shifted<T extends { readonly startS: number; readonly endS: number }>(of: T, byS: number): T {
  return byS === 0 ? of : { ...of, startS: of.startS + byS, endS: of.endS + byS };
}

/** Takes what begins before a time out of a list that is in order. */
function takeStartedBefore<T extends { readonly startS: number }>(list: T[], endS: number): T[] {
  const next = list.findIndex(({ startS }) => startS >= endS);
  return list.splice(0, next < 0 ? list.length : next);
}

function mouthBegunIn(
  { phonemes, visemes }: { phonemes: TimedName[]; visemes: TimedName[] },
  endS: number,
): Mouth {
  return { phonemes: takeStartedBefore(phonemes, endS), visemes: takeStartedBefore(visemes, endS) };
}

const BYTES_PER_SAMPLE = 2;

/**
 * Makes samples of 16-bit little-endian PCM that comes in pieces of any size, which may end in the middle of a sample or
 * between the two channels of one. Two channels are mixed down to their mean.
 */
export class PcmDecoder {
  readonly #channels: 1 | 2;
  readonly #whole: WholeFrames;

  constructor(channels: 1 | 2) {
    this.#channels = channels;
    this.#whole = new WholeFrames(BYTES_PER_SAMPLE * channels);
  }

  /** Whole samples in [-1, 1], one channel; may be none. */
  push(bytes: Uint8Array): Float32Array {
    const samples = fromPcm16(littleEndian(this.#whole.push(bytes)));
    return this.#channels === 1 ? samples : mixToMono(samples);
  }
}

/** On any host, and wherever the bytes begin. */
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
