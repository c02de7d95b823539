import { WINDOW_SAMPLES } from "../../core/turn-detection.ts";
import {
  dropTurn,
  type EndpointEvent,
  type EndpointingOptions,
  type EndpointingState,
  hearSilence,
  hearVerdict,
  hearWindow,
  INITIAL_ENDPOINTING,
  silenceToNext,
} from "./endpointing.ts";
import type { SessionEffect } from "./session-events.ts";

/** Samples of a millisecond, at 16 kHz: what positions in the sound are counted in. */
export const PER_MS = 16;
const WINDOW_MS = WINDOW_SAMPLES / PER_MS;
/** Who is muted sends nothing: after so long without sound, what is missing of a turn is silence. */
const MUTED_MS = 750;
/** While silence is taken for sound that did not come. */
const MUTED_WAKE_MS = 100;
/** After 5 s of clear quiet the detector begins anew: noise over minutes makes it slow to find speech. */
const CLEAR_WINDOWS = 156;
const CLEAR = 0.1;
/** A window that came longer ago says nothing of now. */
const STALE_MS = 150;
/** What is kept before the prefix of a turn that may begin: twice the 160 ms of speech that a beginning may take. */
const ONSET_MS = 320;
/** Between turns sound is forgotten about once a second, and not with every window. */
const FORGET_EVERY_WINDOWS = 32;

export interface SoundWatchParts {
  /** How turns are told from silence now; `null`: nothing is detected. */
  readonly options: () => EndpointingOptions | null;
  /** Sound that belongs to a turn before its beginning. */
  readonly prefixMs: () => number;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
  readonly endpoint: (event: EndpointEvent) => void;
  readonly do: (effect: SessionEffect) => void;
}

/**
 * The sound of a session as the detector tells it: where in it somebody speaks, how much of it is kept, and what is taken
 * for silence where none comes.
 */
export class SoundWatch {
  readonly #parts: SoundWatchParts;
  #endpointing: EndpointingState = INITIAL_ENDPOINTING;
  /** The first sample of the buffer: what came before is committed, thrown away or forgotten. */
  #keptFrom = 0;
  /** When sound came last, and windows that were taken for silence since. */
  #soundAtMs = 0;
  #silentWindows = 0;
  /** When the newest window came, or was taken for silence. */
  #windowAtMs = 0;
  /** Windows outside of turns, and those of them on end that are clearly quiet. */
  #quietWindows = 0;
  #clearWindows = 0;

  constructor(parts: SoundWatchParts) {
    this.#parts = parts;
  }

  get keptFrom(): number {
    return this.#keptFrom;
  }

  /** The sample behind the newest window. */
  get samples(): number {
    return this.#endpointing.samples;
  }

  /** Of the pause that goes on, or the next: {@link EndpointingState}. */
  get revision(): number {
    return this.#endpointing.revision;
  }

  /** Whether a turn has begun. */
  get isInTurn(): boolean {
    return this.#endpointing.beganAt !== null;
  }

  /** When speech ended, that many windows before the newest. */
  speechEndMs(silence: number): number {
    return this.#windowAtMs - silence * WINDOW_MS;
  }

  /** What is heard now may be the beginning of a turn, in the newest window that there is. */
  get mayBegin(): boolean {
    const isNow = this.#parts.nowMs() - this.#windowAtMs < STALE_MS;
    return !this.isInTurn && this.#endpointing.onset > 0 && isNow;
  }

  /** When the newest window says nothing more of a turn that may begin. */
  get staleAtMs(): number {
    return this.#windowAtMs + STALE_MS;
  }

  /** When a turn that has begun has to be looked at, if no sound comes. */
  get mutedAtMs(): number {
    const soonMs = this.#silentWindows > 0 ? MUTED_WAKE_MS : 0;
    return Math.max(this.#soundAtMs + MUTED_MS, this.#parts.nowMs() + soonMs);
  }

  /** Windows until something may happen, in a turn that has begun. */
  windowsToNext(options: EndpointingOptions): number {
    return this.#endpointing.silence === 0
      ? Number.POSITIVE_INFINITY
      : silenceToNext(this.#endpointing, options);
  }

  /** Some sound has come, whatever it is. */
  soundCame(): void {
    this.#soundAtMs = this.#parts.nowMs();
    this.#silentWindows = 0;
  }

  /** @param from the first sample of the first window */
  windows(probabilities: readonly number[], from: number): void {
    this.soundCame();
    this.#windowAtMs = this.#parts.nowMs();
    for (const [at, probability] of probabilities.entries())
      this.#window(probability, from + (at + 1) * WINDOW_SAMPLES);
  }

  verdict(revision: number, finished: number): void {
    const options = this.#parts.options();
    if (options !== null) this.#go(hearVerdict(this.#endpointing, revision, finished, options));
  }

  /** No sound comes while a turn is open: what time has passed is silence. */
  hearMuted(): void {
    const quietMs = this.#parts.nowMs() - this.#soundAtMs;
    if (quietMs < MUTED_MS) return;
    const windows = Math.floor(quietMs / WINDOW_MS);
    while (this.#silentWindows < windows && this.isInTurn) {
      this.#silentWindows += 1;
      this.#windowAtMs = this.#parts.nowMs();
      const options = this.#parts.options();
      if (options === null) return;
      this.#go(hearSilence(this.#endpointing, options));
    }
  }

  /** The turn that has begun is none, and nothing before that sample belongs to another. */
  restart(sample: number): void {
    this.#endpointing = { ...dropTurn(this.#endpointing), samples: sample };
    this.#noTurnSoFar();
    this.#parts.do({ type: "reset" });
  }

  /** Sound before that sample is nobody's turn, and is neither recognised nor metered. */
  forgetBefore(sample: number): void {
    if (sample <= this.#keptFrom) return;
    this.#keptFrom = sample;
    this.#parts.do({ type: "forget", before: sample });
  }

  #window(probability: number, samples: number): void {
    const options = this.#parts.options();
    if (options === null) return;
    const events = this.#go(hearWindow(this.#endpointing, probability, options, samples));
    if (this.isInTurn) this.#noTurnSoFar();
    else if (events.length === 0) this.#quiet(probability);
  }

  #go({ state, events }: ReturnType<typeof hearWindow>): readonly EndpointEvent[] {
    this.#endpointing = state;
    for (const event of events) this.#parts.endpoint(event);
    return events;
  }

  #noTurnSoFar(): void {
    this.#quietWindows = 0;
    this.#clearWindows = 0;
  }

  /** Nobody speaks: of the sound only what may belong to the next turn is kept. */
  #quiet(probability: number): void {
    this.#quietWindows += 1;
    if (this.#quietWindows % FORGET_EVERY_WINDOWS === 0) {
      const keptMs = this.#parts.prefixMs() + ONSET_MS;
      this.forgetBefore(this.#endpointing.samples - keptMs * PER_MS);
    }
    this.#clearWindows = probability < CLEAR ? this.#clearWindows + 1 : 0;
    if (this.#clearWindows < CLEAR_WINDOWS) return;
    this.#clearWindows = 0;
    this.#parts.do({ type: "refresh" });
  }
}
