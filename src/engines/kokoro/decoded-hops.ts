import { FRAMES_PER_STEP, HOP_SAMPLES } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";
import type { HopSource } from "../prosody/sentence-audio.ts";
import type { SpeechSpan } from "../prosody/speech-span.ts";
import { pieceOf, type StepRange } from "./decoder-pieces.ts";
import { SPECTRA_PER_STEP } from "./graphs/cuts.ts";
import { InverseStft } from "./inverse-stft.ts";
import type { DecoderMemory, DecoderVoice, KokoroNetwork } from "./network.ts";

/** What a sentence is decoded with. */
export interface Decoding {
  readonly network: Pick<KokoroNetwork, "source" | "decode">;
  readonly voice: DecoderVoice;
  /** What each channel of a spectrum's column gives: see `cuts.ts`. */
  readonly inverseBasis: Float32Array;
  /** Columns of the spectrum that are still to come when columns went in. */
  readonly missing: number;
}

/**
 * The hops of a sentence, decoded piece by piece as they are asked for. The sizes of the pieces are fixed, so the same plan
 * gives the same bytes. Of the near silence around the sentence no more is decoded than the sound needs.
 */
export class DecodedHops implements HopSource {
  readonly lead = 0;
  readonly #decoding: Decoding;
  readonly #plan: Plan;
  /** What is decoded. */
  readonly #steps: StepRange;
  readonly #sizes: readonly number[];
  readonly #stft: InverseStft;
  /** Where the first piece ends. */
  readonly #firstTo: number;
  #source: Float32Array | null = null;
  #memory: DecoderMemory | null = null;
  /** The next step to go in. */
  #next: number;
  #piece = 0;
  #samples: Float32Array = new Float32Array(0);
  /** Samples in front of the span, or that were given. */
  #taken: number;

  constructor(decoding: Decoding, plan: Plan, span: SpeechSpan, sizes: readonly number[] = PIECE_STEPS) {
    const steps = plan.frames / FRAMES_PER_STEP;
    const from = Math.max(0, Math.floor(span.from / FRAMES_PER_STEP) - AROUND_STEPS);
    const to = Math.min(steps, Math.ceil(span.to / FRAMES_PER_STEP) + AROUND_STEPS);
    this.#decoding = decoding;
    this.#plan = plan;
    this.#steps = { from, to };
    this.#sizes = sizes;
    this.#stft = new InverseStft(decoding.inverseBasis);
    this.#next = from;
    // Nothing comes out before the kernels' reach is in: it goes in with the first piece.
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
    const piece = pieceOf(plan, this.#source, { from: this.#next, to }, this.#steps);
    const { spectrum, memory } = await network.decode(piece, voice, this.#memory);
    this.#memory = memory;
    this.#next = to;
    this.#piece += 1;
    const samples = this.#stft.add(spectrum, piece.isLast);
    this.#taken -= this.#samples.length;
    this.#samples = samples;
  }
}

/** Of the silence in front of the sound and behind it so much is decoded: 100 ms. */
const AROUND_STEPS = 4;
const MIN_LAST_STEPS = 4;

/**
 * 200 ms at first, for the first sound to come soon; the last size repeats. Twice as long pieces would take 6 % less time and
 * 0.15 GB more.
 */
const PIECE_STEPS: readonly number[] = [8, 8, 16];
