import Type, { type Static, type TSchema } from "typebox";
import { ERROR_TYPES, type ServiceError } from "./errors.ts";
import { GenParams, QualityTier } from "./params.ts";
import { marks, ReplyMeta } from "./spoken.ts";
import { nullable, stringEnum } from "./string-enum.ts";

export const AudioPayload = Type.Object(
  {
    sample_rate: Type.Integer({ description: "Hz." }),
    audio_quality: QualityTier,
    data_b64: Type.String({
      description: "Base64 of a complete 16-bit PCM mono WAV file.",
      contentEncoding: "base64",
      contentMediaType: "audio/wav",
    }),
    format: Type.String({ default: "wav" }),
  },
  { title: "AudioPayload" },
);
export type AudioPayload = Static<typeof AudioPayload>;

export const Usage = Type.Object(
  {
    input_chars: Type.Integer({ description: "Code points of input text." }),
    input_audio_seconds: Type.Number(),
    output_audio_seconds: Type.Number(),
  },
  { title: "Usage" },
);
export type Usage = Static<typeof Usage>;

/** Reply of `POST /v1/tts`. */
export const TtsResponse = Type.Object(
  {
    request_id: Type.String(),
    model: Type.String({ description: "The resolved public id." }),
    text: Type.String({ description: "The spoken text." }),
    audio: AudioPayload,
    usage: Usage,
    meta: Type.Optional(ReplyMeta),
  },
  { title: "TtsResponse" },
);
export type TtsResponse = Static<typeof TtsResponse>;

/** Reply of `POST /v1/converse`. */
export const ConverseResponse = Type.Object(
  {
    request_id: Type.String(),
    model: Type.String({ description: "The resolved public id." }),
    reply: Type.Object(
      { speaker: Type.String(), text: Type.String(), audio: orNull(AudioPayload) },
      { title: "ConverseReply" },
    ),
    usage: Usage,
    meta: Type.Optional(ReplyMeta),
  },
  { title: "ConverseResponse" },
);
export type ConverseResponse = Static<typeof ConverseResponse>;

export const ModelEntry = Type.Object(
  {
    id: Type.String(),
    display_name: Type.String(),
    modes: Type.Array(stringEnum(["converse", "tts"])),
    speakers: Type.Array(Type.String(), { description: "Valid role labels, in turn order." }),
    default: Type.Boolean({ description: "True for the model used when `model` is omitted." }),
    description: Type.String(),
    object: stringEnum(["model"]),
    created: Type.Integer({ description: "Unix time, in seconds." }),
    owned_by: Type.String(),
  },
  { title: "ModelCard" },
);
export type ModelEntry = Static<typeof ModelEntry>;

/** Reply of `GET /v1/models`. */
export const ModelList = Type.Object(
  { object: stringEnum(["list"]), data: Type.Array(ModelEntry) },
  { title: "ModelList" },
);
export type ModelList = Static<typeof ModelList>;

/** Reply of `GET /v1/audio/models`. */
export const AudioModelList = Type.Object(
  {
    ...ModelList.properties,
    models: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
      description: "The same list, in the form that clients with a model menu expect.",
    }),
  },
  { title: "AudioModelList" },
);
export type AudioModelList = Static<typeof AudioModelList>;

/** Reply of `GET /v1/info`. */
export const Info = Type.Object(
  {
    backend: Type.Object(
      { name: Type.String(), kind: Type.String(), sample_rate: Type.Integer() },
      { additionalProperties: true },
    ),
    defaults: GenParams,
    limits: Type.Record(Type.String(), Type.Number()),
    param_schema: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: "Info" },
);

/** Reply of `GET /v1/usage`: running totals of the calling key. */
export const UsageSummary = Type.Object(
  {
    key_id: Type.String({ description: "Non-secret label of the key." }),
    requests: Type.Integer(),
    input_chars: Type.Integer(),
    input_audio_seconds: Type.Number(),
    output_audio_seconds: Type.Number(),
    last_request_ts: nullable("number", {
      description: "Unix time of the newest metered request, in seconds.",
    }),
  },
  { title: "UsageSummary" },
);
export type UsageSummary = Static<typeof UsageSummary>;

/** Reply of `GET /health`. */
export const Health = Type.Object(
  { backend: Type.String(), ready: Type.Boolean(), status: Type.String({ default: "ok" }) },
  { title: "Health" },
);
export type Health = Static<typeof Health>;

/** An error in an envelope or a stream's `error` event. */
export const ErrorBody = Type.Object(
  {
    type: Type.String({
      enum: [...new Set(Object.values(ERROR_TYPES))],
      description: "Stable, machine-readable.",
    }),
    message: Type.String({ description: "Human-readable: what was wrong, where, and what to do." }),
    request_id: nullable("string", { description: "The same as in the header `X-Request-ID`." }),
    code: Type.Optional(
      nullable("string", {
        description: "Only on paths of OpenAI's API: its error code, if it has one for this failure.",
      }),
    ),
    param: Type.Optional(
      nullable("string", { description: "Only on those paths: the invalid field, if there is one." }),
    ),
  },
  { title: "ErrorBody" },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** Body of every 4xx and 5xx response. */
export const ErrorEnvelope = Type.Object({ error: ErrorBody }, { title: "ErrorEnvelope" });
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

function orNull<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Returns the envelope of an error (specification, section 7). */
export function envelope(error: ServiceError, requestId: string | null): ErrorEnvelope {
  return { error: { type: error.type, message: error.message, request_id: requestId } };
}

/** Returns an error as OpenAI's clients expect it, with `code` and `param`. */
export function openAiError(error: ServiceError, requestId: string): ErrorBody {
  return { ...envelope(error, requestId).error, code: codeOf(error), param: error.param };
}

function codeOf({ status, param }: ServiceError): string | null {
  if (status === 401) return "invalid_api_key";
  if (status === 429) return "rate_limit_exceeded";
  return param === "model" && (status === 400 || status === 404) ? "model_not_found" : null;
}

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

/** One frame of audio, and the timings that begin in it. */
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

/** Events of `POST /v1/converse/stream` by name. */
export type StreamEvent =
  | { readonly event: "meta"; readonly data: MetaEvent }
  | { readonly event: "audio"; readonly data: AudioEvent }
  | { readonly event: "end"; readonly data: EndEvent }
  | { readonly event: "error"; readonly data: ErrorEvent };
