import { FRAME_S, FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { EndedUtterance, Telemetry, UtteranceEnd } from "../telemetry.ts";
import type { StreamedText } from "./streamed-text.ts";

type UtteranceLabels = Pick<EndedUtterance, "model" | "format">;

/** Measures one utterance: audio handed over, and waits. Times in seconds. */
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

  /** @param nowMs returns monotonic milliseconds */
  constructor(telemetry: Telemetry, utterance: UtteranceLabels, nowMs = () => performance.now()) {
    this.#telemetry = telemetry;
    this.#utterance = utterance;
    this.#nowMs = nowMs;
    this.#arrivedS = this.nowS;
    this.#queuedS = this.#arrivedS;
    this.#admittedS = this.#arrivedS;
  }

  /** Frames of 80 ms handed over; the last may be shorter. */
  get frames(): number {
    return Math.ceil(this.#samples / FRAME_SAMPLES);
  }

  get audioS(): number {
    return this.#samples / SAMPLE_RATE_HZ;
  }

  /** Seconds of audio beyond what a listener has played who started with the first frame. */
  get aheadS(): number {
    return this.frames === 0 ? 0 : this.audioS - (this.nowS - this.#arrivedS - this.#firstAudioS);
  }

  /** Seconds from the request's arrival to its first frame; 0 before that. */
  get firstAudioS(): number {
    return this.#firstAudioS;
  }

  /** Seconds of waiting for a slot. */
  get queuedS(): number {
    return this.#admittedS - this.#queuedS;
  }

  /** Restarts the clock when the client's first text arrives, since the time before that is the client's. */
  markTextArrived(): void {
    this.#arrivedS = this.nowS;
  }

  markQueued(): void {
    this.#queuedS = this.nowS;
  }

  markAdmitted(): void {
    this.#admittedS = this.nowS;
    this.#telemetry.queued(this.queuedS);
  }

  /** Clock of {@link UtteranceStats.recordFrame}. */
  get nowS(): number {
    return this.#nowMs() / 1_000;
  }

  /** Awaits the engine and adds the wait, except the time that the client's own text took to come. */
  async measureWait<T>(
    answer: Promise<T>,
    words: Pick<StreamedText, "lastArrivalS"> | undefined,
  ): Promise<T> {
    const askedS = this.nowS;
    const value = await answer;
    this.#engineS += this.nowS - Math.max(askedS, words?.lastArrivalS ?? 0);
    return value;
  }

  /** Records a frame that was asked for at `askedS`; ignores one without samples. */
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

  /** Records the end. Call once. */
  recordEnd(reason: UtteranceEnd): void {
    const { audioS } = this;
    this.#telemetry.ended({ ...this.#utterance, reason, audioS, engineS: this.#engineS });
  }

  /** Returns the times for `meta`, in milliseconds. */
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
 * Clock of a listener who plays an utterance in real time from its first frame. Detects frames that came late
 * although they were asked for in time.
 */
export class PlaybackClock {
  #startedS: number | null = null;
  #frames = 0;

  /** Takes the times when a frame was asked for and came, in seconds of one clock. Returns whether it was late. */
  isLate(askedS: number, cameS: number, samples = FRAME_SAMPLES): boolean {
    const frames = samples / FRAME_SAMPLES;
    if (this.#startedS === null) {
      this.#startedS = cameS;
      this.#frames = frames;
      return false;
    }
    const neededS = this.#startedS + this.#frames * FRAME_S;
    const late = askedS <= neededS && cameS > neededS;
    // A listener that ran dry, or asked late, restarts its clock with this frame.
    if (cameS > neededS) this.#startedS = cameS - this.#frames * FRAME_S;
    this.#frames += frames;
    return late;
  }
}
