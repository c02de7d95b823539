import { clipSource } from "../../core/audio-source.ts";
import type { Recogniser, Transcript } from "../../core/recogniser.ts";
import { DETECTION_RATE_HZ } from "../../core/turn-detection.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";

export interface InputAudioTranscriberParts {
  /** `null`: no recogniser is installed. */
  readonly recogniser: Recogniser | null;
  /** Turns transcribed at once, in all and per key. */
  readonly slots: KeyedSemaphore;
  readonly keyId: string;
  readonly read: (from: number, to: number) => Float32Array;
  readonly onFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
}

export interface AudioSpan {
  readonly from: number;
  readonly to: number;
  /** ISO 639-1; `null`: detect it. */
  readonly language: string | null;
  readonly prompt: string | null;
}

/** Committed turns that may await transcription before the session stops reading: each keeps its audio. */
const MAX_COMMITTED = 2;
/**
 * Length after which the words before a pause are final, so that a long turn is not transcribed from its start each
 * time.
 */
const FINAL_SAMPLES = 15 * DETECTION_RATE_HZ;
/** Maximum length of a draft: more would take several recogniser windows. */
const MAX_DRAFT_SAMPLES = 28 * DETECTION_RATE_HZ;

interface Job {
  /** `null`: a partial transcript. */
  readonly revision: number | null;
  readonly controller: AbortController;
}

interface TurnProgress {
  readonly from: number;
  /** Final words, and the sample up to which they are final. */
  text: string;
  finalTo: number;
  /** Draft of the audio after that, for the recogniser to confirm. */
  draft: Transcript | null;
  /** The draft up to the latest pause, and its sample. */
  paused: { readonly transcript: Transcript; readonly at: number } | null;
  /** End of the audio transcribed so far; the turn is uncommitted. */
  transcribedTo: number;
}

/**
 * Transcribes turns while they are spoken, at each pause and in between, so that little is left to do at the end. A
 * newer request supersedes an older one unless its turn is committed.
 */
export class InputAudioTranscriber {
  readonly #parts: InputAudioTranscriberParts;
  #progress: TurnProgress | null = null;
  #current: Job | null = null;
  readonly #committed = new Set<Job>();
  #onRoom = (): void => {};
  #clips = 0;

  constructor(parts: InputAudioTranscriberParts) {
    this.#parts = parts;
  }

  /**
   * Transcribes a turn up to a pause. Superseded requests never call `onTranscript`.
   *
   * @param onTranscript receives `null` if recognition failed
   */
  transcribe(revision: number, span: AudioSpan, onTranscript: (text: string | null) => void): void {
    this.stop();
    const job = { revision, controller: new AbortController() };
    this.#current = job;
    void this.#run(job, span, onTranscript);
  }

  /** Transcribes a turn in progress, unless one of its requests is running. */
  transcribePartial(span: AudioSpan, onTranscript: (text: string) => void): void {
    const progress = this.#progressOf(span.from);
    if (this.#current !== null || span.to - progress.finalTo > MAX_DRAFT_SAMPLES) return;
    const job = { revision: null, controller: new AbortController() };
    this.#current = job;
    void this.#run(job, span, (text) => text !== null && onTranscript(text));
  }

  /** Protects a committed turn's request from being superseded. */
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

  stop(): void {
    this.#current?.controller.abort(new Error("more was said"));
    this.#current = null;
  }

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
    // Read before waiting, since the buffer may be trimmed meanwhile.
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
