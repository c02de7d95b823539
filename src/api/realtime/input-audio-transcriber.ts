import { clipSource } from "../../core/audio-source.ts";
import type { Recogniser, Transcript } from "../../core/recogniser.ts";
import { DETECTION_RATE_HZ } from "../../core/turn-detection.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";

export interface InputAudioTranscriberParts {
  /** `null`: nothing that is said can be heard. */
  readonly recogniser: Recogniser | null;
  /** Turns being heard, of everybody and of one key. */
  readonly slots: KeyedSemaphore;
  readonly keyId: string;
  /** A copy of the sound between two samples. */
  readonly read: (from: number, to: number) => Float32Array;
  readonly onFailure: (error: unknown) => void;
  /** Aborts with the session. */
  readonly signal: AbortSignal;
}

/** What is said between two samples. */
export interface AudioSpan {
  readonly from: number;
  readonly to: number;
  /** That is spoken: ISO 639-1; `null` lets the recogniser find out. */
  readonly language: string | null;
  readonly prompt: string | null;
}

/** Committed turns that may wait to be heard before a session takes no more sound: each holds its own. */
const MAX_COMMITTED = 2;
/** What is said before a pause is final once it is so long, so that a long turn is not heard from its beginning each time. */
const FINAL_SAMPLES = 15 * DETECTION_RATE_HZ;
/** What is longer is no draft: the recogniser hears it in several windows. */
const MAX_DRAFT_SAMPLES = 28 * DETECTION_RATE_HZ;

interface Job {
  /** `null` of a draft. */
  readonly revision: number | null;
  readonly controller: AbortController;
}

/** What is known of a turn so far. */
interface TurnProgress {
  readonly from: number;
  /** Final words, and up to where. */
  text: string;
  finalTo: number;
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
export class InputAudioTranscriber {
  readonly #parts: InputAudioTranscriberParts;
  #progress: TurnProgress | null = null;
  /** What goes on and may be superseded. */
  #current: Job | null = null;
  readonly #committed = new Set<Job>();
  #onRoom = (): void => {};
  #clips = 0;

  constructor(parts: InputAudioTranscriberParts) {
    this.#parts = parts;
  }

  /**
   * What is said up to a pause. An earlier one that was not kept stops, and tells nothing.
   *
   * @param onHeard `null`: it could not be heard
   */
  transcribe(revision: number, span: AudioSpan, onTranscript: (text: string | null) => void): void {
    this.stop();
    const job = { revision, controller: new AbortController() };
    this.#current = job;
    void this.#run(job, span, onTranscript);
  }

  /** What is said so far, while it goes on; nothing where the recogniser is busy with this turn anyway. */
  transcribePartial(span: AudioSpan, onTranscript: (text: string) => void): void {
    const progress = this.#progressOf(span.from);
    if (this.#current !== null || span.to - progress.finalTo > MAX_DRAFT_SAMPLES) return;
    const job = { revision: null, controller: new AbortController() };
    this.#current = job;
    void this.#run(job, span, (text) => text !== null && onTranscript(text));
  }

  /** Whatever comes, that one is heard to its end. */
  keep(revision: number): void {
    const job = this.#current;
    this.#progress = null;
    if (job?.revision !== revision) return;
    this.#current = null;
    this.#committed.add(job);
  }

  /** Returns and clears the seconds transcribed of an uncommitted turn. */
  takeTranscribedSeconds(): number {
    const { from, transcribedTo } = this.#progress ?? { from: 0, transcribedTo: 0 };
    this.#progress = null;
    return (transcribedTo - from) / DETECTION_RATE_HZ;
  }

  /** Stops what was not kept. */
  stop(): void {
    this.#current?.controller.abort(new Error("more was said"));
    this.#current = null;
  }

  /** Resolves when another turn may be committed. */
  async waitForRoom(): Promise<void> {
    while (this.#committed.size >= MAX_COMMITTED && !this.#parts.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
  }

  async #run(job: Job, span: AudioSpan, onTranscript: (text: string | null) => void): Promise<void> {
    const signal = AbortSignal.any([job.controller.signal, this.#parts.signal]);
    let text: string | null = null;
    try {
      text = await this.#transcribe(job, span, signal);
    } catch (error) {
      if (!signal.aborted) this.#parts.onFailure(error);
    }
    if (this.#current === job) this.#current = null;
    this.#committed.delete(job);
    if (!signal.aborted) onTranscript(text);
    this.#onRoom();
  }

  async #transcribe(
    job: Job,
    { from, to, language, prompt }: AudioSpan,
    signal: AbortSignal,
  ): Promise<string> {
    const { recogniser, slots, keyId, read } = this.#parts;
    if (recogniser === null) throw new Error("there is no recogniser");
    const progress = this.#progressOf(from);
    if (progress.paused !== null && progress.paused.at - progress.finalTo > FINAL_SAMPLES) {
      progress.text = joined(progress.text, progress.paused.transcript.text);
      progress.finalTo = progress.paused.at;
      progress.draft = null;
      progress.paused = null;
    }
    const { finalTo, text: before, draft } = progress;
    // Before anything is waited for: it may be forgotten then.
    const samples = read(finalTo, to);
    const permit = await slots.enter(keyId, 1, signal);
    try {
      this.#clips += 1;
      const digest = `${keyId}:${this.#clips}`;
      const durationS = samples.length / DETECTION_RATE_HZ;
      const clip = { samples, sampleRateHz: DETECTION_RATE_HZ, durationS, digest };
      const options = { language, prompt, wantsWords: false, draft };
      const transcript = await recogniser.recognise(clipSource(clip), options, signal);
      progress.transcribedTo = Math.max(progress.transcribedTo, to);
      if (progress.finalTo === finalTo) {
        progress.draft = transcript;
        if (job.revision !== null) progress.paused = { transcript, at: to };
      }
      return joined(before, transcript.text);
    } finally {
      permit.release();
    }
  }

  #progressOf(from: number): TurnProgress {
    if (this.#progress?.from !== from)
      this.#progress = { from, text: "", finalTo: from, draft: null, paused: null, transcribedTo: from };
    return this.#progress;
  }
}

function joined(...texts: readonly string[]): string {
  return texts.filter((each) => each !== "").join(" ");
}
