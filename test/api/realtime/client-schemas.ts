import assert from "node:assert/strict";
import { Ajv, type ValidateFunction } from "ajv";
import Type, { type TSchema } from "typebox";

/**
 * The events that both strict clients take, @openai/agents-realtime 0.20.0 and pipecat-ai 1.14.0: the first drops any other
 * event silently, the second ends its session. Neither reads fields that are not listed.
 */
const optional = Type.Optional;
const oneOf = (...values: readonly string[]) => Type.Unsafe<string>({ type: "string", enum: values });
const orNull = (schema: TSchema) => optional(Type.Union([schema, Type.Null()]));
const text = Type.String();
/** Pipecat refuses fractions. */
const whole = Type.Integer();
const anything = Type.Unknown();
const anyObject = Type.Record(Type.String(), anything);

const format = Type.Union([
  Type.Object({ type: Type.Literal("audio/pcm"), rate: optional(Type.Literal(24_000)) }),
  Type.Object({ type: oneOf("audio/pcmu", "audio/pcma") }),
]);
const output = Type.Object({ format: orNull(format), voice: orNull(text), speed: orNull(Type.Number()) });

const answers = { create_response: orNull(Type.Boolean()), interrupt_response: orNull(Type.Boolean()) };
const session = Type.Object({
  type: Type.Literal("realtime"),
  object: optional(Type.Literal("realtime.session")),
  id: orNull(text),
  model: orNull(text),
  output_modalities: orNull(Type.Array(oneOf("text", "audio"))),
  instructions: orNull(text),
  audio: orNull(
    Type.Object({
      input: orNull(
        Type.Object({
          format: orNull(format),
          // Pipecat ends at any other field.
          transcription: orNull(
            Type.Object(
              { model: optional(text), language: orNull(text), prompt: orNull(text) },
              { additionalProperties: false },
            ),
          ),
          noise_reduction: orNull(Type.Object({ type: oneOf("near_field", "far_field") })),
          turn_detection: orNull(
            Type.Union([
              Type.Object({
                type: Type.Literal("server_vad"),
                threshold: orNull(Type.Number()),
                prefix_padding_ms: orNull(whole),
                silence_duration_ms: orNull(whole),
                ...answers,
              }),
              Type.Object({
                type: Type.Literal("semantic_vad"),
                eagerness: orNull(oneOf("low", "medium", "high", "auto")),
                ...answers,
              }),
            ]),
          ),
        }),
      ),
      output: orNull(output),
    }),
  ),
  tools: orNull(Type.Array(anyObject)),
  tool_choice: orNull(oneOf("auto", "none", "required")),
  max_output_tokens: orNull(Type.Union([whole, Type.Literal("inf")])),
  tracing: orNull(Type.Union([Type.Literal("auto"), anyObject])),
  prompt: orNull(anyObject),
  expires_at: orNull(whole),
  include: orNull(Type.Array(text)),
  reasoning: orNull(anyObject),
});

// The content parts depend on the role: agents-realtime throws at others.
const identity = {
  id: text,
  object: optional(Type.Literal("realtime.item")),
  status: optional(oneOf("completed", "in_progress", "incomplete")),
};
const message = (role: string, ...parts: readonly TSchema[]) =>
  Type.Object({
    ...identity,
    type: Type.Literal("message"),
    role: Type.Literal(role),
    content: Type.Array(Type.Union([...parts])),
  });
const written = (type: string) => Type.Object({ type: Type.Literal(type), text });
const item = Type.Union([
  message("system", written("input_text")),
  message(
    "user",
    written("input_text"),
    Type.Object({
      type: Type.Literal("input_audio"),
      audio: orNull(text),
      transcript: Type.Union([text, Type.Null()]),
    }),
  ),
  message(
    "assistant",
    written("output_text"),
    Type.Object({ type: Type.Literal("output_audio"), audio: orNull(text), transcript: orNull(text) }),
  ),
  Type.Object({
    ...identity,
    type: Type.Literal("function_call"),
    call_id: text,
    name: text,
    arguments: text,
  }),
  Type.Object({
    ...identity,
    type: Type.Literal("function_call_output"),
    call_id: text,
    output: orNull(text),
  }),
]);

const tokens = Type.Object({
  text_tokens: orNull(whole),
  audio_tokens: orNull(whole),
  image_tokens: orNull(whole),
  cached_tokens: orNull(whole),
  cached_tokens_details: orNull(Type.Object({ text_tokens: orNull(whole), audio_tokens: orNull(whole) })),
});
const response = Type.Object({
  // LiveKit asserts that it is there.
  id: text,
  object: optional(Type.Literal("realtime.response")),
  status: oneOf("completed", "in_progress", "incomplete", "cancelled", "failed"),
  status_details: orNull(anyObject),
  output: Type.Array(item),
  conversation_id: orNull(text),
  output_modalities: orNull(Type.Array(oneOf("text", "audio"))),
  max_output_tokens: orNull(Type.Union([whole, Type.Literal("inf")])),
  metadata: orNull(anyObject),
  audio: orNull(Type.Object({ output: orNull(output) })),
  usage: orNull(
    Type.Object({
      total_tokens: orNull(whole),
      input_tokens: optional(whole),
      output_tokens: optional(whole),
      input_token_details: orNull(tokens),
      output_token_details: orNull(tokens),
    }),
  ),
});

const place = { response_id: text, item_id: text, output_index: whole };
const at = { ...place, content_index: whole };
const inItem = { item_id: text, content_index: whole };
const added = { previous_item_id: orNull(text), item };
const outputItem = { response_id: text, output_index: whole, item };
const contentPart = Type.Object({
  type: oneOf("text", "audio"),
  text: optional(text),
  transcript: optional(text),
});
const transcribed = "conversation.item.input_audio_transcription";

const EVENTS: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  // Pipecat ends its session at all but two errors.
  error: {
    error: Type.Object({
      type: text,
      message: text,
      code: orNull(text),
      param: orNull(text),
      event_id: orNull(text),
    }),
  },
  "session.created": { session },
  "session.updated": { session },
  "conversation.created": {
    conversation: Type.Object({ id: text, object: Type.Literal("realtime.conversation") }),
  },
  "input_audio_buffer.speech_started": { audio_start_ms: whole, item_id: text },
  "input_audio_buffer.speech_stopped": { audio_end_ms: whole, item_id: text },
  "input_audio_buffer.committed": { item_id: text, previous_item_id: orNull(text) },
  "input_audio_buffer.cleared": {},
  "conversation.item.added": added,
  "conversation.item.done": added,
  "conversation.item.retrieved": { item },
  "conversation.item.truncated": { ...inItem, audio_end_ms: whole },
  "conversation.item.deleted": { item_id: text },
  [`${transcribed}.delta`]: { ...inItem, delta: text },
  [`${transcribed}.completed`]: {
    ...inItem,
    transcript: text,
    usage: optional(Type.Object({ type: Type.Literal("duration"), seconds: Type.Number() })),
  },
  [`${transcribed}.failed`]: {
    ...inItem,
    error: Type.Object({ type: text, message: text, code: optional(text), param: optional(text) }),
  },
  "response.created": { response },
  "response.done": { response },
  "response.output_item.added": outputItem,
  "response.output_item.done": outputItem,
  "response.content_part.added": { ...at, part: contentPart },
  "response.content_part.done": { ...at, part: contentPart },
  "response.output_text.delta": { ...at, delta: text },
  "response.output_text.done": { ...at, text },
  "response.output_audio_transcript.delta": { ...at, delta: text },
  "response.output_audio_transcript.done": { ...at, transcript: text },
  "response.output_audio.delta": { ...at, delta: text },
  "response.output_audio.done": at,
  "response.function_call_arguments.delta": { ...place, call_id: text, delta: text },
  "response.function_call_arguments.done": { ...place, call_id: text, arguments: text },
  "rate_limits.updated": { rate_limits: Type.Array(anyObject) },
};

/** Events that neither client reads. */
const UNREAD = new Set(["input_audio_buffer.timeout_triggered"]);

const ajv = new Ajv({ strict: false });
const validators = new Map<string, ValidateFunction>();

/** Returns why strict clients would refuse an event, or null. The `session` of a transcription session is not checked. */
export function faultForClients(event: { readonly type: string }): string | null {
  const { type } = event;
  if (UNREAD.has(type) || type.startsWith("antiphon.")) return null;
  const fields = EVENTS[type];
  if (fields === undefined) return "no client knows it";
  const { session: told } = event as { readonly session?: { readonly type?: string } };
  if (told?.type === "transcription") return null;
  const validate = validators.get(type) ?? ajv.compile(Type.Object({ event_id: optional(text), ...fields }));
  validators.set(type, validate);
  // Serialised, because undefined fields are not sent.
  if (validate(JSON.parse(JSON.stringify(event)))) return null;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ""} ${error?.message}`.trim();
}

export function assertKnownToClients(event: { readonly type: string }): void {
  const fault = faultForClients(event);
  assert.equal(fault, null, `${event.type}: ${fault} in ${JSON.stringify(event)?.slice(0, 500)}`);
}
