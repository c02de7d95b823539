import type { AudioQuality, GenParams } from "./requests.ts";

/** What a request was billed for. */
export interface Usage {
  readonly input_chars: number;
  readonly input_audio_seconds: number;
  readonly output_audio_seconds: number;
}

/** Diagnostics of a reply. Keys are added from time to time. */
export interface Meta extends Marks {
  readonly [key: string]: unknown;
}

/** Audio in a reply. */
export interface AudioPayload {
  /** Hz. */
  readonly sample_rate: number;
  readonly audio_quality: AudioQuality;
  /** Base64 of a complete WAV file. */
  readonly data_b64: string;
  readonly format: string;
}

/** What `tts` gives. */
export interface TtsReply {
  readonly request_id: string;
  readonly model: string;
  readonly text: string;
  readonly audio: AudioPayload;
  readonly usage: Usage;
  readonly meta?: Meta;
}

/** What `converse` gives. */
export interface ConverseReply {
  readonly request_id: string;
  readonly model: string;
  readonly reply: {
    readonly speaker: string;
    readonly text: string;
    readonly audio?: AudioPayload | null;
  };
  readonly usage: Usage;
  readonly meta?: Meta;
}

/** One public model. */
export interface ModelCard {
  readonly id: string;
  readonly display_name: string;
  readonly modes: readonly ("converse" | "tts")[];
  readonly speakers: readonly string[];
  readonly default: boolean;
  readonly description: string;
  readonly object: "model";
  /** Unix time in seconds. */
  readonly created: number;
  readonly owned_by: string;
}

/** One voice. */
export interface Voice {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** OpenAI's voice names that mean this one. */
  readonly aliases: readonly string[];
  /** `null`: not known. */
  readonly sex: "female" | "male" | null;
  /** What is spoken with it, such as `en-US`; `null`: not known. */
  readonly accent: string | null;
  /** The public models that speak with it. */
  readonly models: readonly string[];
  /** Those of them that mix it with others of their voices. */
  readonly mixes: readonly string[];
  readonly owner: "model" | "server" | "key";
  /** The address of a sample on the server: a `GET` with a key, which answers with an MP3. */
  readonly sample?: string;
  /** Of an own voice: Unix time in seconds, the length of its recording, and how closely it is followed. */
  readonly created_at?: number;
  readonly seconds?: number;
  readonly trust?: number;
  readonly cautions?: readonly string[];
}

/** What `createVoice` gives. */
export interface CreatedVoice {
  /** A value of `voice`. */
  readonly id: string;
  readonly object: "audio.voice";
  readonly type: "audio_sample";
  readonly name: string;
  readonly description: string;
  readonly created_at: number;
  readonly consent: string;
  /** What is said in the recording; `null`: not known. */
  readonly ref_text: string | null;
  /** Of the recording, as far as it is kept. */
  readonly seconds: number;
  /** 0 to 1: how closely the embedded voice follows it. */
  readonly trust: number;
  /** Why it is not followed more closely. */
  readonly cautions: readonly string[];
}

/** What `deleteVoice` gives. */
export interface DeletedVoice {
  readonly id: string;
  readonly object: "audio.voice.deleted";
  readonly name: string;
  readonly deleted: true;
}

/** What the server is, its defaults and its limits. */
export interface Info {
  readonly backend: {
    readonly [key: string]: unknown;
    readonly name: string;
    readonly kind: string;
    readonly sample_rate: number;
  };
  readonly defaults: GenParams;
  readonly limits: Readonly<Record<string, number>>;
  /** A description of each knob, for user interfaces. */
  readonly param_schema: readonly Readonly<Record<string, unknown>>[];
}

/** What the calling key has used in all. */
export interface UsageSummary extends Usage {
  readonly key_id: string;
  readonly requests: number;
  /** Unix time in seconds. */
  readonly last_request_ts: number | null;
}

/** What a transcription was billed for. */
export interface DurationUsage extends Usage {
  readonly type: "duration";
  readonly seconds: number;
}

/** What `transcribe` gives as `json`. */
export interface Transcription {
  readonly text: string;
  /** ISO 639-1; empty where it is not known. */
  readonly languages: readonly { readonly code: string }[];
  readonly usage: DurationUsage;
  /** How much was listened to, where that is less than all of it. */
  readonly heard_seconds?: number;
}

/** What `transcribe` gives as `verbose_json`. Times are in seconds. */
export interface VerboseTranscription extends Transcription {
  readonly task: "transcribe";
  readonly language: string;
  readonly duration: number;
  readonly segments?: readonly {
    readonly id: number;
    readonly seek: number;
    readonly start: number;
    readonly end: number;
    readonly text: string;
    readonly tokens: readonly number[];
    readonly temperature: number;
    readonly avg_logprob: number;
    readonly compression_ratio: number;
    readonly no_speech_prob: number;
  }[];
  readonly words?: readonly { readonly word: string; readonly start: number; readonly end: number }[];
}

/** What `transcribe` gives for each `response_format`. */
export interface Transcripts {
  readonly json: Transcription;
  readonly verbose_json: VerboseTranscription;
  readonly text: string;
  readonly srt: string;
  readonly vtt: string;
}

/** A word of a reply: when it is spoken, and where in the reply's text it stands. */
export interface Word {
  readonly word: string;
  /** Of a place that SSML gives a name, which is no word: `word` is empty then, and `length` is 0. */
  readonly mark?: string;
  /** Seconds from the reply's first sample. */
  readonly start: number;
  /** Seconds from the reply's first sample. */
  readonly end: number;
  /** Code points of the reply's text before the word. */
  readonly offset: number;
  /** Code points of the text that it stands for: `$5` is one word, though two are spoken. */
  readonly length: number;
}

/** One of Oculus's fifteen shapes of a mouth. */
export type VisemeName =
  | "sil"
  | "PP"
  | "FF"
  | "TH"
  | "DD"
  | "kk"
  | "CH"
  | "SS"
  | "nn"
  | "RR"
  | "aa"
  | "E"
  | "I"
  | "O"
  | "U";

/** The shape of the mouth, and from when to when, in seconds from the reply's first sample. */
export interface Viseme {
  readonly viseme: VisemeName;
  readonly start: number;
  readonly end: number;
}

/** What is said when, where the server tells: of a frame, what begins in it. */
export interface Marks {
  readonly words?: readonly Word[];
  /** Where the request asked for `visemes`. */
  readonly visemes?: readonly Viseme[];
  readonly phonemes?: readonly Phoneme[];
}

/** A phoneme in the voice's alphabet, and when it is heard, in seconds from the reply's first sample. */
export interface Phoneme {
  readonly phoneme: string;
  readonly start: number;
  readonly end: number;
}

/** First event of a stream. */
export interface MetaEvent {
  readonly request_id: string;
  readonly model: string;
  readonly speaker: string;
  /** Hz. */
  readonly sample_rate: number;
  readonly format: "pcm_s16le";
  /** Samples of a full frame; the last may be shorter. */
  readonly frame_samples: number;
}

/** One frame of audio. */
export interface AudioEvent extends Marks {
  /** Base64 of 16-bit little-endian samples, mono. */
  readonly pcm_b64: string;
  readonly sample_rate: number;
  /** Counts from 0. */
  readonly index: number;
}

/** Last event of a stream. */
export interface EndEvent {
  readonly text: string;
  readonly speaker: string;
  readonly audio_seconds: number;
  readonly usage: Usage;
  readonly meta: Meta;
}

/**
 * What a stream yields, in this order: `meta` once, `audio` for every frame, `end` once. A stream that fails throws
 * instead of ending. `pcm` is the frame's `pcm_b64`, decoded.
 */
export type StreamEvent =
  | { readonly event: "meta"; readonly data: MetaEvent }
  | { readonly event: "audio"; readonly data: AudioEvent; readonly pcm: Int16Array<ArrayBuffer> }
  | { readonly event: "end"; readonly data: EndEvent };
