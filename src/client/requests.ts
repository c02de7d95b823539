/** Rendering quality. The audio format is the same for all three. */
export type AudioQuality = "low" | "medium" | "high";

/** Generation parameters. The server fills in defaults. */
export interface GenParams {
  /** 0 to 1.5; 0 makes replies reproducible. Default 0.7. */
  readonly temperature?: number;
  /** 0 to 1.5; null follows `temperature`. */
  readonly acoustic_temperature?: number | null;
  /** At least 1; null is all tokens. */
  readonly top_k?: number | null;
  /** 0 to 6; 0 is off. Default 3. */
  readonly repetition_penalty?: number;
  /** 1 to 80 frames. Default 20. */
  readonly penalty_window?: number;
  /** 16 to 2048 frames of 80 ms. Default 512, some 40 s. */
  readonly max_new_tokens?: number;
  readonly audio_quality?: AudioQuality;
}

/** Pronunciations for one request: replacement words, or phonemes between slashes. */
export type Lexicon = Readonly<Record<string, string>>;

/**
 * A voice: a name such as `maya`, an id or an alias from `voices`, the `id` of an object, or a mix such as
 * `nova(2)+onyx(1)` where the model mixes.
 */
export type NamedVoice = string | { readonly id: string };

/** Options shared by the requests for speech. */
interface SpeechOptions {
  readonly lexicon?: Lexicon;
  /** Language to speak: a tag such as `es`, or an English name. Default: the voice's. */
  readonly language?: string | null;
  /** Format of the text. Default: `ssml` if it begins with `<speak>`, otherwise `text`. */
  readonly input_type?: "text" | "ssml";
  /** Whether the reply includes `visemes` and `phonemes` in addition to words. */
  readonly visemes?: boolean;
}

export interface TtsRequest extends SpeechOptions {
  /** 1 to 8000 characters. */
  readonly text: string;
  /** One of the model's `speakers`. Default `"0"`. */
  readonly speaker?: string;
  readonly voice?: NamedVoice;
  /** A public model id; null or absent is the default model. */
  readonly model?: string | null;
  readonly params?: GenParams;
}

/** One turn of a conversation. The last turn is spoken; without `text`, the server writes it. */
export interface ConversationTurn {
  /** One of the model's `speakers`, or a name in `voices`. Default `"0"`. */
  readonly speaker?: string;
  /** At most 8000 characters. */
  readonly text?: string | null;
  /** Audio of an earlier turn: base64 of a WAV file, at most 25 MiB decoded. */
  readonly audio_wav_b64?: string | null;
}

export interface ConverseRequest extends SpeechOptions {
  /** 1 to 64 turns, oldest first. */
  readonly conversation: readonly ConversationTurn[];
  /** Voices of the speakers by their labels, which may then be names, each as `voice` in `tts`. */
  readonly voices?: Readonly<Record<string, NamedVoice>>;
  readonly model?: string | null;
  readonly params?: GenParams;
  /** Instructions for the writer of the last turn. At most 2000 characters. */
  readonly instructions?: string;
}

/** Request of `speech`, with the fields of OpenAI's API. */
export interface SpeechRequest extends SpeechOptions {
  /** A public model id; absent, or `tts-1`, is the default model. */
  readonly model?: string;
  /** 1 to 100,000 characters; 4,096 for a whole `wav` or `flac`. */
  readonly input: string;
  /** As in `tts`. Default `"0"`. */
  readonly voice?: NamedVoice;
  /** `mp3` (default), `opus`, `flac`, `wav`, `pcm`, `mulaw` or `alaw`. */
  readonly response_format?: string;
  readonly speed?: number;
  /** Integrated loudness in LUFS, -30 to -10, such as -16. Default: the voice's own. */
  readonly loudness?: number;
}

/** Request of `dialogue`: a script of lines `Name: words`, or lines. */
export interface DialogueRequest extends Omit<SpeechOptions, "input_type"> {
  readonly script?: string;
  readonly lines?: readonly {
    /** A voice, or a name in `voices`. */
    readonly voice: string;
    readonly text: string;
    readonly instructions?: string;
  }[];
  /** Voices of speakers by their names. Others get voices of their own. */
  readonly voices?: Readonly<Record<string, NamedVoice>>;
  /** Seconds between two speakers. Default: 0.1 to 1.2, by what is said. */
  readonly gap?: number;
  readonly model?: string;
  readonly response_format?: SpeechRequest["response_format"];
  readonly speed?: number;
  readonly loudness?: SpeechRequest["loudness"];
  readonly params?: GenParams;
}

export interface NewVoice {
  /** 1 to 64 characters, unique among the key's voices. */
  readonly name: string;
  /**
   * One person speaking, ideally 5 to 12 s, in any format that `transcribe` accepts. At most 25 MiB; 30 s are kept.
   */
  readonly audio_sample: Blob | Uint8Array<ArrayBuffer>;
  /** The speaker's statement of consent, which is kept. */
  readonly consent: string;
  /** Transcript of the recording. Default: it is transcribed, if there is a recogniser. */
  readonly ref_text?: string;
  readonly description?: string;
}

export type TranscriptFormat = "json" | "text" | "srt" | "verbose_json" | "vtt";

export interface TranscriptionRequest<F extends TranscriptFormat = TranscriptFormat> {
  /** The recording: WAV, MP3, FLAC, or Opus in Ogg or WebM. At most 25 MiB and 25 minutes. */
  readonly file: Blob | Uint8Array<ArrayBuffer>;
  /** Default `whisper-1`, the installed recogniser. */
  readonly model?: string;
  /** ISO 639-1. Default: detected. */
  readonly language?: string;
  /** Words that may occur, or the preceding text. */
  readonly prompt?: string;
  /** Default `json`. */
  readonly response_format?: F;
  /** Times to return with `verbose_json`. */
  readonly timestamp_granularities?: readonly ("segment" | "word")[];
}
