import { WINDOW_SAMPLES } from "../../core/turn-detection.ts";
import {
  advanceBySilence,
  advanceByWindow,
  applyVerdict,
  dropTurn,
  type EndpointingEvent,
  type EndpointingOptions,
  type EndpointingState,
  INITIAL_ENDPOINTING,
  prefixMs,
  reconsider,
  windowsToNextEvent,
} from "./endpointing.ts";
import type { SessionContext } from "./session-events.ts";

/** Samples per millisecond at 16 kHz, the unit of audio positions. */
export const SAMPLES_PER_MS = 16;
const WINDOW_MS = WINDOW_SAMPLES / SAMPLES_PER_MS;
/** A muted client sends nothing: after this long without audio, silence is assumed. */
const MUTED_MS = 750;
const MUTED_POLL_MS = 100;
/**
 * Windows of clear silence (5 s) after which the detector is refreshed: minutes of noise make it slow to find speech.
 */
const REFRESH_WINDOWS = 156;
const MAX_QUIET_PROBABILITY = 0.1;
/** Milliseconds after which the newest window is too old to show whether the user is starting to speak. */
const STALE_MS = 150;
/** Audio kept before the prefix of a possible turn: twice the 160 ms that an onset may take. */
const ONSET_MS = 320;
/** Windows between two trims of the buffer outside turns, about one second. */
const FORGET_EVERY_WINDOWS = 32;

export interface TurnDetectorParts {
  readonly options: () => EndpointingOptions | null;
  readonly onEvent: (event: EndpointingEvent) => void;
}

/**
 * Finds turns in the detector's speech probabilities, trims the audio buffer between turns, and assumes silence when
 * a client stops sending.
 */
export class TurnDetector {
  readonly #context: SessionContext;
  readonly #parts: TurnDetectorParts;
  #endpointing: EndpointingState = INITIAL_ENDPOINTING;
  /** First sample in the buffer. Earlier audio is committed, cleared or trimmed. */
  #bufferStart = 0;
  /** When audio last arrived, and the windows of silence assumed since. */
  #audioAtMs = 0;
  #assumedWindows = 0;
  /** When the newest window arrived or was assumed. */
  #windowAtMs = 0;
  /** Windows since the last turn, and the latest consecutive ones that are clearly silent. */
  #quietWindows = 0;
  #silentWindows = 0;

  constructor(context: SessionContext, parts: TurnDetectorParts) {
    this.#context = context;
    this.#parts = parts;
  }

  get bufferStart(): number {
    return this.#bufferStart;
  }

  get analysedSamples(): number {
    return this.#endpointing.samples;
  }

  get revision(): number {
    return this.#endpointing.revision;
  }

  get isInTurn(): boolean {
    return this.#endpointing.startSample !== null;
  }

  speechEndMs(silence: number): number {
    return this.#windowAtMs - silence * WINDOW_MS;
  }

  get mayStart(): boolean {
    const isNow = this.#context.nowMs() - this.#windowAtMs < STALE_MS;
    return !this.isInTurn && this.#endpointing.onset > 0 && isNow;
  }

  get staleAtMs(): number {
    return this.#windowAtMs + STALE_MS;
  }

  /** When silence must be assumed if no audio arrives. */
  get mutedAtMs(): number {
    const soonMs = this.#assumedWindows > 0 ? MUTED_POLL_MS : 0;
    return Math.max(this.#audioAtMs + MUTED_MS, this.#context.nowMs() + soonMs);
  }

  /** Returns the windows until the current turn may change; infinite during speech. */
  windowsToNext(options: EndpointingOptions): number {
    return this.#endpointing.silence === 0
      ? Number.POSITIVE_INFINITY
      : windowsToNextEvent(this.#endpointing, options);
  }

  audioReceived(): void {
    this.#audioAtMs = this.#context.nowMs();
    this.#assumedWindows = 0;
  }

  addProbabilities(probabilities: readonly number[], from: number): void {
    this.audioReceived();
    this.#windowAtMs = this.#context.nowMs();
    for (const [at, probability] of probabilities.entries())
      this.#addWindow(probability, from + (at + 1) * WINDOW_SAMPLES);
  }

  addVerdict(revision: number, finished: number): void {
    const options = this.#parts.options();
    if (options !== null) this.#apply(applyVerdict(this.#endpointing, revision, finished, options));
  }

  /** Ends the turn if its pause is long enough for the words that are known now. */
  reconsider(): void {
    const options = this.#parts.options();
    if (options !== null) this.#apply(reconsider(this.#endpointing, options));
  }

  /** Advances a turn by the time without audio, as silence. */
  advanceMuted(): void {
    const quietMs = this.#context.nowMs() - this.#audioAtMs;
    if (quietMs < MUTED_MS) return;
    const windows = Math.floor(quietMs / WINDOW_MS);
    while (this.#assumedWindows < windows && this.isInTurn) {
      this.#assumedWindows += 1;
      this.#windowAtMs = this.#context.nowMs();
      const options = this.#parts.options();
      if (options === null) return;
      this.#apply(advanceBySilence(this.#endpointing, options));
    }
  }

  /** Discards the current turn and all audio before `sample`. */
  restart(sample: number): void {
    this.#endpointing = { ...dropTurn(this.#endpointing), samples: sample };
    this.#resetQuiet();
    this.#context.do({ type: "reset_detection" });
  }

  /** Trims the buffer. Trimmed audio is neither transcribed nor metered. */
  forgetBefore(sample: number): void {
    if (sample <= this.#bufferStart) return;
    this.#bufferStart = sample;
    this.#context.do({ type: "forget_audio", before: sample });
  }

  #addWindow(probability: number, samples: number): void {
    const options = this.#parts.options();
    if (options === null) return;
    const events = this.#apply(advanceByWindow(this.#endpointing, probability, options, samples));
    if (this.isInTurn) this.#resetQuiet();
    else if (events.length === 0) this.#onQuietWindow(probability);
  }

  #apply({ state, events }: ReturnType<typeof advanceByWindow>): readonly EndpointingEvent[] {
    this.#endpointing = state;
    for (const event of events) this.#parts.onEvent(event);
    return events;
  }

  #resetQuiet(): void {
    this.#quietWindows = 0;
    this.#silentWindows = 0;
  }

  /** Keeps only the audio that may belong to the next turn. */
  #onQuietWindow(probability: number): void {
    this.#quietWindows += 1;
    if (this.#quietWindows % FORGET_EVERY_WINDOWS === 0) {
      const keptMs = prefixMs(this.#context.settings().turnDetection) + ONSET_MS;
      this.forgetBefore(this.#endpointing.samples - keptMs * SAMPLES_PER_MS);
    }
    this.#silentWindows = probability < MAX_QUIET_PROBABILITY ? this.#silentWindows + 1 : 0;
    if (this.#silentWindows < REFRESH_WINDOWS) return;
    this.#silentWindows = 0;
    this.#context.do({ type: "refresh_detector" });
  }
}
