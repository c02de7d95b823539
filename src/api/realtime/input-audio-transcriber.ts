import { clipSource } from "../../core/audio-source.ts";
import type { Recogniser, Transcript } from "../../core/recogniser.ts";
import { DETECTION_RATE_HZ } from "../../core/turn-detection.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import { SENTENCE_END } from "./endpointing.ts";
import type { PartialTranscript, SampleRange } from "./session-events.ts";

export interface InputAudioTranscriberParts {
  /** `null`: no recogniser is installed. */
  readonly recogniser: Recogniser | null;
  /** Turns transcribed at once, in all and per key; the most urgent goes first. */
  readonly slots: KeyedSemaphore;
  readonly keyId: string;
  readonly read: (from: number, to: number) => Float32Array;
  /** Receives each transcript of a turn in progress. Words are stable if two transcripts agree or a sentence ended. */
  readonly onPartial: (partial: PartialTranscript) => void;
  readonly onFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
}

export interface AudioSpan extends SampleRange {
  /** ISO 639-1; `null`: detect it. */
  readonly language: string | null;
  readonly prompt: string | null;
  /** Whether the client wants the words while they are spoken. */
  readonly wantsPartials: boolean;
}

/** Committed turns that may await transcription before the session stops reading: each keeps its audio. */
const MAX_COMMITTED = 2;
/** Minimum length of a sentence that becomes final at a pause: shorter ones are recognised less reliably. */
const MIN_SENTENCE_SAMPLES = DETECTION_RATE_HZ;
/** Length beyond which any words become final at a pause. */
const FINAL_SAMPLES = 15 * DETECTION_RATE_HZ;
/** Probability from which a detected language applies to the rest of the turn. */
const MIN_LANGUAGE_PROBABILITY = 0.9;
/** Length beyond which a turn without a pause is drafted, to shorten its last transcription. */
const MIN_DRAFT_SAMPLES = 6 * DETECTION_RATE_HZ;
/** Maximum length of a draft: more would take several recogniser windows. */
const MAX_DRAFT_SAMPLES = 28 * DETECTION_RATE_HZ;

const RANK = { committed: 0, paused: 1, draft: 2 } as const;

interface Job {
  /** `null`: a partial transcript. */
  readonly revision: number | null;
  readonly controller: AbortController;
  rank: number;
}

interface TurnProgress {
  readonly from: number;
  /** Final words, and the sample up to which they are final. */
  text: string;
  finalTo: number;
  /** Latest transcript of the audio after that, which the recogniser only has to confirm. */
  draft: Transcript | null;
  /** The transcript up to the latest pause. */
  paused: { readonly transcript: Transcript; readonly at: number; readonly revision: number } | null;
  /** Revision of the latest pause that is long enough to end a sentence. */
  sentencePause: number | null;
  /** Language of the final words; `null` while it is uncertain. */
  language: string | null;
  /** End of the audio transcribed so far; the turn is uncommitted. */
  transcribedTo: number;
}

const NEW_TURN = { text: "", draft: null, paused: null, sentencePause: null, language: null };

/**
 * Transcribes turns while they are spoken, sentence by sentence, so that little is left to do at the end. A newer
 * request supersedes an older one unless its turn is committed.
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
    void this.#run({ revision, controller: new AbortController(), rank: RANK.paused }, span, onTranscript);
  }

  /**
   * Transcribes a turn in progress if its words are needed now, the client wants them, or there was no pause for long.
   * Does nothing while another transcription of the turn is running.
   */
  transcribePartial(span: AudioSpan, isNeeded: boolean): void {
    const { finalTo, transcribedTo } = this.#progressOf(span.from);
    const isLong = span.to - transcribedTo >= MIN_DRAFT_SAMPLES;
    if (this.#current !== null || span.to - finalTo > MAX_DRAFT_SAMPLES) return;
    if (!isNeeded && !span.wantsPartials && !isLong) return;
    const rank = isNeeded ? RANK.paused : RANK.draft;
    void this.#run({ revision: null, controller: new AbortController(), rank }, span, () => {});
  }

  /** Makes the words up to a pause final, once they are transcribed, if they are a sentence. */
  endSentence(revision: number): void {
    if (this.#progress === null) return;
    this.#progress.sentencePause = revision;
    this.#finalise(this.#progress);
  }

  /** Protects a committed turn's request from being superseded. */
  keep(revision: number): void {
    const job = this.#current;
    this.#progress = null;
    if (job?.revision !== revision) return;
    this.#current = null;
    job.rank = RANK.committed;
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
    this.#current = job;
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
    this.#finalise(progress);
    const { finalTo, text: before, draft } = progress;
    // Read before waiting, since the buffer may be trimmed meanwhile.
    const samples = read(finalTo, to);
    const permit = await slots.enter(keyId, 1, signal, undefined, {
      rank: () => job.rank,
      ...(job.rank === RANK.draft && { onWanted: () => job.controller.abort(new Error("others wait")) }),
    });
    try {
      this.#clips += 1;
      const digest = `${keyId}:${this.#clips}`;
      const durationS = samples.length / DETECTION_RATE_HZ;
      const clip = { samples, sampleRateHz: DETECTION_RATE_HZ, durationS, digest };
      const known = { language: language ?? progress.language, prompt, draft };
      const options = { ...known, wantsWords: false, isLive: true };
      const transcript = await recogniser.recognise(clipSource(clip), options, signal);
      progress.transcribedTo = Math.max(progress.transcribedTo, to);
      if (progress.finalTo === finalTo) {
        progress.draft = transcript;
        if (job.revision !== null) progress.paused = { transcript, at: to, revision: job.revision };
        const stable = joined(before, agreedWords(draft?.text ?? "", transcript.text));
        if (progress === this.#progress)
          this.#parts.onPartial({ from, text: joined(before, transcript.text), stable });
        this.#finalise(progress);
      }
      return joined(before, transcript.text);
    } finally {
      permit.release();
    }
  }

  /** Makes the words before the latest pause final if they are a sentence, or long. */
  #finalise(progress: TurnProgress): void {
    const { paused, sentencePause, finalTo } = progress;
    if (paused === null) return;
    const { transcript, at, revision } = paused;
    const isSentence = revision === sentencePause && SENTENCE_END.test(transcript.text);
    if (at - finalTo < (isSentence ? MIN_SENTENCE_SAMPLES : FINAL_SAMPLES)) return;
    progress.text = joined(progress.text, transcript.text);
    progress.finalTo = at;
    progress.draft = null;
    progress.paused = null;
    if ((transcript.languageProbability ?? 0) >= MIN_LANGUAGE_PROBABILITY)
      progress.language = transcript.language;
    const { from, text } = progress;
    if (progress === this.#progress) this.#parts.onPartial({ from, text, stable: text });
  }

  #progressOf(from: number): TurnProgress {
    if (this.#progress?.from !== from)
      this.#progress = { ...NEW_TURN, from, finalTo: from, transcribedTo: from };
    return this.#progress;
  }
}

/**
 * Returns the first words that a transcript shares with a draft (LocalAgreement-2: Macháček et al., "Turning Whisper
 * into Real-Time Transcription System", 2023). Never its last word, which may be incomplete.
 */
function agreedWords(draft: string, text: string): string {
  const drafted = draft.split(" ");
  const words = text.split(" ").slice(0, -1);
  const differs = words.findIndex((word, at) => word !== drafted[at]);
  return words.slice(0, differs < 0 ? words.length : differs).join(" ");
}

function joined(...texts: readonly string[]): string {
  return texts.filter((each) => each !== "").join(" ");
}
