import Type, { type Static } from "typebox";
import { ErrorBody, Usage } from "./replies.ts";
import { marks, ReplyMeta } from "./spoken.ts";

/** First event of a stream, exactly once. */
export const MetaEvent = Type.Object(
  {
    request_id: Type.String(),
    model: Type.String(),
    speaker: Type.String(),
    sample_rate: Type.Integer(),
    format: Type.Literal("pcm_s16le"),
    frame_samples: Type.Integer({ description: "Samples in a full frame; the last may be shorter." }),
  },
  { title: "MetaEvent" },
);
export type MetaEvent = Static<typeof MetaEvent>;

/** One frame of audio, and the marks that begin in it. */
export const AudioEvent = Type.Object(
  {
    pcm_b64: Type.String({
      description: "Base64 of raw 16-bit little-endian PCM, mono, no header.",
      contentEncoding: "base64",
    }),
    sample_rate: Type.Integer(),
    index: Type.Integer({ description: "Counts from 0." }),
    ...marks,
  },
  { title: "AudioEvent" },
);
export type AudioEvent = Static<typeof AudioEvent>;

/** Last event of a stream that succeeded. */
export const EndEvent = Type.Object(
  {
    text: Type.String(),
    speaker: Type.String(),
    audio_seconds: Type.Number(),
    usage: Usage,
    meta: ReplyMeta,
  },
  { title: "EndEvent" },
);
export type EndEvent = Static<typeof EndEvent>;

/** Last event of a stream that failed after it had begun. */
export const ErrorEvent = Type.Object(ErrorBody.properties, { title: "ErrorEvent" });
export type ErrorEvent = Static<typeof ErrorEvent>;

/** Every event of `POST /v1/converse/stream` by its `event:` name. */
export type StreamEvent =
  | { readonly event: "meta"; readonly data: MetaEvent }
  | { readonly event: "audio"; readonly data: AudioEvent }
  | { readonly event: "end"; readonly data: EndEvent }
  | { readonly event: "error"; readonly data: ErrorEvent };
