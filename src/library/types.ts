/** Samples a second of all sound that is given out. */
export const SAMPLE_RATE = 24_000;

/** Settings as `docs/settings.md` lists them, nested as in a settings file: `{ dataDir: "…", models: { … } }`. */
export type OpenSettings = Readonly<Record<string, unknown>>;

/** A word as the text writes it, and when it is heard. */
export interface SpokenWord {
  /** `$5` is one word, although two are spoken for it. Empty for a `mark`. */
  readonly word: string;
  /** The name of a `<mark>` in SSML, and when it is reached: no word, of length 0. */
  readonly mark?: string;
  /** Seconds from the first sample of the speech. */
  readonly start: number;
  readonly end: number;
  /** Where it is written, in characters (code points) of the text. */
  readonly offset: number;
  readonly length: number;
}

/** At most 80 ms of speech. */
export interface SpeechFrame {
  /** 1 to 1,920 samples in [-1, 1], mono. They are yours. */
  readonly samples: Float32Array;
  /** Samples a second: {@link SAMPLE_RATE}. */
  readonly sampleRate: number;
  /** Seconds from the first sample of the speech. */
  readonly start: number;
  /** Those that begin in it. */
  readonly words: readonly SpokenWord[];
  /** Where they were asked for: shapes of the mouth, by Oculus's names, and phonemes that begin in it. */
  readonly visemes?: readonly { readonly viseme: string; readonly start: number; readonly end: number }[];
  readonly phonemes?: readonly { readonly phoneme: string; readonly start: number; readonly end: number }[];
}

/** What there is to say of speech once it is over. */
export interface SpeechEnd {
  /** The text that was spoken; of a reply that was written, its words. */
  readonly text: string;
  /** `length`: `params.max_new_tokens` cut it short. */
  readonly stop: "finished" | "length";
  /** Seconds. */
  readonly duration: number;
  /** As `meta` of `POST /v1/converse`; of a text of over 8,000 characters, that of its last part. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** What `say` and `converse` take, by the names of the HTTP requests. */
export interface SpeakOptions {
  /** Id of a public model; the default one unless given. */
  readonly model?: string | null;
  /** How it is generated, as `params` of `POST /v1/tts`: `{ temperature: 0 }`. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** How words are said: a word to others that are read instead, or to its phonemes between slashes. */
  readonly lexicon?: Readonly<Record<string, string>>;
  /** How the text is written; SSML where it begins with `<speak>`, unless given. */
  readonly input_type?: "text" | "ssml";
  /** Whether frames tell of the mouth. */
  readonly visemes?: boolean;
  /** Ends it: what waits for a frame then throws the signal's reason. */
  readonly signal?: AbortSignal | null;
}

export interface SayOptions extends SpeakOptions {
  /** Whose voice, as `voice` of `POST /v1/tts`: `0`, `nova`, a mix such as `nova(2)+onyx(1)`, a voice of the setting `voices`. */
  readonly voice?: string;
  /** Instead of `voice`, a label of the model's: `0` or `1`. */
  readonly speaker?: string;
  /** How to say it, in English: `cheerful, a bit slower`. */
  readonly instructions?: string;
}

/**
 * A recording: the path or `file:` URL of a WAV, MP3, FLAC, or Opus in Ogg or WebM; such a file's bytes, in one piece or as a
 * stream; or samples in [-1, 1], mono, 24,000 a second.
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
  /** `0` unless given; also `1`. */
  readonly speaker?: string;
  /** What is said. The last turn without it is written. */
  readonly text?: string | null;
  /** How an earlier turn sounded: its speaker goes on in that voice. Of a long one the beginning counts. */
  readonly audio?: Recording;
  /** The same as `POST /v1/converse` takes it: base64 of a WAV. */
  readonly audio_wav_b64?: string | null;
}

export interface ConverseOptions extends SpeakOptions {
  /** Whose voices speakers have, by their labels: `{ 0: "nova", 1: "onyx" }`. */
  readonly voices?: Readonly<Record<string, string>>;
  /** What whoever writes the last turn is to keep to. */
  readonly instructions?: string;
}

/**
 * Speech as it is made, a frame at a time; no more than a few frames are made before they are asked for. To be gone through
 * once, by `for await` or by `next()`. `return()`, as leaving the loop does, ends the work on it at once.
 */
export interface Speech extends AsyncIterableIterator<SpeechFrame> {
  next(): Promise<IteratorResult<SpeechFrame, undefined>>;
  return(): Promise<IteratorResult<SpeechFrame, undefined>>;
  /** Resolves when all of it was taken; rejects as the iterator throws, and where the speech was left before. */
  readonly end: Promise<SpeechEnd>;
}

export interface TranscribeOptions {
  /** ISO 639-1 code of what is spoken, such as `en`; found out unless given. */
  readonly language?: string | null;
  /** Whether segments have the time of each word. */
  readonly words?: boolean;
  readonly signal?: AbortSignal | null;
}

/** What was heard, as `antiphon transcribe --json` prints it. Times are in seconds from the recording's beginning. */
export interface Transcript {
  /** Empty where nobody speaks. */
  readonly text: string;
  /** ISO 639-1, and from 0 to 1 how sure that is; `null` where it is unknown. */
  readonly language: string | null;
  readonly language_probability: number | null;
  /** How sure it is that somebody speaks at all, 0 to 1. */
  readonly speech_probability: number | null;
  /** Mean natural logarithm of the tokens' probabilities. */
  readonly mean_log_probability: number | null;
  /** Who heard it. */
  readonly recogniser: string;
  readonly duration_s: number;
  /** How much of it was listened to. */
  readonly heard_s: number;
  readonly segments: readonly {
    readonly start_s: number;
    readonly end_s: number;
    readonly text: string;
    readonly mean_log_probability: number | null;
    /** Where they were asked for. */
    readonly words?: readonly {
      readonly start_s: number;
      readonly end_s: number;
      readonly text: string;
      readonly probability: number;
    }[];
  }[];
}

/** Antiphon in this process. What is wrong with a call is thrown where its frames, or its promise, are awaited. */
export interface Antiphon {
  /** Speaks a text of any length. */
  say(text: string, options?: SayOptions): Speech;
  /** Speaks the last turn of a conversation, and writes it first where it has no text. */
  converse(conversation: readonly Turn[], options?: ConverseOptions): Speech;
  /** Says what is said in a recording of up to four hours. */
  transcribe(recording: Recording, options?: TranscribeOptions): Promise<Transcript>;
  /** The phonemes of a text as the embedded voice reads it, a string a sentence. */
  phonemes(text: string): Promise<string[]>;
  /** Ends what is being done, and frees everything. Calling it again is harmless. */
  close(): Promise<void>;
}

/** What went wrong, in a sentence that says what to do. An aborted signal throws its own reason instead. */
export class AntiphonError extends Error {
  override readonly name: string = "AntiphonError";
  /**
   * The `type` of the HTTP errors (`invalid_request`, `rate_limit_exceeded`, `inference_error`, `internal_error`); `settings`;
   * `closed` after `close()`; `left` of the end of speech that was left before.
   */
  readonly code: string;
  /** What is wrong, where it is one thing: `voice`, `conversation[0].audio`. */
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
