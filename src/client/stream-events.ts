import type { Marks, Meta, Usage } from "./replies.ts";

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
