import type { AudioQuality, GenParams } from "./requests.ts";

/** Billed usage of a request. */
export interface Usage {
  readonly input_chars: number;
  readonly input_audio_seconds: number;
  readonly output_audio_seconds: number;
}

/** Diagnostics of a reply. Keys may be added. */
export interface Meta extends Marks {
  readonly [key: string]: unknown;
}

export interface AudioPayload {
  /** Hz. */
  readonly sample_rate: number;
  readonly audio_quality: AudioQuality;
  /** Base64 of a complete WAV file. */
  readonly data_b64: string;
  readonly format: string;
}

export interface TtsReply {
  readonly request_id: string;
  readonly model: string;
  readonly text: string;
  readonly audio: AudioPayload;
  readonly usage: Usage;
  readonly meta?: Meta;
}

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

export interface Voice {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** OpenAI's names for this voice. */
  readonly aliases: readonly string[];
  /** `null`: unknown. */
  readonly sex: "female" | "male" | null;
  /** BCP 47 tag such as `en-US`; `null`: unknown. */
  readonly language: string | null;
  /** Same as `language`. */
  readonly accent: string | null;
  /** Public models that speak with it. */
  readonly models: readonly string[];
  /** Ids of the models among `models` that can mix this voice with others. */
  readonly mixes: readonly string[];
  readonly owner: "model" | "server" | "key";
  /** Path of an MP3 sample on the server, which needs a key. */
  readonly sample?: string;
  /** Custom voices only: creation (Unix seconds), seconds of the recording, how closely it is followed (0 to 1). */
  readonly created_at?: number;
  readonly seconds?: number;
  readonly trust?: number;
  readonly cautions?: readonly string[];
}

export interface CreatedVoice {
  /** A value of `voice`. */
  readonly id: string;
  readonly object: "audio.voice";
  readonly type: "audio_sample";
  readonly name: string;
  readonly description: string;
  readonly created_at: number;
  readonly consent: string;
  /** Transcript of the recording; `null`: unknown. */
  readonly ref_text: string | null;
  /** Seconds of the recording that are kept. */
  readonly seconds: number;
  /** 0 to 1: how closely the embedded voice follows it. */
  readonly trust: number;
  /** Reasons that limit `trust`. */
  readonly cautions: readonly string[];
}

export interface DeletedVoice {
  readonly id: string;
  readonly object: "audio.voice.deleted";
  readonly name: string;
  readonly deleted: true;
}

/** Description, defaults and limits of the server. */
export interface Info {
  readonly backend: {
    readonly [key: string]: unknown;
    readonly name: string;
    readonly kind: string;
    readonly sample_rate: number;
  };
  readonly defaults: GenParams;
  readonly limits: Readonly<Record<string, number>>;
  /** A description of each parameter, for user interfaces. */
  readonly param_schema: readonly Readonly<Record<string, unknown>>[];
}

/** Total usage of the calling key. */
export interface UsageSummary extends Usage {
  readonly key_id: string;
  readonly requests: number;
  /** Unix time in seconds. */
  readonly last_request_ts: number | null;
}

/** Billed usage of a transcription. */
export interface DurationUsage extends Usage {
  readonly type: "duration";
  readonly seconds: number;
}

/** Answer of `transcribe` as `json`. */
export interface Transcription {
  readonly text: string;
  /** ISO 639-1; empty if unknown. */
  readonly languages: readonly { readonly code: string }[];
  readonly usage: DurationUsage;
  /** Seconds transcribed, if less than all. */
  readonly heard_seconds?: number;
}

/** Answer of `transcribe` as `verbose_json`. Times are in seconds. */
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

/** Answer of `transcribe` per `response_format`. */
export interface Transcripts {
  readonly json: Transcription;
  readonly verbose_json: VerboseTranscription;
  readonly text: string;
  readonly srt: string;
  readonly vtt: string;
}

/** A word of a reply, with its time and its place in the text. */
export interface Word {
  readonly word: string;
  /** Name of an SSML mark. Then `word` is empty and `length` is 0. */
  readonly mark?: string;
  /** Seconds from the reply's first sample. */
  readonly start: number;
  /** Seconds from the reply's first sample. */
  readonly end: number;
  /** Code points of the reply's text before the word. */
  readonly offset: number;
  /** Code points that it stands for: `$5` is one word, though two are spoken. */
  readonly length: number;
  /** In a dialogue: the speaker's name, and the number of the line, from 0. */
  readonly speaker?: string;
  readonly line?: number;
}

/** One of Oculus's fifteen mouth shapes. */
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

/** A mouth shape, in seconds from the reply's first sample. */
export interface Viseme {
  readonly viseme: VisemeName;
  readonly start: number;
  readonly end: number;
}

/** Timed words and sounds, where the server sends them. A frame has those that begin in it. */
export interface Marks {
  readonly words?: readonly Word[];
  /** Only if the request asked for `visemes`. */
  readonly visemes?: readonly Viseme[];
  readonly phonemes?: readonly Phoneme[];
}

/** A phoneme of the voice's alphabet, in seconds from the reply's first sample. */
export interface Phoneme {
  readonly phoneme: string;
  readonly start: number;
  readonly end: number;
}

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

export interface AudioEvent extends Marks {
  /** Base64 of 16-bit little-endian mono samples. */
  readonly pcm_b64: string;
  readonly sample_rate: number;
  /** Counts from 0. */
  readonly index: number;
}

export interface EndEvent {
  readonly text: string;
  readonly speaker: string;
  readonly audio_seconds: number;
  readonly usage: Usage;
  readonly meta: Meta;
}

/**
 * Events of a stream, in this order: `meta` once, `audio` per frame, `end` once. A stream that fails throws instead
 * of ending. `pcm` is the decoded `pcm_b64`.
 */
export type StreamEvent =
  | { readonly event: "meta"; readonly data: MetaEvent }
  | { readonly event: "audio"; readonly data: AudioEvent; readonly pcm: Int16Array<ArrayBuffer> }
  | { readonly event: "end"; readonly data: EndEvent };

/** Events of a dialogue, in this order: the first once, deltas, the last once. */
export type DialogueEvent =
  | {
      readonly type: "dialogue.started";
      readonly speakers: readonly {
        readonly name: string;
        readonly voice: string;
        readonly is_chosen: boolean;
      }[];
      /** Places of the lines in the script, in code points. `scene`: the heading, if the line begins a scene. */
      readonly lines: readonly {
        readonly speaker: string;
        readonly offset: number;
        readonly length: number;
        readonly scene: string | null;
      }[];
    }
  /** Joined, the base64 of all `audio` is the file. */
  | ({ readonly type: "speech.audio.delta"; readonly audio: string } & Marks)
  | ({
      readonly type: "speech.audio.done";
      readonly stop: "finished" | "length";
      readonly usage: Usage;
    } & Marks);
