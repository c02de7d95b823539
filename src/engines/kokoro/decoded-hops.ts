import { FRAMES_PER_STEP, HOP_SAMPLES } from "../prosody/frames.ts";
import { type Plan, type SpeechSpan, stretched } from "../prosody/plan.ts";
import type { HopSource } from "../prosody/sentence-audio.ts";
import { CHANNELS, SPECTRA_PER_STEP } from "./graphs/subgraphs.ts";
import type { KokoroDecoderPiece, KokoroDecoderState, KokoroDecoderVoice, KokoroNetwork } from "./network.ts";

export interface KokoroDecoding {
  readonly network: Pick<KokoroNetwork, "source" | "decode">;
  readonly voice: KokoroDecoderVoice;
  /** [22, 1, 20]: see `INVERSE_BASIS`. */
  readonly inverseBasis: Float32Array;
  /** Columns by which the spectrum lags the input. */
  readonly missing: number;
}

/**
 * The hops of a sentence, decoded piece by piece on demand. Piece sizes are fixed, so the same plan gives the same
 * bytes. Little of the silence around the sentence is decoded.
 */
export class DecodedHops implements HopSource {
  readonly leadingHops = 0;
  readonly #decoding: KokoroDecoding;
  readonly #plan: Plan;
  readonly #steps: StepRange;
  readonly #sizes: readonly number[];
  readonly #stft: InverseStft;
  readonly #firstTo: number;
  #source: Float32Array | null = null;
  #memory: KokoroDecoderState | null = null;
  #next: number;
  #piece = 0;
  #samples: Float32Array = new Float32Array(0);
  /** Samples before the span, or passed on. */
  #taken: number;

  constructor(
    decoding: KokoroDecoding,
    plan: Plan,
    span: SpeechSpan,
    sizes: readonly number[] = PIECE_STEPS,
  ) {
    const steps = plan.frames / FRAMES_PER_STEP;
    const from = Math.max(0, Math.floor(span.from / FRAMES_PER_STEP) - AROUND_STEPS);
    const to = Math.min(steps, Math.ceil(span.to / FRAMES_PER_STEP) + AROUND_STEPS);
    this.#decoding = decoding;
    this.#plan = plan;
    this.#steps = { from, to };
    this.#sizes = sizes;
    this.#stft = new InverseStft(decoding.inverseBasis);
    this.#next = from;
    // The first piece includes the kernels' reach, before which nothing comes out.
    const reach = Math.ceil(decoding.missing / SPECTRA_PER_STEP);
    this.#firstTo = Math.ceil(span.from / FRAMES_PER_STEP) + reach + (sizes[0] ?? 1);
    this.#taken = span.from * HOP_SAMPLES - from * FRAMES_PER_STEP * HOP_SAMPLES;
  }

  async make(out: Float32Array): Promise<void> {
    let filled = 0;
    while (filled < HOP_SAMPLES) {
      const count = Math.min(HOP_SAMPLES - filled, this.#samples.length - this.#taken);
      if (count > 0) {
        out.set(this.#samples.subarray(this.#taken, this.#taken + count), filled);
        filled += count;
        this.#taken += count;
      } else if (this.#next < this.#steps.to) await this.#decode();
      else {
        out.fill(0, filled);
        return;
      }
    }
  }

  async #decode(): Promise<void> {
    const { network, voice } = this.#decoding;
    const plan = this.#plan;
    this.#source ??= await network.source(plan.pitchHz);
    const size = this.#sizes[Math.min(this.#piece, this.#sizes.length - 1)] ?? 1;
    const wanted = this.#piece === 0 ? this.#firstTo : this.#next + size;
    // A very short last piece costs about as much as none.
    const to = wanted + MIN_LAST_STEPS >= this.#steps.to ? this.#steps.to : wanted;
    const piece = decoderPiece(plan, this.#source, { from: this.#next, to }, this.#steps);
    const { spectrum, memory } = await network.decode(piece, voice, this.#memory);
    this.#memory = memory;
    this.#next = to;
    this.#piece += 1;
    const samples = this.#stft.add(spectrum, piece.isLast);
    this.#taken -= this.#samples.length;
    this.#samples = samples;
  }
}

/** 100 ms of the silence on either side of the sound. */
const AROUND_STEPS = 4;
const MIN_LAST_STEPS = 4;

/** 200 ms at first; the last size repeats. Pieces twice as long would take 6 % less time and 0.15 GB more. */
const PIECE_STEPS: readonly number[] = [8, 8, 16];

export interface StepRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns some steps of a plan as decoder input.
 *
 * @param source of the whole sentence, [22, 120 · steps + 1]
 * @param whole the steps that are decoded, at whose ends the decoder sees the sentence begin and end
 */
export function decoderPiece(
  plan: Plan,
  source: Float32Array,
  { from, to }: StepRange,
  whole: StepRange,
): KokoroDecoderPiece {
  const isLast = to === whole.to;
  const columns = stretched(plan.decoderEncoding, plan.ids.length, plan.owner.subarray(from, to));
  const frames = [from * FRAMES_PER_STEP, to * FRAMES_PER_STEP] as const;
  return {
    columns,
    pitchHz: plan.pitchHz.slice(...frames),
    energy: plan.energy.slice(...frames),
    source: columnsOf(
      source,
      CHANNELS.source,
      from * SPECTRA_PER_STEP,
      to * SPECTRA_PER_STEP + (isLast ? 1 : 0),
    ),
    isFirst: from === whole.from,
    isLast,
  };
}

/** Returns columns [from, to) of [channels, columns]. */
function columnsOf(values: Float32Array, channels: number, from: number, to: number): Float32Array {
  const length = values.length / channels;
  const out = new Float32Array(channels * (to - from));
  for (let channel = 0; channel < channels; channel++)
    out.set(values.subarray(channel * length + from, channel * length + to), channel * (to - from));
  return out;
}

/** Samples between columns of a spectrum, and samples under each. */
const HOP = 5;
const WINDOW = 20;

/** The published graph's factor for overlapping windows. */
const SCALE = WINDOW / HOP;

/** Samples before the middle of the first column. */
const CENTRE = WINDOW / 2;

/**
 * The inverse short-time Fourier transform at the end of Kokoro's decoder (20 points, every 5 samples). The published
 * graph has it as a transposed convolution; outside the graph it needs no state there. (The graph also divides a
 * sentence's first 10 samples by the sum of the windows; that is left out.)
 */
export class InverseStft {
  readonly #basis: Float32Array;
  /** Partial sums of samples to come. */
  readonly #rest = new Float64Array(WINDOW);
  #skipped = 0;

  /** @param basis [22, 1, 20]: samples of each channel */
  constructor(basis: Float32Array) {
    this.#basis = basis;
  }

  /** Adds columns, [22, columns]. @returns 5 samples per column; with `isLast`, also the rest */
  add(spectrum: Float32Array, isLast: boolean): Float32Array {
    const columns = spectrum.length / CHANNELS.spectrum;
    const rest = this.#rest;
    const out = new Float32Array(HOP * columns + (isLast ? HOP : 0));
    for (let column = 0; column < columns; column++) {
      for (let channel = 0; channel < CHANNELS.spectrum; channel++) {
        const value = SCALE * spectrum[channel * columns + column]!;
        for (let at = 0, from = channel * WINDOW; at < WINDOW; at++)
          rest[at]! += value * this.#basis[from + at]!;
      }
      this.#give(out, HOP * column);
    }
    if (isLast) this.#give(out, HOP * columns);
    const skip = Math.min(CENTRE - this.#skipped, out.length);
    this.#skipped += skip;
    return out.subarray(skip);
  }

  #give(out: Float32Array, at: number): void {
    for (let i = 0; i < HOP; i++) out[at + i] = this.#rest[i]!;
    this.#rest.copyWithin(0, HOP);
    this.#rest.fill(0, WINDOW - HOP);
  }
}
