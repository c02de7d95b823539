import { FRAMES_PER_STEP } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";
import type { HopSource } from "../prosody/sentence-audio.ts";
import { CONTEXT_FRAMES, SPECTRUM_VALUES } from "./kernel/layout.ts";
import { DECODER_CHANNELS, type DecoderMemory, type EmbeddedNetwork } from "./network.ts";
import { EDGE_COLUMNS } from "./streaming-decoder.ts";
import type { Waveform } from "./waveform.ts";

export interface Spectra {
  readonly first: number;
  readonly count: number;
  /** [count, 3005] in the order of `SPECTRUM_PART`, valid until the stream's next chunk. */
  readonly values: Float32Array;
}

export interface FrameRange {
  readonly from: number;
  readonly to: number;
  /** Frames decoded beyond either end. Default: {@link CONTEXT_FRAMES}, the whole context; silence needs fewer. */
  readonly context?: number;
}

/** Decodes a range of a planned sentence in chunks of fixed sizes, so that the same plan gives the same bytes. */
export class SpectrumStream {
  readonly #network: EmbeddedNetwork;
  readonly #plan: Plan;
  readonly #to: number;
  /** Frame at which the decoder sees the sentence end. */
  readonly #edge: number;
  readonly #sizes: readonly number[];
  #chunk = 0;
  #next: number;
  /** The next frame to leave the convolutions, whether or not its values are returned. */
  #emitted: number;
  /** Frames passed to the decoder. */
  #fed: number;
  #memory: DecoderMemory | null = null;

  constructor(
    network: EmbeddedNetwork,
    plan: Plan,
    range: FrameRange,
    sizes: readonly number[] = CHUNK_FRAMES,
  ) {
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

  /** Returns the next chunk, or `null` after the last. Calls must not overlap. */
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
        skippedFrames: first - this.#emitted,
        frames: end - this.#emitted,
      },
      memory,
    );
    this.#fed = fed;
    this.#emitted = emitted;
    this.#next = end;
    return { first, count: end - first, values };
  }

  /** Returns the new columns [from, to) with the first convolution's context; zeros beyond a sentence's ends. */
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
      for (let channel = 0, at = frame - start; channel < DECODER_CHANNELS; channel++, at += count)
        encoding[at] = plan.decoderEncoding[channel * length + token]!;
    }
    const pitchHz = memory.floats("pitch", count).fill(0);
    pitchHz.set(plan.pitchHz.subarray(known, to), known - start);
    const energy = memory.floats("energy", count).fill(0);
    energy.set(plan.energy.subarray(known, to), known - start);
    return { encoding, pitchHz, energy };
  }
}

/** 13 frames are enough for the first 80 ms even after a slow plosive. The last size repeats. */
const CHUNK_FRAMES: readonly number[] = [13, 48];

/** Returns a sentence's hops from its decoded spectra, then the rest of their overlap. */
export function spectralHops(stream: SpectrumStream, waveform: Waveform): HopSource {
  let spectra: Spectra | null = null;
  let next = 0;
  return {
    // A frame completes the hop two before its own. The first of these holds only the beginning of the first frame.
    leadingHops: 2,
    async make(out) {
      if (spectra === null || next === spectra.count) {
        spectra = await stream.next();
        next = 0;
      }
      if (spectra === null) waveform.drain(out);
      else waveform.add(spectra.values, next++ * SPECTRUM_VALUES, out);
    },
  };
}
