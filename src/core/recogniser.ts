import type { AudioSource } from "./audio-source.ts";

/** A word and when it is said, in seconds from the sound's beginning. */
export interface TranscribedWord {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
  /** 0 to 1. */
  readonly probability: number;
}

/** A stretch of speech and its words, in seconds from the sound's beginning. */
export interface TranscriptSegment {
  readonly startS: number;
  readonly endS: number;
  /** Trimmed, never empty. */
  readonly text: string;
  /** `null` where nobody asked for them. */
  readonly words: readonly TranscribedWord[] | null;
  /** Mean natural logarithm of its tokens' probabilities; `null` where the recogniser does not say. */
  readonly meanLogProbability: number | null;
}

/** What is written of a sound: what is said, or what it means in English. */
export type TranscriptionTask = "transcribe" | "translate";

/** What is said in a sound. */
export interface Transcript {
  /** The segments' words, joined by spaces; empty where nobody speaks. */
  readonly text: string;
  /** That is spoken, also where the text is a translation: ISO 639-1; `null` where it is unknown. */
  readonly language: string | null;
  /** 0 to 1; `null` where the recogniser does not say. */
  readonly languageProbability: number | null;
  /** How sure it is that somebody speaks at all, 0 to 1; `null` where the recogniser does not say. */
  readonly speechProbability: number | null;
  /** Of all tokens; `null` where there is none or the recogniser does not say. */
  readonly meanLogProbability: number | null;
  readonly segments: readonly TranscriptSegment[];
  /** Up to where it was listened to, in seconds from its beginning: less than all of it where that is too long. */
  readonly transcribedS: number;
}

export interface RecogniseOptions {
  /** `transcribe` unless given. */
  readonly task?: TranscriptionTask;
  /** That is spoken: ISO 639-1; `null` lets it find out. */
  readonly language: string | null;
  /** Words that may be said, or what was said before; steers spelling. In the language of the text. */
  readonly prompt: string | null;
  /** Whether each word's time is wanted. The words of a translation are said at no time: it has none. */
  readonly wantsWords: boolean;
  /** What the same task made of the same speech when less of it had been heard: confirmed or corrected, which is cheaper. */
  readonly draft: Transcript | null;
  /** From where on it is heard, in seconds: 0 unless given. What was said before is not in the transcript. */
  readonly startAtS?: number;
  /**
   * Is told after each piece what was heard from `startAtS` up to its `heardS`: at last the whole transcript.
   * Whoever gives up has that much, and hears the rest by another call that starts there, in the language that was found.
   * Must not throw.
   */
  readonly onPartial?: (part: Transcript) => void;
  /** Headers that carry the request's trace on to an endpoint that hears. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

/**
 * Tells what is said in recorded speech. One that computes here gives the same transcript for the same sound and options;
 * whether an endpoint does is up to that. Stops between two steps of its work when the signal aborts, and then throws its
 * reason; every other failure is a {@link RecogniserError}.
 */
export interface Recogniser {
  /** Who hears, for `meta`: `whisper-base`, or the name of an endpoint's model. */
  readonly name: string;
  /** Memory that it takes for each second of a sound while it hears that; 0 for one that holds no more than a window. */
  readonly memoryBytesPerS: number;
  /** Whether it takes the task `translate`, as far as it knows: what it cannot after all, it refuses when it is asked. */
  readonly canTranslate: boolean;
  /** Reads the sound as it hears it. What reading throws is thrown on as it is. */
  recognise(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript>;
  close(): Promise<void>;
}

/** What of a request a recogniser may be unable to do. */
type UnsupportedAspect = "language" | "length" | "task";

/**
 * A recogniser that could not hear. The message is shown to clients: it quotes nothing that a third party sent and names
 * no file. What whoever runs the server needs to know beyond it is in the `cause`.
 */
export class RecogniserError extends Error {
  override readonly name = "RecogniserError";
  /** After how long the same request may work; `null` when waiting alone mends nothing. */
  readonly retryAfterMs: number | null;
  /** What of the request cannot be done, so that only another request will do; `null` where it is not at fault. */
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

/** A segment and its words, so many seconds later: what was heard of a stretch, with the times of the whole clip. */
export function shiftedSegment(segment: TranscriptSegment, byS: number): TranscriptSegment {
  const later = <T extends { readonly startS: number; readonly endS: number }>(of: T): T => ({
    ...of,
    startS: of.startS + byS,
    endS: of.endS + byS,
  });
  return { ...later(segment), words: segment.words?.map(later) ?? null };
}
