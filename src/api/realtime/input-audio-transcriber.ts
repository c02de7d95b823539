import { clipSource } from "../../core/audio-source.ts";
import type { Recogniser, Transcript } from "../../core/recogniser.ts";
import { DETECTION_RATE_HZ } from "../../core/turn-detection.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";

export interface TurnHearingParts {
  /** `null`: nothing that is said can be heard. */
  readonly recogniser: Recogniser | null;
  /** Turns being heard, of everybody and of one key. */
  readonly places: KeyedSemaphore;
  readonly keyId: string;
  /** A copy of the sound between two samples. */
  readonly read: (from: number, to: number) => Float32Array;
  readonly onFailure: (error: unknown) => void;
  /** Aborts with the session. */
  readonly signal: AbortSignal;
}

/** What is said between two samples. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** That is spoken: ISO 639-1; `null` lets the recogniser find out. */
  readonly language: string | null;
  readonly prompt: string | null;
}

/** Committed turns that may wait to be heard before a session takes no more sound: each holds its own. */
const MAX_KEPT = 2;
/** What is said before a pause is final once it is so long, so that a long turn is not heard from its beginning each time. */
const FINAL_SAMPLES = 15 * DETECTION_RATE_HZ;
/** What is longer is no draft: the recogniser hears it in several windows. */
const MAX_DRAFT_SAMPLES = 28 * DETECTION_RATE_HZ;

interface Job {
  /** `null` of a draft. */
  readonly revision: number | null;
  readonly leaving: AbortController;
}

/** What is known of a turn so far. */
interface Known {
  readonly from: number;
  /** Final words, and up to where. */
  text: string;
  heardTo: number;
  /** What was made of the sound behind that, for the recogniser to confirm. */
  draft: Transcript | null;
  /** Of those what was made up to a pause, and where that is. */
  paused: { readonly transcript: Transcript; readonly at: number } | null;
  /** End of the audio transcribed so far; the turn is uncommitted. */
  transcribedTo: number;
}

/**
 * Has turns recognised while they are spoken: at each pause, which may be the end, and in between, so that the end costs
 * little. What is superseded stops; what was committed does not.
 */
export class TurnHearing {
  readonly #parts: TurnHearingParts;
  #known: Known | null = null;
  /** What goes on and may be superseded. */
  #current: Job | null = null;
  readonly #kept = new Set<Job>();
  #onRoom = (): void => {};
  #count = 0;

  constructor(parts: TurnHearingParts) {
    this.#parts = parts;
  }

  /**
   * What is said up to a pause. An earlier one that was not kept stops, and tells nothing.
   *
   * @param onHeard `null`: it could not be heard
   */
  recognise(revision: number, stretch: Stretch, onHeard: (text: string | null) => void): void {
    this.stop();
    const job = { revision, leaving: new AbortController() };
    this.#current = job;
    void this.#run(job, stretch, onHeard);
  }

  /** What is said so far, while it goes on; nothing where the recogniser is busy with this turn anyway. */
  draft(stretch: Stretch, onHeard: (text: string) => void): void {
    const known = this.#of(stretch.from);
    if (this.#current !== null || stretch.to - known.heardTo > MAX_DRAFT_SAMPLES) return;
    const job = { revision: null, leaving: new AbortController() };
    this.#current = job;
    void this.#run(job, stretch, (text) => text !== null && onHeard(text));
  }

  /** Whatever comes, that one is heard to its end. */
  keep(revision: number): void {
    const job = this.#current;
    this.#known = null;
    if (job?.revision !== revision) return;
    this.#current = null;
    this.#kept.add(job);
  }

  /** Returns and clears the seconds transcribed of an uncommitted turn. */
  takeTranscribed(): number {
    const { from, transcribedTo } = this.#known ?? { from: 0, transcribedTo: 0 };
    this.#known = null;
    return (transcribedTo - from) / DETECTION_RATE_HZ;
  }

  /** Stops what was not kept. */
  stop(): void {
    this.#current?.leaving.abort(new Error("more was said"));
    this.#current = null;
  }

  /** Resolves when another turn may be committed. */
  async room(): Promise<void> {
    while (this.#kept.size >= MAX_KEPT && !this.#parts.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
  }

  async #run(job: Job, stretch: Stretch, onHeard: (text: string | null) => void): Promise<void> {
    const signal = AbortSignal.any([job.leaving.signal, this.#parts.signal]);
    let text: string | null = null;
    try {
      text = await this.#hear(job, stretch, signal);
    } catch (error) {
      if (!signal.aborted) this.#parts.onFailure(error);
    }
    if (this.#current === job) this.#current = null;
    this.#kept.delete(job);
    if (!signal.aborted) onHeard(text);
    this.#onRoom();
  }

  async #hear(job: Job, { from, to, language, prompt }: Stretch, signal: AbortSignal): Promise<string> {
    const { recogniser, places, keyId, read } = this.#parts;
    if (recogniser === null) throw new Error("there is no recogniser");
    const known = this.#of(from);
    if (known.paused !== null && known.paused.at - known.heardTo > FINAL_SAMPLES) {
      known.text = joined(known.text, known.paused.transcript.text);
      known.heardTo = known.paused.at;
      known.draft = null;
      known.paused = null;
    }
    const { heardTo, text: before, draft } = known;
    // Before anything is waited for: it may be forgotten then.
    const samples = read(heardTo, to);
    const permit = await places.enter(keyId, 1, signal);
    try {
      this.#count += 1;
      const digest = `${keyId}:${this.#count}`;
      const durationS = samples.length / DETECTION_RATE_HZ;
      const clip = { samples, sampleRateHz: DETECTION_RATE_HZ, durationS, digest };
      const options = { language, prompt, wantsWords: false, draft };
      const transcript = await recogniser.recognise(clipSource(clip), options, signal);
      known.transcribedTo = Math.max(known.transcribedTo, to);
      if (known.heardTo === heardTo) {
        known.draft = transcript;
        if (job.revision !== null) known.paused = { transcript, at: to };
      }
      return joined(before, transcript.text);
    } finally {
      permit.release();
    }
  }

  #of(from: number): Known {
    if (this.#known?.from !== from)
      this.#known = { from, text: "", heardTo: from, draft: null, paused: null, transcribedTo: from };
    return this.#known;
  }
}

function joined(...texts: readonly string[]): string {
  return texts.filter((each) => each !== "").join(" ");
}
