import Type, { type Static } from "typebox";
import type { JsonText } from "../json/read-json.ts";
import { LanguageOption } from "../requests.ts";
import { nullable, stringEnum } from "../string-enum.ts";
import { NamedVoice } from "../voices.ts";

/** Audio format: 24 kHz, 16-bit, little-endian; or G.711 at 8 kHz. All mono. */
export const RealtimeFormat = Type.Union(
  [
    Type.Object({ type: Type.Literal("audio/pcm"), rate: Type.Optional(Type.Literal(24_000)) }),
    Type.Object({ type: Type.Literal("audio/pcmu") }),
    Type.Object({ type: Type.Literal("audio/pcma") }),
  ],
  { title: "RealtimeFormat" },
);
export type RealtimeFormat = Static<typeof RealtimeFormat>;

const answers = {
  create_response: Type.Optional(
    Type.Boolean({ default: true, description: "Whether a turn that has ended is answered by itself." }),
  ),
  interrupt_response: Type.Optional(
    Type.Boolean({
      default: true,
      description: "Whether speech ends a reply that is being spoken or played.",
    }),
  ),
  antiphon_min_interruption_words: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 20,
      default: 0,
      description:
        "Words that the recogniser must have heard before speech ends a reply, which goes on meanwhile: a cough or `mhm` ends none then. Not echoed.",
    }),
  ),
};

const milliseconds = (maximum: number, more: { readonly default?: number; readonly description: string }) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum, ...more }));

export const ServerVad = Type.Object({
  type: Type.Literal("server_vad"),
  threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 0.5 })),
  prefix_padding_ms: milliseconds(5_000, {
    default: 300,
    description: "Sound before a turn's beginning that belongs to it.",
  }),
  silence_duration_ms: milliseconds(10_000, { default: 500, description: "Silence that ends a turn." }),
  idle_timeout_ms: Type.Optional(
    nullable("integer", {
      minimum: 1_000,
      maximum: 120_000,
      description: "After a reply was played, silence for this long is answered, too.",
    }),
  ),
  ...answers,
});
export type ServerVad = Static<typeof ServerVad>;

/** Ends a turn when it sounds finished, or after a longer silence. */
export const SemanticVad = Type.Object({
  type: Type.Literal("semantic_vad"),
  eagerness: Type.Optional(
    stringEnum(["low", "medium", "high", "auto"], {
      default: "auto",
      description: "Longest silence within a turn: 8, 4 or 2 s; `auto` is `medium`.",
    }),
  ),
  ...answers,
});
export type SemanticVad = Static<typeof SemanticVad>;

export const TurnDetection = Type.Union([ServerVad, SemanticVad]);
export type TurnDetection = Static<typeof TurnDetection>;

const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S, description?: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], description === undefined ? {} : { description }));

export const InputTranscription = Type.Object({
  model: Type.Optional(Type.String({ maxLength: 200 })),
  language: Type.Optional(Type.String({ maxLength: 20 })),
  prompt: Type.Optional(Type.String({ maxLength: 2_000 })),
});
export type InputTranscription = Static<typeof InputTranscription>;

export const FunctionName = Type.String({ minLength: 1, maxLength: 64, pattern: "^[a-zA-Z0-9_-]+$" });

/** Maximum characters of instructions: OpenAI's limit, some 16,000 tokens. */
export const MAX_SESSION_INSTRUCTIONS_CHARS = 65_536;

/** Maximum characters of the JSON of all functions together. */
export const MAX_TOOLS_CHARS = 100_000;

export const FunctionTool = Type.Object({
  type: Type.Literal("function"),
  name: FunctionName,
  description: Type.Optional(Type.String({ maxLength: 8_000 })),
  // An escaped character takes six bytes.
  parameters: Type.Optional(Type.Unsafe<JsonText>({ type: "object", maxTextBytes: 6 * MAX_TOOLS_CHARS })),
});
export type FunctionTool = Static<typeof FunctionTool>;

/** A field of the beta protocol. Refused: a client whose format was ignored would play noise. */
export const moved = (successor: string) =>
  Type.Optional(
    Type.Unsafe<undefined>({ not: {}, movedTo: successor, description: `Refused: send \`${successor}\`.` }),
  );

/** Members of `session.update`; absent ones stay as they are. Others are ignored. */
export const SessionUpdate = Type.Object(
  {
    modalities: moved("output_modalities"),
    voice: moved("audio.output.voice"),
    speed: moved("audio.output.speed"),
    input_audio_format: moved("audio.input.format"),
    output_audio_format: moved("audio.output.format"),
    input_audio_transcription: moved("audio.input.transcription"),
    input_audio_noise_reduction: moved("audio.input.noise_reduction"),
    turn_detection: moved("audio.input.turn_detection"),
    max_response_output_tokens: moved("max_output_tokens"),
    type: Type.Optional(stringEnum(["realtime", "transcription"])),
    model: Type.Optional(Type.String({ maxLength: 200 })),
    instructions: Type.Optional(nullable("string", { maxLength: MAX_SESSION_INSTRUCTIONS_CHARS })),
    output_modalities: Type.Optional(
      Type.Array(stringEnum(["audio", "text"]), {
        minItems: 1,
        maxItems: 2,
      }),
    ),
    audio: Type.Optional(
      Type.Object({
        input: Type.Optional(
          Type.Object({
            format: Type.Optional(RealtimeFormat),
            transcription: orNull(InputTranscription),
            turn_detection: orNull(
              TurnDetection,
              "`null`: the client commits its turns. Of sound that is not committed the newest two minutes are kept; " +
                "older sound is in no turn and not metered.",
            ),
            noise_reduction: Type.Optional(Type.Unknown()),
          }),
        ),
        output: Type.Optional(
          Type.Object({
            format: Type.Optional(RealtimeFormat),
            voice: Type.Optional(NamedVoice),
            language: Type.Optional(LanguageOption),
            speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 1.5 })),
          }),
        ),
      }),
    ),
    tools: Type.Optional(Type.Union([Type.Array(FunctionTool, { maxItems: 128 }), Type.Null()])),
    tool_choice: Type.Optional(
      Type.Unsafe<string | null | { type: string; name?: string; function?: { name: string } }>({
        type: ["string", "object", "null"],
        properties: { type: {}, name: {}, function: { properties: { name: {} } } },
        description: "`auto`, `none`, `required`, or the function that is to be called.",
      }),
    ),
    max_output_tokens: Type.Optional(
      Type.Unsafe<number | "inf">({
        type: ["integer", "string"],
        minimum: 1,
        maximum: 4_096,
        pattern: "^inf$",
      }),
    ),
  },
  { title: "SessionUpdate" },
);
export type SessionUpdate = Static<typeof SessionUpdate>;

/** Seconds for which a client secret is valid. */
export const SECRET_S = { minimum: 10, maximum: 7_200, default: 600 } as const;

/** Body of `POST /v1/realtime/client_secrets`. */
export const ClientSecretRequest = Type.Object(
  {
    expires_after: Type.Optional(
      Type.Object({
        anchor: Type.Optional(Type.Literal("created_at")),
        seconds: Type.Optional(
          Type.Integer({ ...SECRET_S, description: "How long the secret opens sessions." }),
        ),
      }),
    ),
    session: Type.Optional(SessionUpdate),
  },
  { title: "ClientSecretRequest" },
);
export type ClientSecretRequest = Static<typeof ClientSecretRequest>;

/** Reply of `POST /v1/realtime/client_secrets`. */
export const ClientSecretReply = Type.Object(
  {
    value: Type.String({ description: "The secret: it opens sessions in place of a key." }),
    expires_at: Type.Integer({ description: "Unix time, in seconds." }),
    session: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "What a session that it opens has.",
    }),
  },
  { title: "ClientSecretReply" },
);
