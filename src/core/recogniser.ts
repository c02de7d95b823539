import type { AudioSource } from "./audio-source.ts";

/** A word and its times, in seconds from the beginning of the recording. */
export interface TranscribedWord {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
  /** 0 to 1. */
  readonly probability: number;
}

/** A passage of speech, in seconds from the beginning of the recording. */
export interface TranscriptSegment {
  readonly startS: number;
  readonly endS: number;
  /** Trimmed, never empty. */
  readonly text: string;
  /** `null` if not requested. */
  readonly words: readonly TranscribedWord[] | null;
  /** Mean natural logarithm of the token probabilities; `null` if the recogniser does not report it. */
  readonly meanLogProbability: number | null;
}

/** `transcribe` writes what is said; `translate` writes it in English. */
export type TranscriptionTask = "transcribe" | "translate";

export interface Transcript {
  /** The segments' words, joined by spaces. Empty if there is no speech. */
  readonly text: string;
  /** Spoken language (ISO 639-1), also for a translation; `null` if unknown. */
  readonly language: string | null;
  /** 0 to 1; `null` if the recogniser does not report it. */
  readonly languageProbability: number | null;
  /** Probability of any speech, 0 to 1; `null` if the recogniser does not report it. */
  readonly speechProbability: number | null;
  /** Over all tokens; `null` if there are none or the recogniser does not report it. */
  readonly meanLogProbability: number | null;
  readonly segments: readonly TranscriptSegment[];
  /** Seconds that were transcribed, from the beginning: less than all if the recording is too long. */
  readonly transcribedS: number;
}

export interface RecogniseOptions {
  /** Default: `transcribe`. */
  readonly task?: TranscriptionTask;
  /** Spoken language (ISO 639-1); `null` to detect it. */
  readonly language: string | null;
  /** Words that may occur, or the preceding text, in the language of the transcript. Steers spelling. */
  readonly prompt: string | null;
  /** Whether to time each word. Translations have no word times. */
  readonly wantsWords: boolean;
  /**
   * An earlier transcript of a shorter part of the same speech, for the same task. Confirming or correcting it is
   * cheaper than starting over.
   */
  readonly draft: Transcript | null;
  /** Seconds to skip. Default: 0. Speech before it is not in the transcript. */
  readonly startAtS?: number;
  /**
   * Receives the transcript so far (from `startAtS` to its `transcribedS`) after each window; the last call has all
   * of it. A caller that gives up can resume there with another call, in the detected language. Must not throw.
   */
  readonly onPartial?: (part: Transcript) => void;
  /** Whether a speaker waits for the transcript: it goes before other recordings. Default: false. */
  readonly isLive?: boolean;
  /** Headers that propagate the request's trace to an endpoint. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

/**
 * Transcribes recorded speech. A local recogniser is deterministic for equal audio and options. When the signal
 * aborts, it stops at the next step and throws the signal's reason; all other failures are a {@link RecogniserError}.
 */
export interface Recogniser {
  /** Name for `meta`: `whisper-base`, or the model of an endpoint. */
  readonly name: string;
  /** Memory per second of audio during recognition; 0 if it keeps only one window. */
  readonly memoryBytesPerS: number;
  /** Whether it accepts `translate`. An endpoint may still refuse when asked. */
  readonly canTranslate: boolean;
  /** Reads the audio as it transcribes. Errors from reading are passed on unchanged. */
  recognise(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript>;
  close(): Promise<void>;
}

/** Aspect of a request that a recogniser may not support. */
type UnsupportedAspect = "language" | "length" | "task";

/**
 * A failed recognition. Clients see the message: it quotes no third party and names no file. Details for operators
 * are in `cause`.
 */
export class RecogniserError extends Error {
  override readonly name = "RecogniserError";
  /** Milliseconds after which a retry may succeed; `null` if waiting alone does not help. */
  readonly retryAfterMs: number | null;
  /** What makes the request unsupported; `null` if the request is not at fault. */
  readonly refused: UnsupportedAspect | null;

  constructor(
    message: string,
    options: ErrorOptions & { readonly retryAfterMs?: number; readonly refused?: UnsupportedAspect } = {},
  ) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.refused = options.refused ?? null;
  }
}

/** Returns a segment and its words, delayed by `byS` seconds. */
export function shiftedSegment(segment: TranscriptSegment, byS: number): TranscriptSegment {
  const later = <T extends { readonly startS: number; readonly endS: number }>(of: T): T => ({
    ...of,
    startS: of.startS + byS,
    endS: of.endS + byS,
  });
  return { ...later(segment), words: segment.words?.map(later) ?? null };
}
