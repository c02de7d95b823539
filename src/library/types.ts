/** Sample rate of all audio that is returned. */
export const SAMPLE_RATE = 24_000;

/** Settings as in `docs/settings.md`, nested as in a settings file: `{ dataDir: "…", models: { … } }`. */
export type OpenSettings = Readonly<Record<string, unknown>>;

/** A word as written, and its times. */
export interface SpokenWord {
  /** `$5` is one word, although two are spoken. Empty for a `mark`. */
  readonly word: string;
  /** Name of a `<mark>` in SSML, reached at this time; it has length 0. */
  readonly mark?: string;
  /** Seconds from the first sample of the speech. */
  readonly start: number;
  readonly end: number;
  /** Position in the text, in characters (code points). */
  readonly offset: number;
  readonly length: number;
  /** In a dialogue: the speaker's name, and the number of the line, from 0. */
  readonly speaker?: string;
  readonly line?: number;
}

/** At most 80 ms of speech. */
export interface SpeechFrame {
  /** 1 to 1,920 samples in [-1, 1], mono. Owned by the receiver. */
  readonly samples: Float32Array;
  /** Sample rate: {@link SAMPLE_RATE}. */
  readonly sampleRate: number;
  /** Seconds from the first sample of the speech. */
  readonly start: number;
  /** Words that begin in it. */
  readonly words: readonly SpokenWord[];
  /** Visemes (by Oculus's names) and phonemes that begin in it, if requested. */
  readonly visemes?: readonly { readonly viseme: string; readonly start: number; readonly end: number }[];
  readonly phonemes?: readonly { readonly phoneme: string; readonly start: number; readonly end: number }[];
}

/** Result of a finished speech. */
export interface SpeechEnd {
  /** The spoken text; for a written reply, its words. */
  readonly text: string;
  /** `length`: `params.max_new_tokens` cut it short. */
  readonly stop: "finished" | "length";
  /** Seconds. */
  readonly duration: number;
  /** The `meta` of `POST /v1/converse`. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Options of `say` and `converse`, named as in the HTTP requests. */
export interface SpeakOptions {
  /** Id of a public model. Default: the default model. */
  readonly model?: string | null;
  /** The `params` of `POST /v1/tts`: `{ temperature: 0 }`. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Pronunciations: from a word to other words, or to phonemes between slashes. */
  readonly lexicon?: Readonly<Record<string, string>>;
  /** Language to speak, such as `es`: it decides whose voices the labels and OpenAI's names are. Default: the voice's. */
  readonly language?: string | null;
  /** Default: SSML if the text begins with `<speak>`, else plain. */
  readonly input_type?: "text" | "ssml";
  /** Whether frames contain visemes and phonemes. */
  readonly visemes?: boolean;
  /** Ends the speech; a pending frame throws the signal's reason. */
  readonly signal?: AbortSignal | null;
}

export interface SayOptions extends SpeakOptions {
  /**
   * The `voice` of `POST /v1/tts`: `maya`, `0`, a mix such as `nova(2)+onyx(1)`, or a voice of the setting `voices`.
   */
  readonly voice?: string;
  /** Instead of `voice`, a label of the model: `0` or `1`. */
  readonly speaker?: string;
  /** How to say it, in English: `cheerful, a bit slower`. */
  readonly instructions?: string;
  /** Integrated loudness in LUFS, -30 to -10, to about 1.5 LU. Default: the voice's own. */
  readonly loudness?: number;
}

/**
 * A recording: path or `file:` URL of a WAV, MP3, FLAC, or Opus in Ogg or WebM; the bytes of such a file, whole or as
 * a stream; or mono samples in [-1, 1] at 24 kHz.
 */
export type Recording =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | Blob
  | AsyncIterable<Uint8Array>
  | Float32Array;

/** One turn of a conversation. */
export interface Turn {
  /** `0` (default), `1`, or a name that `voices` gives a voice. */
  readonly speaker?: string;
  /** The words. A last turn without them is written. */
  readonly text?: string | null;
  /** Recording of an earlier turn, whose voice its speaker keeps. Only the beginning of a long one counts. */
  readonly audio?: Recording;
  /** The field of `POST /v1/converse`: a WAV in base64. */
  readonly audio_wav_b64?: string | null;
}

export interface ConverseOptions extends SpeakOptions {
  /** Voices of speakers by label or name: `{ Anna: "maya", Ben: "theo" }`. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Instructions for the writer of the last turn. */
  readonly instructions?: string;
}

/** A line of a dialogue: a voice, or a name in `voices`, and its words. */
export interface DialogueLine {
  readonly voice: string;
  readonly text: string;
  readonly instructions?: string;
}

export interface DialogueOptions extends Omit<SpeakOptions, "input_type"> {
  /** Voices of speakers by their names. Others get voices of their own. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Seconds between two speakers. Default: 0.1 to 1.2, by what is said. */
  readonly gap?: number;
  readonly speed?: number;
  readonly loudness?: SayOptions["loudness"];
}

/**
 * Speech, computed frame by frame, only a few frames ahead of the consumer. Can be consumed once, by `for await` or
 * `next()`. Leaving the loop, or `return()`, ends the work at once.
 */
export interface Speech extends AsyncIterableIterator<SpeechFrame> {
  next(): Promise<IteratorResult<SpeechFrame, undefined>>;
  return(): Promise<IteratorResult<SpeechFrame, undefined>>;
  /** Resolves when all frames were consumed; rejects with the iterator's error, or if the consumer left early. */
  readonly end: Promise<SpeechEnd>;
}

export interface TranscribeOptions {
  /** ISO 639-1 code of the spoken language, such as `en`. Default: detected. */
  readonly language?: string | null;
  /** Whether segments contain word times. */
  readonly words?: boolean;
  readonly signal?: AbortSignal | null;
}

/**
 * A transcript, as `antiphon transcribe --json` prints it. Times are in seconds from the beginning of the recording.
 */
export interface Transcript {
  /** Empty if there is no speech. */
  readonly text: string;
  /** ISO 639-1 code, and its probability from 0 to 1; `null` if unknown. */
  readonly language: string | null;
  readonly language_probability: number | null;
  /** Probability that there is any speech, 0 to 1. */
  readonly speech_probability: number | null;
  /** Mean natural logarithm of the tokens' probabilities. */
  readonly mean_log_probability: number | null;
  /** Name of the recogniser. */
  readonly recogniser: string;
  readonly duration_s: number;
  /** Seconds that were transcribed. */
  readonly heard_s: number;
  readonly segments: readonly {
    readonly start_s: number;
    readonly end_s: number;
    readonly text: string;
    readonly mean_log_probability: number | null;
    /** Present if requested. */
    readonly words?: readonly {
      readonly start_s: number;
      readonly end_s: number;
      readonly text: string;
      readonly probability: number;
    }[];
  }[];
}

/** Antiphon in this process. Errors of a call are thrown where its frames or its promise are awaited. */
export interface Antiphon {
  /** Speaks a text of any length. */
  say(text: string, options?: SayOptions): Speech;
  /** Speaks the last turn of a conversation; if it has no text, writes it first. */
  converse(conversation: readonly Turn[], options?: ConverseOptions): Speech;
  /** Speaks a script of lines `Name: words`, or lines, with a voice for each speaker. */
  dialogue(script: string | readonly DialogueLine[], options?: DialogueOptions): Speech;
  /** Transcribes a recording of up to four hours. */
  transcribe(recording: Recording, options?: TranscribeOptions): Promise<Transcript>;
  /** Returns the phonemes of a text as the embedded voice reads it, one string per sentence. */
  phonemes(text: string): Promise<string[]>;
  /** Ends running calls and frees everything. May be called twice. */
  close(): Promise<void>;
}

/** A failure with a sentence that says what to do. An aborted signal throws its own reason instead. */
export class AntiphonError extends Error {
  override readonly name: string = "AntiphonError";
  /**
   * The `type` of HTTP errors (`invalid_request`, `rate_limit_exceeded`, `inference_error`, `internal_error`);
   * `settings`; `closed` after `close()`; `left` for a speech that its consumer left.
   */
  readonly code: string;
  /** The invalid argument, if it is one: `voice`, `conversation[0].audio`. */
  readonly field: string | null;

  constructor(
    message: string,
    code: string,
    field: string | null = null,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
    this.field = field;
  }
}
