import type { ErrorObject } from "ajv";
import Type, { type Static, type TSchema } from "typebox";
import { JsonBoundError } from "../json/json-grammar.ts";
import { readJson } from "../json/read-json.ts";
import { nullable, stringEnum } from "../string-enum.ts";
import { validatorOf } from "../validate.ts";
import { FunctionName, moved, SessionUpdate } from "./session.ts";

const id = Type.String({ minLength: 1, maxLength: 128 });
const eventId = { event_id: Type.Optional(Type.String({ maxLength: 512 })) };
const text = Type.String({ maxLength: 100_000 });
const status = Type.Optional(stringEnum(["completed", "incomplete", "in_progress"]));
const identity = { id: Type.Optional(id), status };

/** Returns a schema of several variants, chosen by `type`, so that errors refer to the variant that was meant. */
function byType<const S extends readonly TSchema[]>(...oneOf: S) {
  return Type.Unsafe<Static<S[number]>>({
    type: "object",
    required: ["type"],
    discriminator: { propertyName: "type" },
    oneOf,
  });
}

/** Part of a message. Audio of earlier turns is not kept: only the transcript counts. */
export const ContentPart = byType(
  Type.Object({
    type: stringEnum(["input_text", "output_text", "text"]),
    text,
  }),
  Type.Object({
    type: stringEnum(["input_audio", "output_audio", "audio"]),
    audio: Type.Optional(nullable("string", { contentEncoding: "base64" })),
    transcript: Type.Optional(nullable("string", { maxLength: 100_000 })),
  }),
);
export type ContentPart = Static<typeof ContentPart>;

export const NewItem = byType(
  Type.Object({
    ...identity,
    type: Type.Literal("message"),
    role: stringEnum(["user", "assistant", "system"]),
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

/** Options of one response that differ from the session's. */
export const ResponseOptions = Type.Object({
  modalities: moved("output_modalities"),
  max_response_output_tokens: moved("max_output_tokens"),
  conversation: Type.Optional(Type.String()),
  input: Type.Optional(Type.Array(NewItem, { maxItems: 256 })),
  instructions: SessionUpdate.properties.instructions,
  output_modalities: SessionUpdate.properties.output_modalities,
  max_output_tokens: SessionUpdate.properties.max_output_tokens,
  tools: SessionUpdate.properties.tools,
  tool_choice: SessionUpdate.properties.tool_choice,
  /** Echoed in the response's events. */
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

/** Events of clients, by type. */
export const CLIENT_EVENTS = {
  "session.update": Type.Object({ ...eventId, session: SessionUpdate }),
  "input_audio_buffer.append": Type.Object({ ...eventId, audio: Type.String({ contentEncoding: "base64" }) }),
  "input_audio_buffer.commit": Type.Object(eventId),
  "input_audio_buffer.clear": Type.Object(eventId),
  "conversation.item.create": Type.Object({
    ...eventId,
    previous_item_id: Type.Optional(nullable("string")),
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
  /** For WebRTC and SIP only: accepted without effect. */
  "output_audio_buffer.clear": Type.Object(eventId),
} as const;

export type ClientEventType = keyof typeof CLIENT_EVENTS;
export type ClientEvent = {
  readonly [T in ClientEventType]: { readonly type: T } & Static<(typeof CLIENT_EVENTS)[T]>;
}[ClientEventType];

/** What is wrong with a client's event. */
export interface EventFault {
  readonly type: "fault";
  readonly message: string;
  readonly code:
    | "invalid_json"
    | "unknown_event"
    | "missing_required_parameter"
    | "invalid_value"
    | "server_error";
  readonly param: string | null;
  /** The event's own id, if it could be read. */
  readonly eventId: string | null;
}

export type InboundEvent = ClientEvent | EventFault;

/** Maximum bytes of a message: 3 MiB of audio in base64, which are 65 s at 24 kHz. */
export const MAX_MESSAGE_BYTES = 4 * 2 ** 20;

/** Maximum bytes of other events than `input_audio_buffer.append`; all their texts and settings take fewer. */
const MAX_EVENT_BYTES = 2 ** 20;

/** Union of all events: the type is known only after reading. */
const ANY_EVENT = {
  anyOf: [{ properties: { type: { type: "string", maxLength: 64 } } }, ...Object.values(CLIENT_EVENTS)],
};

/** Reads a client's event; keeps only the members that its schema names. */
export function readClientEvent(bytes: Uint8Array): InboundEvent {
  let read: ReturnType<typeof readJson>;
  try {
    read = readJson(bytes, ANY_EVENT, { isNullAbsent: true });
  } catch (error) {
    if (bytes.length > MAX_EVENT_BYTES) return tooLarge();
    if (error instanceof JsonBoundError) return fault(error.message, "invalid_value", error.path);
    return fault("the event is not JSON: send one JSON object a message", "invalid_json");
  }
  const { value, textOf } = read;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return fault("the event is not a JSON object: send one with a type", "invalid_json");
  }
  const { type, event_id: id } = value as Readonly<Record<string, unknown>>;
  if (type !== "input_audio_buffer.append" && bytes.length > MAX_EVENT_BYTES) return tooLarge();
  const eventId = typeof id === "string" ? id.slice(0, 512) : null;
  if (typeof type !== "string" || !Object.hasOwn(CLIENT_EVENTS, type)) {
    const known = Object.keys(CLIENT_EVENTS).join(", ");
    return fault(`the event's type is not one of ${known}`, "unknown_event", "type", eventId);
  }
  const validate = validatorOf(CLIENT_EVENTS[type as ClientEventType]);
  if (validate(value)) {
    const event = value as ClientEvent;
    if (event.type !== "input_audio_buffer.append") return event;
    const audio = textOf(event.audio);
    if (isBase64(audio)) return { ...event, audio };
    return fault("audio is not base64: encode the bytes of the sound so", "invalid_value", "audio", eventId);
  }
  const error = closest(validate.errors ?? []);
  const param = paramOf(error);
  const code = error?.keyword === "required" ? "missing_required_parameter" : "invalid_value";
  return fault(`${param ?? "the event"} ${error?.message ?? "is not valid"}`, code, param, eventId);
}

/** Accepts base64url, missing padding and line breaks. The expression cannot backtrack. */
function isBase64(text: string): boolean {
  return !/[^\w+/=\s-]|=[^=\s]/.test(text);
}

function tooLarge(): EventFault {
  return fault(
    `the event is too large: only input_audio_buffer.append may have more than ${MAX_EVENT_BYTES} bytes`,
    "invalid_value",
  );
}

function fault(
  message: string,
  code: EventFault["code"],
  param: string | null = null,
  eventId: string | null = null,
): EventFault {
  return { type: "fault", message, code, param, eventId };
}

/** Returns the error about the variant that fits best: the deepest. */
function closest(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const depth = ({ instancePath, keyword }: ErrorObject): number =>
    2 * instancePath.split("/").length - (keyword === "const" || keyword === "anyOf" ? 1 : 0);
  return errors.toSorted((a, b) => depth(b) - depth(a))[0];
}

function paramOf(error: ErrorObject | undefined): string | null {
  if (error === undefined) return null;
  const path = error.instancePath.split("/").slice(1);
  const missing: unknown = error.keyword === "required" ? error.params.missingProperty : undefined;
  if (typeof missing === "string") path.push(missing);
  return path.length === 0 ? null : path.join(".").slice(0, 200);
}
