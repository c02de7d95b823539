/** Samples a second of all sound that is given out. */
export const SAMPLE_RATE = 24_000;

/** Settings as `docs/settings.md` lists them, nested as in a settings file: `{ dataDir: "…", models: { … } }`. */
export type OpenSettings = Readonly<Record<string, unknown>>;

/** A word as the text writes it, and when it is heard. */
export interface SpokenWord {
  readonly word: string;
  /** Seconds from the first sample. */
  readonly start: number;
  readonly end: number;
  /** Where it is written, in characters (code points) of the text that was spoken. */
  readonly offset: number;
  readonly length: number;
}

/** At most 80 ms of speech. */
export interface SpeechFrame {
  /** 1 to 1920 samples in [-1, 1], mono, 24 kHz. They are yours. */
  readonly samples: Float32Array;
  /** Seconds from the first sample of the speech. */
  readonly start: number;
  /** Those that begin in it. */
  readonly words: readonly SpokenWord[];
}

/** What there is to say of speech once it is over. */
export interface SpeechEnd {
  /** The words that were spoken; of a reply that was written, those. */
  readonly text: string;
  /** `length`: `params.max_new_tokens` cut it short. */
  readonly stop: "finished" | "length";
  /** Seconds. */
  readonly duration: number;
  /** As `meta` of `POST /v1/converse`; of a text of over 8,000 characters, that of its last part. */
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface SpeakOptions {
  /** A public model; the default one unless given. */
  readonly model?: string;
  /** How it is generated, as `params` of `POST /v1/tts`. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Ends it: the iterator then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface SayOptions extends SpeakOptions {
  /** Whose voice, as `voice` of `POST /v1/tts`: `0`, `nova`, a mix, a voice of the setting `voices`. */
  readonly voice?: string;
  /** How to say it, in English: `cheerful, a bit slower`. */
  readonly instructions?: string;
}

/** One turn of a conversation. */
export interface Turn {
  /** `0` or `1`; in turns unless given. */
  readonly speaker?: string;
  /** What is said. The last turn without it is written. */
  readonly text?: string;
  /** How it sounded: a WAV file. */
  readonly audio?: Uint8Array;
}

export interface ConverseOptions extends SpeakOptions {
  /** Whose voices speakers have, by their labels. */
  readonly voices?: Readonly<Record<string, string>>;
  /** What whoever writes the last turn is to keep to. */
  readonly instructions?: string;
}

/** Speech as it is made, a frame at a time; it is made no faster than it is taken. To be gone through once. */
export interface Speech extends AsyncIterable<SpeechFrame> {
  /** Resolves when all of it was taken; rejects as the iterator throws. Of speech that was left before, it rejects too. */
  readonly end: Promise<SpeechEnd>;
}

export interface TranscribeOptions {
  /** ISO 639-1 code of what is spoken; found out unless given. */
  readonly language?: string;
  /** Whether segments have the time of each word. */
  readonly words?: boolean;
  readonly signal?: AbortSignal;
}

/** What was heard. Times are in seconds from the recording's beginning. */
export interface Transcript {
  readonly text: string;
  /** ISO 639-1; `null` where it is unknown. */
  readonly language: string | null;
  readonly duration: number;
  readonly segments: readonly {
    readonly start: number;
    readonly end: number;
    readonly text: string;
    readonly words?: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  }[];
}

/** Antiphon in this process. */
export interface Antiphon {
  /** Speaks a text of any length. */
  say(text: string, options?: SayOptions): Speech;
  /** Speaks the last turn of a conversation, and writes it first where it has no text. */
  converse(conversation: readonly Turn[], options?: ConverseOptions): Speech;
  /** Says what is said in a recording: a file, or its bytes. WAV, MP3, FLAC, or Opus in Ogg or WebM. */
  transcribe(recording: string | Uint8Array, options?: TranscribeOptions): Promise<Transcript>;
  /** The phonemes of a text as the embedded voice reads it, a string a sentence. */
  phonemes(text: string): Promise<string[]>;
  /** Ends what is being spoken, and frees everything. Calling it again is harmless. */
  close(): Promise<void>;
}

/** What went wrong, in a sentence that says what to do. */
export class AntiphonError extends Error {
  override readonly name: string = "AntiphonError";
  /** The `type` of the HTTP errors, such as `invalid_request_error`; `closed` after `close()`. */
  readonly code: string;
  /** What is wrong, where it is one thing: `voice`, `conversation[0].audio`. */
  readonly field: string | null;

  constructor(message: string, code: string, field: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.field = field;
  }
}
