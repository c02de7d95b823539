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
  readonly hasOtherKeys: () => boolean;
  readonly signal: AbortSignal;
}

/** Appended audio: decoded to 16 kHz, kept for transcription and fed to the voice activity detector. */
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

  get appended(): number {
    return this.#samples.appended;
  }

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

/** Samples per block, half a second. Small appends share a block. */
const BLOCK = 8_192;

/** The newest 16 kHz samples, up to a limit. */
export class SampleBuffer {
  readonly #maxSamples: number;
  readonly #blocks: Float32Array[] = [];
  #from = 0;
  #appended = 0;

  /** @param maxSamples minimum kept; beyond it, whole blocks are dropped */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  get appended(): number {
    return this.#appended;
  }

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

  forget(before: number): void {
    const until = Math.min(before, this.#appended);
    const drop = Math.max(0, Math.floor((until - this.#from) / BLOCK));
    if (drop === 0) return;
    this.#blocks.splice(0, drop);
    this.#from += drop * BLOCK;
  }

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

/** Decodes audio bytes, split anywhere, to samples at 16 kHz. */
export class InputAudioDecoder {
  readonly type: RealtimeFormat["type"];
  readonly #resampler: Resampler;
  /** First byte of a 16-bit sample whose second byte has not arrived. */
  #oddByte: number | null = null;

  constructor({ type }: RealtimeFormat) {
    this.type = type;
    this.#resampler = new Resampler(type === "audio/pcm" ? 24_000 : 8_000, DETECTION_RATE_HZ);
  }

  get bytesPerS(): number {
    return this.type === "audio/pcm" ? 48_000 : 8_000;
  }

  push(bytes: Uint8Array): Float32Array {
    return this.#resampler.push(this.type === "audio/pcm" ? this.#pcm(bytes) : this.#companded(bytes));
  }

  #companded(bytes: Uint8Array): Float32Array {
    const expand = this.type === "audio/pcmu" ? expandMulaw : expandAlaw;
    return Float32Array.from(bytes, (byte) => expand(byte) / FULL_SCALE);
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

/** Detector calls in flight before the session stops reading. */
const MAX_PENDING = 8;

export interface VoiceActivityFeedParts {
  readonly detector: VoiceActivityDetector;
  readonly inTurn: RunQueued;
  readonly maxWindows: () => number;
  /** Receives the probability of speech per window, in order; `from` is the first sample. */
  readonly onWindows: (probabilities: readonly number[], from: number) => void;
  /** @param count consecutive failures, including this one */
  readonly onFailure: (error: unknown, count: number) => void;
}

/** Feeds a session's audio to the detector in batches. After a failure the next batch is tried. */
export class VoiceActivityFeed {
  readonly #parts: VoiceActivityFeedParts;
  readonly #voice: VoiceActivity;
  /** First sample since the last reset, and the samples fed since. */
  #from = 0;
  #fed = 0;
  #queued: Float32Array[] = [];
  #queuedSamples = 0;
  /** Counts resets, which void pending results. */
  #epoch = 0;
  #pending = 0;
  #failures = 0;

  constructor(parts: VoiceActivityFeedParts) {
    this.#parts = parts;
    this.#voice = parts.detector.open(parts.inTurn);
  }

  get isFull(): boolean {
    return this.#pending >= MAX_PENDING;
  }

  get isBusy(): boolean {
    return this.#pending > 0;
  }

  /** Resolves once the windows that the samples complete are analysed. */
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

  reset(next: number): void {
    this.#epoch += 1;
    this.#clear();
    this.#voice.reset();
    this.#from = next;
    this.#fed = 0;
  }

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
