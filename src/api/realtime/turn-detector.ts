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
  windowsToNextEvent,
} from "./endpointing.ts";
import type { SessionContext } from "./session-events.ts";

/** Samples of a millisecond, at 16 kHz: what positions in the sound are counted in. */
export const SAMPLES_PER_MS = 16;
const WINDOW_MS = WINDOW_SAMPLES / SAMPLES_PER_MS;
/** Who is muted sends nothing: after so long without sound, what is missing of a turn is silence. */
const MUTED_MS = 750;
/** While silence is taken for sound that did not come. */
const MUTED_POLL_MS = 100;
/** After 5 s of clear quiet the detector begins anew: noise over minutes makes it slow to find speech. */
const REFRESH_WINDOWS = 156;
const MAX_QUIET_PROBABILITY = 0.1;
/** A window that came longer ago says nothing of now. */
const STALE_MS = 150;
/** What is kept before the prefix of a turn that may begin: twice the 160 ms of speech that a beginning may take. */
const ONSET_MS = 320;
/** Between turns sound is forgotten about once a second, and not with every window. */
const FORGET_EVERY_WINDOWS = 32;

export interface TurnDetectorParts {
  /** Current endpointing options; `null` while turn detection is off. */
  readonly options: () => EndpointingOptions | null;
  readonly onEvent: (event: EndpointingEvent) => void;
}

/**
 * The sound of a session as the detector tells it: where in it somebody speaks, how much of it is kept, and what is taken
 * for silence where none comes.
 */
export class TurnDetector {
  readonly #context: SessionContext;
  readonly #parts: TurnDetectorParts;
  #endpointing: EndpointingState = INITIAL_ENDPOINTING;
  /** The first sample of the buffer: what came before is committed, thrown away or forgotten. */
  #keptFrom = 0;
  /** When sound came last, and windows that were taken for silence since. */
  #audioAtMs = 0;
  #assumedWindows = 0;
  /** When the newest window came, or was taken for silence. */
  #windowAtMs = 0;
  /** Windows outside of turns, and those of them on end that are clearly quiet. */
  #quietWindows = 0;
  #silentWindows = 0;

  constructor(context: SessionContext, parts: TurnDetectorParts) {
    this.#context = context;
    this.#parts = parts;
  }

  get bufferStart(): number {
    return this.#keptFrom;
  }

  /** The sample behind the newest window. */
  get analysedSamples(): number {
    return this.#endpointing.samples;
  }

  /** Of the pause that goes on, or the next: {@link EndpointingState}. */
  get revision(): number {
    return this.#endpointing.revision;
  }

  /** Whether a turn has begun. */
  get isInTurn(): boolean {
    return this.#endpointing.startSample !== null;
  }

  /** When speech ended, that many windows before the newest. */
  speechEndMs(silence: number): number {
    return this.#windowAtMs - silence * WINDOW_MS;
  }

  /** What is heard now may be the beginning of a turn, in the newest window that there is. */
  get mayStart(): boolean {
    const isNow = this.#context.nowMs() - this.#windowAtMs < STALE_MS;
    return !this.isInTurn && this.#endpointing.onset > 0 && isNow;
  }

  /** When the newest window says nothing more of a turn that may begin. */
  get staleAtMs(): number {
    return this.#windowAtMs + STALE_MS;
  }

  /** When a turn that has begun has to be looked at, if no sound comes. */
  get mutedAtMs(): number {
    const soonMs = this.#assumedWindows > 0 ? MUTED_POLL_MS : 0;
    return Math.max(this.#audioAtMs + MUTED_MS, this.#context.nowMs() + soonMs);
  }

  /** Windows until something may happen, in a turn that has begun. */
  windowsToNext(options: EndpointingOptions): number {
    return this.#endpointing.silence === 0
      ? Number.POSITIVE_INFINITY
      : windowsToNextEvent(this.#endpointing, options);
  }

  /** Some sound has come, whatever it is. */
  audioReceived(): void {
    this.#audioAtMs = this.#context.nowMs();
    this.#assumedWindows = 0;
  }

  /** @param from the first sample of the first window */
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

  /** No sound comes while a turn is open: what time has passed is silence. */
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

  /** The turn that has begun is none, and nothing before that sample belongs to another. */
  restart(sample: number): void {
    this.#endpointing = { ...dropTurn(this.#endpointing), samples: sample };
    this.#resetQuiet();
    this.#context.do({ type: "reset_detection" });
  }

  /** Sound before that sample is nobody's turn, and is neither recognised nor metered. */
  forgetBefore(sample: number): void {
    if (sample <= this.#keptFrom) return;
    this.#keptFrom = sample;
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

  /** Nobody speaks: of the sound only what may belong to the next turn is kept. */
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
