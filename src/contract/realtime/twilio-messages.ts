import { Ajv, type AnySchema, type ValidateFunction } from "ajv";
import Type, { type Static } from "typebox";

/** An id of Twilio's, or the name of a mark. */
const name = Type.String({ minLength: 1, maxLength: 256 });
/** Numbers come as text. */
const count = Type.Unsafe<string | number>({
  type: ["string", "number"],
  pattern: "^\\d{1,15}$",
  minimum: 0,
});

const TWILIO_MESSAGES = {
  connected: Type.Object({}),
  start: Type.Object({
    start: Type.Object({
      streamSid: name,
      callSid: Type.Optional(name),
      mediaFormat: Type.Object({
        encoding: Type.String(),
        sampleRate: Type.Number(),
        channels: Type.Number(),
      }),
      customParameters: Type.Optional(
        Type.Object({
          key: Type.Optional(Type.String({ maxLength: 256 })),
          model: Type.Optional(Type.String({ maxLength: 200 })),
          voice: Type.Optional(Type.String({ maxLength: 200 })),
          instructions: Type.Optional(Type.String({ maxLength: 20_000 })),
          language: Type.Optional(Type.String({ maxLength: 20 })),
        }),
      ),
    }),
  }),
  media: Type.Object({
    media: Type.Object({
      track: Type.Optional(Type.String()),
      timestamp: Type.Optional(count),
      payload: Type.String(),
    }),
  }),
  mark: Type.Object({ mark: Type.Object({ name }) }),
  dtmf: Type.Object({ dtmf: Type.Object({ digit: Type.String({ pattern: "^[0-9*#A-D]$" }) }) }),
  stop: Type.Object({}),
} as const;

type TwilioEvent = keyof typeof TWILIO_MESSAGES;

/** What Twilio sends over the socket of a Media Stream, as far as it is read. */
export type TwilioMessage = {
  readonly [E in TwilioEvent]: { readonly event: E } & Static<(typeof TWILIO_MESSAGES)[E]>;
}[TwilioEvent];

export type TwilioStart = Extract<TwilioMessage, { event: "start" }>["start"];

/** Reads a message; `null` where it is of a kind that is not known. @throws Error that says what is wrong with it. */
export function parseTwilioMessage(text: string): TwilioMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("a message is not JSON");
  }
  const event = (value as { readonly event?: unknown } | null)?.event;
  if (typeof event !== "string") throw new Error("a message has no event");
  if (!Object.hasOwn(TWILIO_MESSAGES, event)) return null;
  const validate = validatorOf(event as TwilioEvent);
  if (validate(value)) return value as TwilioMessage;
  const { instancePath = "", message = "is not valid" } = validate.errors?.[0] ?? {};
  throw new Error(`${event}${instancePath.replaceAll("/", ".")} ${message}`.slice(0, 200));
}

const validators = new Map<TwilioEvent, ValidateFunction>();

function validatorOf(event: TwilioEvent): ValidateFunction {
  const known = validators.get(event);
  if (known !== undefined) return known;
  const made = new Ajv({ allowUnionTypes: true, strict: false }).compile(TWILIO_MESSAGES[event] as AnySchema);
  validators.set(event, made);
  return made;
}
