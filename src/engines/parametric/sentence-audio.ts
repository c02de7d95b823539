import { HOP_SAMPLES, SPECTRUM_VALUES } from "./geometry.ts";
import type { Spectra, SpectrumStream } from "./spectrum-stream.ts";
import type { SpeechSpan } from "./speech-span.ts";
import type { Waveform } from "./waveform.ts";

/** Hops from the start of a sentence's samples to the frame where its sound begins: at most 37.5 ms. */
const HOPS_BEFORE_FIRST_FRAME = 1;

/**
 * The samples of one sentence, without the silence around it, computed as they are asked for. They begin one hop
 * before the span's first frame and end where the overlap of its last one does, both faded.
 */
export class SentenceAudio {
  readonly #stream: SpectrumStream;
  readonly #waveform: Waveform;
  readonly #span: SpeechSpan;
  readonly #hop = new Float32Array(HOP_SAMPLES);
  #spectra: Spectra | null = null;
  #inSpectra = 0;
  /** Samples of {@link #hop} already given. */
  #taken = HOP_SAMPLES;
  #hopsMade = 0;
  #given = 0;

  constructor(stream: SpectrumStream, waveform: Waveform, span: SpeechSpan) {
    this.#stream = stream;
    this.#waveform = waveform;
    this.#span = span;
  }

  /** The frame of the plan that the next sample belongs to. */
  get frame(): number {
    return this.#span.from - HOPS_BEFORE_FIRST_FRAME + Math.floor(this.#given / HOP_SAMPLES);
  }

  /** Whether the next sample, or a later one, still belongs to the sound. */
  get isSounding(): boolean {
    return this.frame <= this.#span.last;
  }

  /** Samples of near silence before the sound. */
  get samplesBefore(): number {
    return (this.#span.onset - this.#span.from + HOPS_BEFORE_FIRST_FRAME) * HOP_SAMPLES;
  }

  /** Samples of near silence after the sound. */
  get samplesAfter(): number {
    return (this.#span.to - this.#span.last - 1) * HOP_SAMPLES;
  }

  /** Writes samples to `target` from `start` on until it is full or the sentence ends. @returns how many. */
  async fill(target: Float32Array, start: number): Promise<number> {
    let at = start;
    while (at < target.length) {
      if (this.#taken === HOP_SAMPLES && !(await this.#nextHop())) break;
      const count = Math.min(HOP_SAMPLES - this.#taken, target.length - at);
      target.set(this.#hop.subarray(this.#taken, this.#taken + count), at);
      this.#taken += count;
      at += count;
    }
    this.#given += at - start;
    return at - start;
  }

  async #nextHop(): Promise<boolean> {
    const hops = this.#span.to - this.#span.from + HOPS_BEFORE_FIRST_FRAME;
    if (this.#hopsMade === hops) return false;
    // The first hop that comes out lies before the sentence's samples: it holds the first frame's faintest quarter.
    if (this.#hopsMade === 0) await this.#add();
    const isDrained = this.#hopsMade >= hops - 2;
    if (isDrained) this.#waveform.drain(this.#hop);
    else await this.#add();
    this.#hopsMade += 1;
    this.#taken = 0;
    if (this.#hopsMade === 1) fade(this.#hop, (part) => part);
    if (this.#hopsMade === hops) fade(this.#hop, (part) => 1 - part);
    return true;
  }

  async #add(): Promise<void> {
    if (this.#spectra === null || this.#inSpectra === this.#spectra.count) {
      this.#spectra = await this.#stream.next();
      this.#inSpectra = 0;
    }
    if (this.#spectra === null) throw new Error("The decoder ended before the sentence did.");
    this.#waveform.add(this.#spectra.values, this.#inSpectra * SPECTRUM_VALUES, this.#hop);
    this.#inSpectra += 1;
  }
}

function fade(hop: Float32Array, gain: (part: number) => number): void {
  for (let i = 0; i < hop.length; i++) hop[i]! *= gain(i / hop.length);
}
