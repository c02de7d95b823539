import Type, { type Static, type TSchema } from "typebox";
import { ServiceError } from "../errors.ts";
import { readJson } from "../json/read-json.ts";
import { validatorOf } from "../validate.ts";

/** Maximum bytes of a call's message: Twilio's have less than 1 KiB. */
export const MAX_CALL_MESSAGE_BYTES = 64 * 1024;

const name = Type.String({ minLength: 1, maxLength: 256 });
/** Twilio sends numbers as text. */
const count = Type.Unsafe<string | number>({
  type: ["string", "number"],
  pattern: "^\\d{1,15}$",
  minimum: 0,
});

const MEDIA_FORMAT = Type.Object({
  encoding: Type.Literal("audio/x-mulaw"),
  sampleRate: Type.Literal(8_000),
  channels: Type.Literal(1),
});

const CALL_PARAMETERS = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 256 })),
  model: Type.Optional(Type.String({ maxLength: 200 })),
  voice: Type.Optional(Type.String({ maxLength: 200 })),
  instructions: Type.Optional(Type.String({ maxLength: 20_000 })),
  language: Type.Optional(Type.String({ maxLength: 20 })),
});

/** Parameters of the TwiML. */
export type CallParameters = Static<typeof CALL_PARAMETERS>;

const TWILIO_MESSAGES = {
  connected: Type.Object({}),
  start: Type.Object({
    start: Type.Object({
      streamSid: name,
      callSid: Type.Optional(name),
      // Validated once the message is known to be Twilio's.
      mediaFormat: Type.Optional(Type.Unknown({ readAs: MEDIA_FORMAT })),
      customParameters: Type.Optional(Type.Unknown({ readAs: CALL_PARAMETERS })),
    }),
  }),
  media: Type.Object({
    media: Type.Object({
      track: Type.Optional(Type.String()),
      timestamp: Type.Optional(count),
      payload: Type.String({ maxLength: MAX_CALL_MESSAGE_BYTES, pattern: "^[\\w+/-]*={0,2}$" }),
    }),
  }),
  mark: Type.Object({ mark: Type.Object({ name }) }),
  dtmf: Type.Object({ dtmf: Type.Object({ digit: Type.String({ pattern: "^[0-9*#A-D]$" }) }) }),
  stop: Type.Object({}),
} as const;

type TwilioEvent = keyof typeof TWILIO_MESSAGES;

/** Messages of a Media Stream, as far as they are read. */
export type TwilioMessage = {
  readonly [E in TwilioEvent]: { readonly event: E } & Static<(typeof TWILIO_MESSAGES)[E]>;
}[TwilioEvent];

export type TwilioStart = Extract<TwilioMessage, { event: "start" }>["start"];

const ANY_MESSAGE = {
  anyOf: [{ properties: { event: { type: "string", maxLength: 64 } } }, ...Object.values(TWILIO_MESSAGES)],
};

/** Reads a message; returns `null` for an unknown kind.  @throws Error that says what is wrong with it */
export function parseTwilioMessage(bytes: Uint8Array): TwilioMessage | null {
  let value: unknown;
  try {
    ({ value } = readJson(bytes, ANY_MESSAGE));
  } catch {
    throw new Error("a message is not JSON");
  }
  const event = value instanceof Object && "event" in value ? value.event : undefined;
  if (typeof event !== "string") throw new Error("a message has no event");
  if (!isKnown(event)) return null;
  const fault = faultOf(TWILIO_MESSAGES[event], value, event);
  if (fault !== null) throw new Error(fault);
  return value as TwilioMessage;
}

/** Returns the parameters of a stream that starts. Throws a 400 {@link ServiceError}. */
export function parseTwilioStart({ mediaFormat, customParameters = {} }: TwilioStart): CallParameters {
  if (faultOf(MEDIA_FORMAT, mediaFormat, "mediaFormat") !== null)
    throw new ServiceError(400, "the stream's sound must be audio/x-mulaw, 8000 Hz, one channel");
  const fault = faultOf(CALL_PARAMETERS, customParameters, "customParameters");
  if (fault !== null) throw new ServiceError(400, fault);
  // The check above guarantees this type.
  return customParameters as CallParameters;
}

function isKnown(event: string): event is TwilioEvent {
  return Object.hasOwn(TWILIO_MESSAGES, event);
}

/** Returns the first error of a value; `null` if it is valid. */
function faultOf(schema: TSchema, value: unknown, called: string): string | null {
  const validate = validatorOf(schema);
  if (validate(value)) return null;
  const { instancePath = "", message = "is not valid" } = validate.errors?.[0] ?? {};
  return `${called}${instancePath.replaceAll("/", ".")} ${message}`.slice(0, 200);
}
