import Type, { type Static, type TSchema } from "typebox";
import { FunctionName, SessionUpdate } from "./session.ts";

const id = Type.String({ minLength: 1, maxLength: 128 });
const eventId = { event_id: Type.Optional(Type.String({ maxLength: 512 })) };
const text = Type.String({ maxLength: 100_000 });
const status = Type.Optional(
  Type.Unsafe<"completed" | "incomplete" | "in_progress">({
    type: "string",
    enum: ["completed", "incomplete", "in_progress"],
  }),
);
const identity = { id: Type.Optional(id), status };

/** One of several shapes, told by its `type`: what is wrong is said of the shape that was meant. */
function byType<const S extends readonly TSchema[]>(...oneOf: S) {
  return Type.Unsafe<Static<S[number]>>({
    type: "object",
    required: ["type"],
    discriminator: { propertyName: "type" },
    oneOf,
  });
}

/** Part of a message. Sound of earlier turns is not kept: its transcript is what counts. */
export const ContentPart = byType(
  Type.Object({
    type: Type.Unsafe<"input_text" | "output_text" | "text">({
      type: "string",
      enum: ["input_text", "output_text", "text"],
    }),
    text,
  }),
  Type.Object({
    type: Type.Unsafe<"input_audio" | "output_audio" | "audio">({
      type: "string",
      enum: ["input_audio", "output_audio", "audio"],
    }),
    audio: Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"], contentEncoding: "base64" })),
    transcript: Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"], maxLength: 100_000 })),
  }),
);
export type ContentPart = Static<typeof ContentPart>;

/** An item as a client makes one. */
export const NewItem = byType(
  Type.Object({
    ...identity,
    type: Type.Literal("message"),
    role: Type.Unsafe<"user" | "assistant" | "system">({
      type: "string",
      enum: ["user", "assistant", "system"],
    }),
    content: Type.Array(ContentPart, { maxItems: 64 }),
  }),
  Type.Object({
    ...identity,
    type: Type.Literal("function_call"),
    call_id: Type.Optional(id),
    name: FunctionName,
    arguments: text,
  }),
  Type.Object({
    ...identity,
    type: Type.Literal("function_call_output"),
    call_id: id,
    output: text,
  }),
);
export type NewItem = Static<typeof NewItem>;

/** What one response may have otherwise than the session. */
export const ResponseOptions = Type.Object({
  conversation: Type.Optional(Type.String()),
  input: Type.Optional(Type.Array(NewItem, { maxItems: 256 })),
  instructions: SessionUpdate.properties.instructions,
  output_modalities: SessionUpdate.properties.output_modalities,
  max_output_tokens: SessionUpdate.properties.max_output_tokens,
  tools: SessionUpdate.properties.tools,
  tool_choice: SessionUpdate.properties.tool_choice,
  /** Given back with the response's events. */
  metadata: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>> | null>({
      type: ["object", "null"],
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: "string", maxLength: 512 },
    }),
  ),
});
export type ResponseOptions = Static<typeof ResponseOptions>;

/** Every event that a client may send, by its type. */
export const CLIENT_EVENTS = {
  "session.update": Type.Object({ ...eventId, session: SessionUpdate }),
  "input_audio_buffer.append": Type.Object({ ...eventId, audio: Type.String({ contentEncoding: "base64" }) }),
  "input_audio_buffer.commit": Type.Object(eventId),
  "input_audio_buffer.clear": Type.Object(eventId),
  "conversation.item.create": Type.Object({
    ...eventId,
    previous_item_id: Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"] })),
    item: NewItem,
  }),
  "conversation.item.retrieve": Type.Object({ ...eventId, item_id: id }),
  "conversation.item.truncate": Type.Object({
    ...eventId,
    item_id: id,
    content_index: Type.Integer({ minimum: 0 }),
    audio_end_ms: Type.Number({ minimum: 0 }),
  }),
  "conversation.item.delete": Type.Object({ ...eventId, item_id: id }),
  "response.create": Type.Object({
    ...eventId,
    response: Type.Optional(Type.Union([ResponseOptions, Type.Null()])),
  }),
  "response.cancel": Type.Object({ ...eventId, response_id: Type.Optional(id) }),
  /** Of WebRTC and SIP: read, and nothing is done. */
  "output_audio_buffer.clear": Type.Object(eventId),
} as const;

export type ClientEventType = keyof typeof CLIENT_EVENTS;
export type ClientEvent = {
  readonly [T in ClientEventType]: { readonly type: T } & Static<(typeof CLIENT_EVENTS)[T]>;
}[ClientEventType];
