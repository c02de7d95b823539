import { type Samples, wholeSamples } from "../../audio/format.ts";
import { joinSamples } from "../../audio/pcm.ts";
import { TimeScale } from "../../audio/time-scale.ts";
import { HOP_SAMPLES } from "./frames.ts";
import type { SpeechSpan } from "./plan.ts";

export interface HopSource {
  /** Hops before the span's first frame. */
  readonly leadingHops: number;
  /** Makes the next hop, 300 samples; after the last frame, its decay. */
  make(out: Float32Array): Promise<void>;
}

/**
 * The samples of one sentence without the silence around it, computed on demand. They begin one hop (12.5 ms) before
 * the first audible one, faded in, and end with the span's last frame, faded out.
 */
export class SentenceAudio {
  readonly #hops: HopSource;
  readonly #span: SpeechSpan;
  readonly #hop = new Float32Array(HOP_SAMPLES);
  /** The hop after {@link #hop}, if it was made to test whether it is audible. */
  #following: Float32Array | null = null;
  #taken = HOP_SAMPLES;
  /** Index of {@link #hop} in the sentence; `null` before the first. */
  #at: number | null = null;
  #first: number | null = null;
  readonly #gain: Float32Array | null;

  constructor(hops: HopSource, span: SpeechSpan, gain: Float32Array | null = null) {
    this.#hops = hops;
    this.#span = span;
    this.#gain = gain;
  }

  get frame(): number {
    if (this.#at === null) return this.#span.from;
    return this.#taken < HOP_SAMPLES ? this.#at : this.#at + 1;
  }

  /** The plan's frame of the first sample; known once samples have been filled in. */
  get firstFrame(): number {
    return this.#first ?? this.#span.from;
  }

  get endFrame(): number {
    return this.#span.to;
  }

  /** Whether the next sample, or a later one, belongs to the sound. */
  get isSounding(): boolean {
    return this.frame <= this.#span.last;
  }

  /** Samples of near silence before the sound: one hop, and half of the one in which it rises. */
  readonly samplesBefore: Samples = wholeSamples(1.5 * HOP_SAMPLES);

  /** Samples of near silence after the sound. */
  get samplesAfter(): Samples {
    return wholeSamples((this.#span.to - this.#span.last - 1) * HOP_SAMPLES);
  }

  /** Fills `target` from `start` on until it is full or the sentence ends. @returns the count of samples */
  async fill(target: Float32Array, start: Samples): Promise<Samples> {
    let at: number = start;
    while (at < target.length) {
      if (this.#taken === HOP_SAMPLES && !(await this.#nextHop())) break;
      const count = Math.min(HOP_SAMPLES - this.#taken, target.length - at);
      target.set(this.#hop.subarray(this.#taken, this.#taken + count), at);
      this.#taken += count;
      at += count;
    }
    return wholeSamples(at - start);
  }

  async #nextHop(): Promise<boolean> {
    const lastHop = this.#span.to - 1;
    if (this.#at === lastHop) return false;
    if (this.#at === null) {
      this.#at = await this.#findFirst();
      this.#first = this.#at;
    } else {
      this.#at += 1;
      if (this.#following !== null) this.#hop.set(this.#following);
      else await this.#hops.make(this.#hop);
      this.#following = null;
      if (this.#at === lastHop) fade(this.#hop, (part) => 1 - part);
    }
    this.#amplify(this.#at);
    this.#taken = 0;
    return true;
  }

  /** Interpolates the gain from the frame before, so that nothing clicks. */
  #amplify(frame: number): void {
    const gain = this.#gain;
    if (gain === null) return;
    const to = gain[Math.max(0, frame)] ?? 1;
    const from = gain[Math.max(0, frame - 1)] ?? to;
    fade(this.#hop, (part) => from + (to - from) * part);
  }

  /** Makes hops until one is audible, and steps back by one. @returns its index */
  async #findFirst(): Promise<number> {
    const { from, onset, to } = this.#span;
    const latest = Math.min(onset + MAX_RISE_FRAMES, to - 1);
    const following = new Float32Array(HOP_SAMPLES);
    let hop = from - this.#hops.leadingHops;
    await this.#hops.make(following);
    do {
      this.#hop.set(following);
      hop += 1;
      await this.#hops.make(following);
    } while (rms(following) < AUDIBLE_RMS && hop < latest);
    this.#following = following;
    fade(this.#hop, (part) => part);
    return hop - 1;
  }
}

/** 45 dB below the loudest hops, whose RMS is about 0.1 in every sentence. */
const AUDIBLE_RMS = 0.00056;
/** A voiced plosive is audible up to 37.5 ms after the plan's energy begins to rise. */
const MAX_RISE_FRAMES = 4;

/** Maps a plan's frames to samples of the utterance. */
export interface Placement {
  /** The segment's first sample in the utterance, and its frame in the plan. */
  readonly atSample: number;
  readonly frame: number;
  /** The plan's frame after the segment's last sample. */
  readonly endFrame: number;
  readonly timeScale?: number;
}

/** Returns the utterance's sample of a plan's frame, limited to the segment. */
export function sampleOf({ atSample, frame, endFrame, timeScale = 1 }: Placement, ofFrame: number): number {
  return atSample + Math.round((Math.max(0, Math.min(ofFrame, endFrame) - frame) * HOP_SAMPLES) / timeScale);
}

function rms(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

function fade(hop: Float32Array, gain: (part: number) => number): void {
  for (let i = 0; i < hop.length; i++) hop[i]! *= gain(i / hop.length);
}

/** The samples of a {@link SentenceAudio}, faster or slower at the same pitch. */
export class ScaledAudio implements Omit<SentenceAudio, "frame"> {
  readonly samplesBefore: Samples;
  readonly #audio: SentenceAudio;
  readonly #timeScale: number;
  readonly #scale: TimeScale;
  #ready: Float32Array = new Float32Array(0);
  #taken = 0;
  #given = 0;
  #hasEnded = false;

  /** @param timeScale 0.5 to 2, above 1 is faster */
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

/** Two hops at a time, so that little is computed ahead. */
const PIECE_SAMPLES = 2 * HOP_SAMPLES;
