import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from "ajv";
import { CLIENT_EVENTS, type ClientEvent, type ClientEventType } from "./client-events.ts";

/** What is wrong with a client's event. */
export interface EventFault {
  readonly message: string;
  readonly code: "invalid_json" | "unknown_event" | "missing_required_parameter" | "invalid_value";
  readonly param: string | null;
  /** The event's own id, where it could be read. */
  readonly eventId: string | null;
}

/** Characters that an event may have beside its longest string: all texts that it may have, and settings, are fewer. */
const MAX_EVENT_CHARS = 2 ** 20;

const validators = new Map<string, ValidateFunction>();

/** Reads an event as a client sent it. Members that are not known are not read. */
export function parseClientEvent(
  text: string,
): { readonly event: ClientEvent } | { readonly fault: EventFault } {
  if (!isCheap(text)) {
    const message = `the event is too large: only its audio may have more than ${MAX_EVENT_CHARS} characters`;
    return fault(message, "invalid_value");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault("the event is not JSON: send one JSON object a message", "invalid_json");
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return fault("the event is not a JSON object: send one with a type", "invalid_json");
  }
  const { type, event_id: id } = value as { readonly type?: unknown; readonly event_id?: unknown };
  const eventId = typeof id === "string" ? id.slice(0, 512) : null;
  if (typeof type !== "string" || !Object.hasOwn(CLIENT_EVENTS, type)) {
    const known = Object.keys(CLIENT_EVENTS).join(", ");
    return fault(`the event's type is not one of ${known}`, "unknown_event", "type", eventId);
  }
  const validate = validatorOf(type as ClientEventType);
  if (validate(value)) {
    const event = value as ClientEvent;
    if (event.type !== "input_audio_buffer.append" || isBase64(event.audio)) return { event };
    return fault("audio is not base64: encode the bytes of the sound so", "invalid_value", "audio", eventId);
  }
  const error = closest(validate.errors ?? []);
  const param = paramOf(error);
  const code = error?.keyword === "required" ? "missing_required_parameter" : "invalid_value";
  return fault(`${param ?? "the event"} ${error?.message ?? "is not valid"}`, code, param, eventId);
}

/**
 * Whether parsing it keeps nobody waiting. One value of any length is parsed fast, and 20 MB of small ones take seconds. So of
 * a long text nearly everything has to stand between two quotes, and have in it nothing that could divide values: base64 does.
 */
function isCheap(text: string): boolean {
  let longest = 0;
  for (let from = 0; text.length - longest > MAX_EVENT_CHARS; ) {
    const quote = text.indexOf('"', from);
    const to = quote < 0 ? text.length : quote;
    const run = text.slice(from, to);
    if (run.length > longest && !DIVIDERS.some((each) => run.includes(each))) longest = run.length;
    if (quote < 0 || to - longest > MAX_EVENT_CHARS) break;
    from = quote + 1;
  }
  return text.length - longest <= MAX_EVENT_CHARS;
}

const DIVIDERS = [",", "[", "{"];

/** Also base64url, also without padding, and in lines. What it searches for is one or two characters long: it never goes back. */
function isBase64(text: string): boolean {
  return !/[^\w+/=\s-]|=[^=\s]/.test(text);
}

function fault(
  message: string,
  code: EventFault["code"],
  param: string | null = null,
  eventId: string | null = null,
): { readonly fault: EventFault } {
  return { fault: { message, code, param, eventId } };
}

function validatorOf(type: ClientEventType): ValidateFunction {
  const known = validators.get(type);
  if (known !== undefined) return known;
  const ajv = new Ajv({
    allErrors: false,
    coerceTypes: false,
    allowUnionTypes: true,
    discriminator: true,
    strict: false,
    strictNumbers: true,
  });
  const made = ajv.compile(CLIENT_EVENTS[type] as AnySchema);
  validators.set(type, made);
  return made;
}

/** Of complaints about each shape of a choice, that about the shape which fits best: it is the deepest. */
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
