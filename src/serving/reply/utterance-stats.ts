import type { Encoding } from "../../audio/encode/encoder.ts";
import { FRAME_S, FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { Telemetry, UtteranceEnd } from "../telemetry.ts";
import type { StreamedText } from "./streamed-text.ts";

/** What is spoken: by the public id of a model, into which kind of file. */
export interface UtteranceLabels {
  readonly model: string;
  readonly format: Encoding;
}

/** Counts one utterance as it goes: what was handed over, and how long was waited for what. Times in seconds. */
export class UtteranceStats {
  readonly #telemetry: Telemetry;
  readonly #utterance: UtteranceLabels;
  readonly #nowMs: () => number;
  readonly #listener = new PlaybackClock();
  #arrivedS: number;
  #queuedS: number;
  #admittedS: number;
  #firstAudioS = 0;
  #engineS = 0;
  #samples = 0;

  /** @param nowMs monotonic milliseconds */
  constructor(telemetry: Telemetry, utterance: UtteranceLabels, nowMs: () => number) {
    this.#telemetry = telemetry;
    this.#utterance = utterance;
    this.#nowMs = nowMs;
    this.#arrivedS = this.nowS;
    this.#queuedS = this.#arrivedS;
    this.#admittedS = this.#arrivedS;
  }

  /** Frames of 80 ms handed over so far, the last of which may be shorter. */
  get frames(): number {
    return Math.ceil(this.#samples / FRAME_SAMPLES);
  }

  /** Audio handed over so far, in seconds. */
  get audioS(): number {
    return this.#samples / SAMPLE_RATE_HZ;
  }

  /** Seconds of audio handed over beyond what a listener who plays it from the first frame on has heard. */
  get aheadS(): number {
    return this.frames === 0 ? 0 : this.audioS - (this.nowS - this.#arrivedS - this.#firstAudioS);
  }

  /** From the request's arrival to its first frame, in seconds; 0 before that. */
  get firstAudioS(): number {
    return this.#firstAudioS;
  }

  /** How long a place was waited for, in seconds. */
  get queuedS(): number {
    return this.#admittedS - this.#queuedS;
  }

  /** The first words have come only now, from the client itself: its own time is not the service's. */
  markTextArrived(): void {
    this.#arrivedS = this.nowS;
  }

  /** A place is asked for from now on. */
  markQueued(): void {
    this.#queuedS = this.nowS;
  }

  markAdmitted(): void {
    this.#admittedS = this.nowS;
    this.#telemetry.queued(this.queuedS);
  }

  /** Seconds of the clock that {@link UtteranceStats.recordFrame} goes by. */
  get nowS(): number {
    return this.#nowMs() / 1_000;
  }

  /** Waits for the engine's answer, and counts the wait, but for what the client's own words took to come. */
  async measureWait<T>(
    answer: Promise<T>,
    words: Pick<StreamedText, "lastArrivalS"> | undefined,
  ): Promise<T> {
    const askedS = this.nowS;
    const value = await answer;
    this.#engineS += this.nowS - Math.max(askedS, words?.lastArrivalS ?? 0);
    return value;
  }

  /** What had been asked for at `askedS` is about to be handed over; nothing is new in it where there are no samples. */
  recordFrame(samples: number, askedS: number): void {
    if (samples === 0) return;
    const cameS = this.nowS;
    if (this.frames === 0) {
      this.#firstAudioS = cameS - this.#arrivedS;
      this.#telemetry.firstAudio(this.#utterance.model, this.#firstAudioS);
    }
    if (this.#listener.isLate(askedS, cameS, samples)) this.#telemetry.underrun();
    this.#samples += samples;
  }

  /** Nothing more will be handed over. Once. */
  recordEnd(reason: UtteranceEnd): void {
    const { audioS } = this;
    this.#telemetry.ended({ ...this.#utterance, reason, audioS, engineS: this.#engineS });
  }

  /** The diagnostics of a reply, in milliseconds. */
  meta(stop: string): Record<string, unknown> {
    return {
      latency_ms: ms(this.nowS - this.#arrivedS),
      first_audio_ms: ms(this.#firstAudioS),
      queued_ms: ms(this.#admittedS - this.#arrivedS),
      frames: this.frames,
      stop,
    };
  }
}

function ms(seconds: number): number {
  return Math.round(seconds * 10_000) / 10;
}

/**
 * Follows one utterance as a listener who plays it in real time from the first frame would: tells when a frame came
 * later than it was needed although it had been asked for in time.
 */
export class PlaybackClock {
  #startedS: number | null = null;
  #frames = 0;

  /**
   * Call with the times, in seconds of one clock, at which a frame was asked for and came, and how many samples it
   * has. True: it was late.
   */
  isLate(askedS: number, cameS: number, samples = FRAME_SAMPLES): boolean {
    const frames = samples / FRAME_SAMPLES;
    if (this.#startedS === null) {
      this.#startedS = cameS;
      this.#frames = frames;
      return false;
    }
    const neededS = this.#startedS + this.#frames * FRAME_S;
    const late = askedS <= neededS && cameS > neededS;
    // A listener that ran dry, or asked late, starts its clock again with this frame.
    if (cameS > neededS) this.#startedS = cameS - this.#frames * FRAME_S;
    this.#frames += frames;
    return late;
  }
}
