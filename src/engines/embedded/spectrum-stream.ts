import { FRAMES_PER_STEP } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";
import { CONTEXT_FRAMES } from "./geometry.ts";
import { DECODER_CHANNELS, type DecoderMemory, type Network } from "./network.ts";
import { EDGE_COLUMNS } from "./streaming-decoder.ts";

/** Spectral frames `first`, `first + 1`, … of a sentence. */
export interface Spectra {
  readonly first: number;
  readonly count: number;
  /** [count, 3005] in the order of `PART`. The stream's next chunk is written over them. */
  readonly values: Float32Array;
}

/** Which frames of a sentence to decode. */
export interface FrameRange {
  readonly from: number;
  readonly to: number;
  /**
   * How many frames beyond either end to decode along, as context; {@link CONTEXT_FRAMES} by default, which is all that
   * they depend on. Where both ends are silent fewer do.
   */
  readonly context?: number;
}

/**
 * Decodes a range of a planned sentence, a chunk at a time, in order. The sizes of the chunks are fixed:
 * they never depend on how fast anyone is, so the same plan gives the same bytes.
 */
export class SpectrumStream {
  readonly #network: Network;
  readonly #plan: Plan;
  readonly #to: number;
  /** Where the decoder is told that the sentence ends. */
  readonly #edge: number;
  readonly #sizes: readonly number[];
  #chunk = 0;
  /** The next frame to describe. */
  #next: number;
  /** The next frame to come out of the convolutions, described or not. */
  #emitted: number;
  /** Frames that have gone in. */
  #fed: number;
  #memory: DecoderMemory | null = null;

  constructor(network: Network, plan: Plan, range: FrameRange, sizes: readonly number[] = CHUNK_FRAMES) {
    const { from, to, context = CONTEXT_FRAMES } = range;
    this.#network = network;
    this.#plan = plan;
    this.#to = to;
    this.#edge = Math.min(plan.frames, to + context);
    this.#sizes = sizes;
    this.#next = from;
    this.#emitted = Math.max(0, from - context);
    this.#fed = this.#emitted;
  }

  /** The next chunk, or null after the last. One call at a time. */
  async next(): Promise<Spectra | null> {
    const first = this.#next;
    if (first >= this.#to) {
      if (this.#memory !== null) this.#network.giveBack(this.#memory);
      this.#memory = null;
      return null;
    }
    const isFirst = this.#memory === null;
    const memory = this.#memory ?? this.#network.takeMemory();
    this.#memory = memory;
    const size = this.#sizes[Math.min(this.#chunk++, this.#sizes.length - 1)] ?? 1;
    const wanted = Math.min(first + size, this.#to) + CONTEXT_FRAMES;
    const isLast = wanted >= this.#edge;
    const fed = isLast ? this.#edge : wanted;
    const emitted = isLast ? fed : fed - CONTEXT_FRAMES;
    const end = Math.min(emitted, this.#to);
    const values = await this.#network.decode(
      {
        ...this.#columns(memory, { from: this.#fed, to: fed, isFirst, isLast }),
        isFirst,
        isLast,
        skip: first - this.#emitted,
        frames: end - this.#emitted,
      },
      memory,
    );
    this.#fed = fed;
    this.#emitted = emitted;
    this.#next = end;
    return { first, count: end - first, values };
  }

  /** The new columns [from, to) and what the first convolution sees beside them, zeros beyond a sentence's ends. */
  #columns(
    memory: DecoderMemory,
    { from, to, isFirst, isLast }: Readonly<{ from: number; to: number; isFirst: boolean; isLast: boolean }>,
  ) {
    const plan = this.#plan;
    const start = from - (isFirst ? EDGE_COLUMNS : 2 * EDGE_COLUMNS);
    const count = to + (isLast ? EDGE_COLUMNS : 0) - start;
    const known = isFirst ? from : start;
    const encoding = memory.floats("encoding", DECODER_CHANNELS * count).fill(0);
    const length = plan.ids.length;
    for (let frame = known; frame < to; frame++) {
      const token = plan.owner[Math.floor(frame / FRAMES_PER_STEP)]!;
      for (let channel = 0, at = frame - start; channel < DECODER_CHANNELS; channel++, at += count) {
        encoding[at] = plan.decoderEncoding[channel * length + token]!;
      }
    }
    const pitchHz = memory.floats("pitch", count).fill(0);
    pitchHz.set(plan.pitchHz.subarray(known, to), known - start);
    const energy = memory.floats("energy", count).fill(0);
    energy.set(plan.energy.subarray(known, to), known - start);
    return { encoding, pitchHz, energy };
  }
}

/** Small at first: 13 are enough for the first 80 ms even after a slow plosive. The last size repeats. */
const CHUNK_FRAMES: readonly number[] = [13, 48];
