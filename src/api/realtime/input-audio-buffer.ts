import { setTimeout as pause } from "node:timers/promises";
import { joinSamples } from "../../audio/pcm.ts";
import { expandAlaw, expandMulaw } from "../../audio/pcm-format.ts";
import { Resampler } from "../../audio/resample.ts";
import type { RealtimeFormat } from "../../contract/realtime/session.ts";
import type { RunQueued } from "../../core/run-queued.ts";
import {
  DETECTION_RATE_HZ,
  type VoiceActivity,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../../core/turn-detection.ts";
import { EventBudget, type EventLoopShare } from "../../limits/event-loop-budget.ts";
import { MAX_TURN_SAMPLES } from "./endpointing.ts";

/** Samples kept: the longest turn and the audio before it. */
const MAX_KEPT_SAMPLES = MAX_TURN_SAMPLES + 8 * DETECTION_RATE_HZ;
/** Seconds of audio decoded before other connections get their share of the event loop. */
const SLICE_S = 0.2;
/** Audio accepted while other keys have sessions: milliseconds ahead of real time, then milliseconds per second. */
const PACE = { burst: 30_000, perS: 1_000 };

export interface InputAudioBufferParts extends VoiceActivityFeedParts {
  readonly format: RealtimeFormat;
  readonly eventLoopShare: EventLoopShare;
  /** Returns whether other keys have sessions open. */
  readonly hasOtherKeys: () => boolean;
  readonly signal: AbortSignal;
}

/** The audio a client appends: decoded to 16 kHz, kept for transcription and fed to the voice activity detector. */
export class InputAudioBuffer {
  readonly #parts: InputAudioBufferParts;
  readonly #samples = new SampleBuffer(MAX_KEPT_SAMPLES);
  readonly #feed: VoiceActivityFeed;
  readonly #pace = new EventBudget(PACE);
  #decoder: InputAudioDecoder;
  #isClosed = false;

  constructor(parts: InputAudioBufferParts) {
    this.#parts = parts;
    this.#feed = new VoiceActivityFeed(parts);
    this.#decoder = new InputAudioDecoder(parts.format);
  }

  /** Samples appended so far, including forgotten ones. */
  get appended(): number {
    return this.#samples.appended;
  }

  /** Whether the detector has audio that it has not analysed. */
  get isBehind(): boolean {
    return this.#feed.isBusy;
  }

  setFormat(format: RealtimeFormat): void {
    if (format.type !== this.#decoder.type) this.#decoder = new InputAudioDecoder(format);
  }

  /** Appends base64 audio. Resolves when there is room for more. */
  async append(base64: string, isDetecting: boolean): Promise<void> {
    const bytes = Buffer.from(base64, "base64");
    const slice = Math.round(SLICE_S * this.#decoder.bytesPerS);
    for (let at = 0; at < bytes.length && !this.#isClosed; at += slice) {
      const samples = this.#decoder.push(bytes.subarray(at, at + slice));
      this.#samples.push(samples);
      if (isDetecting) {
        const detected = this.#feed.push(samples);
        // Audio in real time never waits for the detector.
        if (bytes.length > slice || this.#feed.isFull) await detected;
        if (this.#parts.hasOtherKeys()) await this.#keepPace(samples.length / DETECTION_RATE_HZ);
      }
      if (bytes.length > slice) await this.#parts.eventLoopShare.next();
    }
  }

  read(from: number, to: number): Float32Array {
    return this.#samples.read(from, to);
  }

  forget(before: number): void {
    this.#samples.forget(before);
  }

  /** Restarts detection with the next sample. Pending results are dropped. */
  resetDetection(): void {
    this.#feed.reset(this.#samples.appended);
  }

  /** Clears the detector's memory. Pending results stay valid. */
  refreshDetector(): void {
    this.#feed.refresh();
  }

  close(): void {
    this.#isClosed = true;
  }

  async #keepPace(seconds: number): Promise<void> {
    this.#pace.spend(1_000 * seconds);
    const { waitMs } = this.#pace;
    if (waitMs > 0) await pause(waitMs, null, { signal: this.#parts.signal }).catch(() => {});
  }
}

/** Samples that are kept and forgotten together: half a second. However small the pieces are, there are no more blocks. */

const BLOCK = 8_192;

/** Sound as it came, at 16 kHz, of which the beginning is forgotten: by and by, and beyond a bound. */
export class SampleBuffer {
  readonly #maxSamples: number;
  /** The newest is filled as far as there is sound. */
  readonly #blocks: Float32Array[] = [];
  /** The sample with which the first block begins. */
  #from = 0;
  #appended = 0;

  /** @param maxSamples that are kept at least; of more, up to a block, the oldest are forgotten */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Samples that have come, forgotten ones included. */
  get appended(): number {
    return this.#appended;
  }

  /** Samples for which there is memory just now. */
  get held(): number {
    return this.#blocks.length * BLOCK;
  }

  push(samples: Float32Array): void {
    for (let at = 0; at < samples.length; ) {
      const used = this.#appended - this.#from;
      if (used === this.held) this.#blocks.push(new Float32Array(BLOCK));
      const piece = samples.subarray(at, at + BLOCK - (used % BLOCK));
      this.#blocks.at(-1)!.set(piece, used % BLOCK);
      this.#appended += piece.length;
      at += piece.length;
      this.forget(this.#appended - this.#maxSamples);
    }
  }

  /** Forgets what is before a sample; less than a block of it stays. */
  forget(before: number): void {
    const until = Math.min(before, this.#appended);
    const drop = Math.max(0, Math.floor((until - this.#from) / BLOCK));
    if (drop === 0) return;
    this.#blocks.splice(0, drop);
    this.#from += drop * BLOCK;
  }

  /** A copy of what is kept between two samples. */
  read(from: number, to: number): Float32Array {
    const start = Math.max(from, this.#from);
    const end = Math.min(to, this.#appended);
    const read = new Float32Array(Math.max(0, end - start));
    for (let at = start; at < end; ) {
      const offset = (at - this.#from) % BLOCK;
      const block = this.#blocks[(at - this.#from - offset) / BLOCK]!;
      const piece = block.subarray(offset, Math.min(BLOCK, offset + end - at));
      read.set(piece, at - start);
      at += piece.length;
    }
    return read;
  }
}

const FULL_SCALE = 32_768;

/** Makes samples at 16 kHz of a client's bytes, which may be cut anywhere. */
export class InputAudioDecoder {
  readonly #type: RealtimeFormat["type"];
  readonly #resampler: Resampler;
  /** The first byte of a sample whose second has not come. */
  #oddByte: number | null = null;

  constructor({ type }: RealtimeFormat) {
    this.#type = type;
    this.#resampler = new Resampler(type === "audio/pcm" ? 24_000 : 8_000, DETECTION_RATE_HZ);
  }

  get type(): RealtimeFormat["type"] {
    return this.#type;
  }

  /** Bytes of a second. */
  get bytesPerS(): number {
    return this.#type === "audio/pcm" ? 48_000 : 8_000;
  }

  /** What the bytes so far are enough for. */
  push(bytes: Uint8Array): Float32Array {
    return this.#resampler.push(this.#type === "audio/pcm" ? this.#pcm(bytes) : this.#companded(bytes));
  }

  #companded(bytes: Uint8Array): Float32Array {
    const expand = this.#type === "audio/pcmu" ? expandMulaw : expandAlaw;
    const samples = new Float32Array(bytes.length);
    for (let at = 0; at < bytes.length; at += 1) samples[at] = expand(bytes[at]!) / FULL_SCALE;
    return samples;
  }

  #pcm(bytes: Uint8Array): Float32Array {
    const odd = this.#oddByte;
    const before = odd === null ? 0 : 1;
    const length = before + bytes.length;
    const samples = new Float32Array(length >> 1);
    const byteAt = (at: number): number => (at < before ? odd! : bytes[at - before]!);
    for (let at = 0; at < samples.length; at += 1) {
      const value = byteAt(2 * at) | (byteAt(2 * at + 1) << 8);
      samples[at] = ((value << 16) >> 16) / FULL_SCALE;
    }
    this.#oddByte = length % 2 === 1 ? byteAt(length - 1) : null;
    return samples;
  }
}

/** Pieces of sound that the detector may be hearing before no more is taken. */
const MAX_PENDING = 8;

export interface VoiceActivityFeedParts {
  readonly detector: VoiceActivityDetector;
  /** Makes a call of the detector when it is the key's turn. */
  readonly inTurn: RunQueued;
  /** Windows that may be heard together just now. */
  readonly maxWindows: () => number;
  /** Told of each window's probability of speech, in order; the first begins with that sample. */
  readonly onWindows: (probabilities: readonly number[], from: number) => void;
  /** @param count of failures on end, this one among them */
  readonly onFailure: (error: unknown, count: number) => void;
}

/**
 * Gives the detector a session's sound, as many windows at once as may be heard together. A detector that fails goes on
 * with the next piece.
 */
export class VoiceActivityFeed {
  readonly #parts: VoiceActivityFeedParts;
  readonly #voice: VoiceActivity;
  /** The sample that the detector began with, and how many it was given since. */
  #from = 0;
  #fed = 0;
  /** What it is given with what comes next. */
  #queued: Float32Array[] = [];
  #queuedSamples = 0;
  /** Counts resets: what was found in sound before one is void. */
  #epoch = 0;
  #pending = 0;
  #failures = 0;

  constructor(parts: VoiceActivityFeedParts) {
    this.#parts = parts;
    this.#voice = parts.detector.open(parts.inTurn);
  }

  /** Whether the detector is behind: what {@link push} returns is to be waited for. */
  get isFull(): boolean {
    return this.#pending >= MAX_PENDING;
  }

  /** Whether the detector has yet to answer. */
  get isBusy(): boolean {
    return this.#pending > 0;
  }

  /** Resolves when what it was enough for has been heard. */
  async push(samples: Float32Array): Promise<void> {
    this.#queued.push(samples);
    this.#queuedSamples += samples.length;
    const rest = this.#fed % WINDOW_SAMPLES;
    if (rest + this.#queuedSamples < this.#parts.maxWindows() * WINDOW_SAMPLES) return;
    const epoch = this.#epoch;
    const from = this.#from + this.#fed - rest;
    const queued = joinSamples(this.#queued);
    this.#clear();
    this.#fed += queued.length;
    this.#pending += 1;
    try {
      const probabilities = await this.#voice.push(queued);
      if (probabilities.length > 0) this.#failures = 0;
      if (epoch === this.#epoch) this.#parts.onWindows(probabilities, from);
    } catch (error) {
      this.#failures += 1;
      this.#parts.onFailure(error, this.#failures);
    } finally {
      this.#pending -= 1;
    }
  }

  /** The detector begins anew with the sample that comes next, and all before it is void. */
  reset(next: number): void {
    this.#epoch += 1;
    this.#clear();
    this.#voice.reset();
    this.#from = next;
    this.#fed = 0;
  }

  /** The detector forgets what it has heard. Nothing is void. */
  refresh(): void {
    this.#voice.reset();
    this.#from += this.#fed;
    this.#fed = 0;
  }

  #clear(): void {
    this.#queued = [];
    this.#queuedSamples = 0;
  }
}
