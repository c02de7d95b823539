import { type Samples, wholeSamples } from "../../audio/format.ts";
import { joinSamples } from "../../audio/pcm.ts";
import { TimeScale } from "../../audio/time-scale.ts";
import { HOP_SAMPLES } from "./frames.ts";
import type { SentenceAudio } from "./sentence-audio.ts";

/** The samples of a sentence as {@link SentenceAudio} gives them, faster or slower at the same pitch. */
export class ScaledAudio implements Omit<SentenceAudio, "frame"> {
  readonly samplesBefore: Samples;
  readonly #audio: SentenceAudio;
  readonly #timeScale: number;
  readonly #scale: TimeScale;
  #ready: Float32Array = new Float32Array(0);
  #taken = 0;
  #given = 0;
  #hasEnded = false;

  /** @param timeScale above 1 is faster: 0.5 to 2 */
  constructor(audio: SentenceAudio, timeScale: number) {
    this.#audio = audio;
    this.#timeScale = timeScale;
    this.#scale = new TimeScale(timeScale);
    this.samplesBefore = wholeSamples(audio.samplesBefore / timeScale);
  }

  get firstFrame(): number {
    return this.#audio.firstFrame;
  }

  get endFrame(): number {
    return this.#audio.endFrame;
  }

  get isSounding(): boolean {
    const { firstFrame, endFrame, samplesAfter } = this.#audio;
    return this.#given * this.#timeScale < (endFrame - firstFrame) * HOP_SAMPLES - samplesAfter;
  }

  get samplesAfter(): Samples {
    return wholeSamples(this.#audio.samplesAfter / this.#timeScale);
  }

  async fill(target: Float32Array, start: Samples): Promise<Samples> {
    let at: number = start;
    while (at < target.length) {
      if (this.#taken === this.#ready.length) {
        if (this.#hasEnded) break;
        await this.#more();
      }
      const count = Math.min(this.#ready.length - this.#taken, target.length - at);
      target.set(this.#ready.subarray(this.#taken, this.#taken + count), at);
      this.#taken += count;
      at += count;
    }
    this.#given += at - start;
    return wholeSamples(at - start);
  }

  async #more(): Promise<void> {
    const piece = new Float32Array(PIECE_SAMPLES);
    const count = await this.#audio.fill(piece, wholeSamples(0));
    this.#hasEnded = count < piece.length;
    const scaled = this.#scale.push(piece.subarray(0, count));
    this.#ready = this.#hasEnded ? joinSamples([scaled, this.#scale.end()]) : scaled;
    this.#taken = 0;
  }
}

/** Two hops at a time: no more is computed ahead than that. */
const PIECE_SAMPLES = 2 * HOP_SAMPLES;
