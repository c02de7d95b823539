import { type Samples, wholeSamples } from "../../audio/format.ts";
import { HOP_SAMPLES } from "./frames.ts";
import type { SpeechSpan } from "./speech-span.ts";

/** Makes the samples of a sentence hop by hop, in order. */
export interface HopSource {
  /** Hops that come before the span's first frame. */
  readonly lead: number;
  /** Makes the next hop: 300 samples. Behind the last frame, what is left of its sound. */
  make(out: Float32Array): Promise<void>;
}

/**
 * The samples of one sentence, without the silence around it, computed as they are asked for. They begin one hop
 * (12.5 ms) before the first in which anything is heard, faded in, and end with the span's last frame, faded out.
 */
export class SentenceAudio {
  readonly #hops: HopSource;
  readonly #span: SpeechSpan;
  readonly #hop = new Float32Array(HOP_SAMPLES);
  /** The hop after {@link #hop}, when it had to be made first to see whether it is heard. */
  #following: Float32Array | null = null;
  /** Samples of {@link #hop} already given. */
  #taken = HOP_SAMPLES;
  /** Which hop of the sentence {@link #hop} is; none before the first is asked for. */
  #at: number | null = null;
  #first: number | null = null;
  readonly #gain: Float32Array | null;

  /** @param gain factor on the samples of each frame of the plan */
  constructor(hops: HopSource, span: SpeechSpan, gain: Float32Array | null = null) {
    this.#hops = hops;
    this.#span = span;
    this.#gain = gain;
  }

  /** The frame of the plan that the next sample belongs to. */
  get frame(): number {
    if (this.#at === null) return this.#span.from;
    return this.#taken < HOP_SAMPLES ? this.#at : this.#at + 1;
  }

  /** The frame of the plan that the first sample belongs to; known once samples have been filled in. */
  get firstFrame(): number {
    return this.#first ?? this.#span.from;
  }

  /** The frame of the plan behind the last sample. */
  get endFrame(): number {
    return this.#span.to;
  }

  /** Whether the next sample, or a later one, still belongs to the sound. */
  get isSounding(): boolean {
    return this.frame <= this.#span.last;
  }

  /** Samples of near silence before the sound: the hop before it, and half of the one in which it rises. */
  readonly samplesBefore: Samples = wholeSamples(1.5 * HOP_SAMPLES);

  /** Samples of near silence after the sound. */
  get samplesAfter(): Samples {
    return wholeSamples((this.#span.to - this.#span.last - 1) * HOP_SAMPLES);
  }

  /** Writes samples to `target` from `start` on until it is full or the sentence ends. @returns how many. */
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

  /** From the loudness of the frame before to this one's, so that nothing clicks. */
  #amplify(frame: number): void {
    const gain = this.#gain;
    if (gain === null) return;
    const to = gain[Math.max(0, frame)] ?? 1;
    const from = gain[Math.max(0, frame - 1)] ?? to;
    fade(this.#hop, (part) => from + (to - from) * part);
  }

  /** Makes hops until one is heard, and goes back by one. @returns which that is. */
  async #findFirst(): Promise<number> {
    const { from, onset, to } = this.#span;
    const latest = Math.min(onset + MAX_RISE_FRAMES, to - 1);
    const following = new Float32Array(HOP_SAMPLES);
    let hop = from - this.#hops.lead;
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

/** 45 dB below the loudest hops, whose RMS is about 0.1 whatever the sentence. */
const AUDIBLE_RMS = 0.00056;
/** A voiced plosive is heard up to 37.5 ms after the plan's energy has begun to rise. */
const MAX_RISE_FRAMES = 4;

/** Where in an utterance the frames of a plan are heard. */
export interface Placement {
  /** Samples of the utterance before the segment's first, and the plan's frame that this one belongs to. */
  readonly atSample: number;
  readonly frame: number;
  /** The plan's frame behind the segment's last sample. */
  readonly endFrame: number;
  /** How much faster than planned it is heard; 1 unless given. */
  readonly timeScale?: number;
}

/**
 * The first sample of a plan's frame in the utterance; what was cut off before a segment begins with it, and what was cut
 * off behind it with its end.
 */
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
