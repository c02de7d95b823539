/** Tier that audio is rendered at. The format on the wire is the same at all three. */
export type AudioQuality = "low" | "medium" | "high";

/** The generation knobs; the server fills in what is left out. */
export interface GenParams {
  /** 0 to 1.5; 0 gives the same bytes for the same request. Default 0.7. */
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

/** How words are said in one request: words to read in their place, or phonemes between slashes. */
export type Lexicon = Readonly<Record<string, string>>;

/**
 * Whose voice: an id, name or alias from `voices`, or a mix such as `nova(2)+onyx(1)` where the model mixes; or such as the
 * `id` of an object.
 */
export type NamedVoice = string | { readonly id: string };

/** What `tts` takes. */
export interface TtsRequest {
  /** 1 to 8000 characters. */
  readonly text: string;
  /** One of the model's `speakers`. Default `"0"`. */
  readonly speaker?: string;
  readonly voice?: NamedVoice;
  /** A public model id; null or absent is the default model. */
  readonly model?: string | null;
  readonly params?: GenParams;
  readonly lexicon?: Lexicon;
  /** How the text to speak is written; absent, `ssml` where it begins with `<speak>`, else `text`. */
  readonly input_type?: "text" | "ssml";
  /** Whether the reply tells of `visemes` and `phonemes` beside the words. */
  readonly visemes?: boolean;
}

/** One turn of a conversation. The last is the open one: without `text`, it is written for you. */
export interface ConversationTurn {
  /** One of the model's `speakers`. Default `"0"`. */
  readonly speaker?: string;
  /** At most 8000 characters. */
  readonly text?: string | null;
  /** How an earlier turn sounded: base64 of a WAV file, at most 25 MiB decoded. */
  readonly audio_wav_b64?: string | null;
}

/** What `converse` and `stream` take. */
export interface ConverseRequest {
  /** 1 to 64 turns, oldest first. */
  readonly conversation: readonly ConversationTurn[];
  /** Whose voices speakers have, by their labels, each as `voice` in `tts`. */
  readonly voices?: Readonly<Record<string, NamedVoice>>;
  readonly model?: string | null;
  readonly params?: GenParams;
  readonly lexicon?: Lexicon;
  /** How the text to speak is written; absent, `ssml` where it begins with `<speak>`, else `text`. */
  readonly input_type?: "text" | "ssml";
  /** Whether the reply tells of `visemes` and `phonemes` beside the words. */
  readonly visemes?: boolean;
  /** What the writer of the last turn keeps to. At most 2000 characters. */
  readonly instructions?: string;
}

/** What `speech` takes: the fields of OpenAI's API. */
export interface SpeechRequest {
  /** A public model id; absent, or `tts-1`, is the default model. */
  readonly model?: string;
  /** 1 to 4096 characters. */
  readonly input: string;
  /** As in `tts`. Default `"0"`. */
  readonly voice?: NamedVoice;
  /** What the audio comes as: `mp3` unless told, `opus`, `flac`, `wav`, `pcm`, `mulaw` or `alaw`. */
  readonly response_format?: string;
  readonly speed?: number;
  readonly lexicon?: Lexicon;
  /** How the text to speak is written; absent, `ssml` where it begins with `<speak>`, else `text`. */
  readonly input_type?: "text" | "ssml";
  /** Whether the reply tells of `visemes` and `phonemes` beside the words. */
  readonly visemes?: boolean;
}

/** What `createVoice` takes. */
export interface NewVoice {
  /** 1 to 64 characters, unique among the voices of the key. */
  readonly name: string;
  /** One person speaking, best for 5 to 12 s, in any format that `transcribe` takes. At most 25 MiB; 30 s are kept. */
  readonly audio_sample: Blob | Uint8Array<ArrayBuffer>;
  /** A statement that the speaker agrees, which is kept. */
  readonly consent: string;
  /** All that is said in it. Absent: it is transcribed, if there is a recogniser. */
  readonly ref_text?: string;
  readonly description?: string;
}

/** What a transcript may be asked for as. */
export type TranscriptFormat = "json" | "text" | "srt" | "verbose_json" | "vtt";

/** What `transcribe` takes. */
export interface TranscriptionRequest<F extends TranscriptFormat = TranscriptFormat> {
  /** The recording: WAV, MP3, FLAC, or Opus in Ogg or WebM. At most 25 MiB and 25 minutes. */
  readonly file: Blob | Uint8Array<ArrayBuffer>;
  /** Default `whisper-1`, which is the recogniser there is. */
  readonly model?: string;
  /** ISO 639-1. Absent: found out. */
  readonly language?: string;
  /** Words that may be said, or what was said before. */
  readonly prompt?: string;
  /** Default `json`. */
  readonly response_format?: F;
  /** Times of what, with `verbose_json`. */
  readonly timestamp_granularities?: readonly ("segment" | "word")[];
}
