import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from "ajv";
import { type Static, type TSchema, Type } from "typebox";
import { AudioSpeechRequest } from "./audio-speech.ts";
import { DialogueRequest } from "./dialogue.ts";
import { quoted, ServiceError } from "./errors.ts";
import { ClientSecretRequest } from "./realtime/session.ts";
import { StreamInputMessage, StreamInputQuery } from "./realtime/stream-input.ts";
import { ConverseRequest, TtsRequest, VendorRequest, VoiceRequest } from "./requests.ts";

const validators = new WeakMap<TSchema, ValidateFunction>();

/** Validates a body against its schema; throws a 422 {@link ServiceError} that names the field. */
export const parseTtsRequest = parser(TtsRequest);

export const parseConverseRequest = parser(ConverseRequest);

export const parseAudioSpeechRequest = parser(AudioSpeechRequest);

export const parseLoudness = parser(Type.Pick(AudioSpeechRequest, ["loudness"]));

export const parseDialogueRequest = parser(DialogueRequest);

export const parseClientSecretRequest = parser(ClientSecretRequest);

export const parseStreamInputQuery = parser(StreamInputQuery);

export const parseStreamInputMessage = parser(StreamInputMessage);

const parseVoiceRequest = parser(VoiceRequest);
const parseVendorRequest = parser(VendorRequest);

/** Validates a body of Vapi's or jambonz's; throws as the others do. */
export function parseTelephonyRequest(body: unknown): VoiceRequest | VendorRequest {
  const isVapi = body !== null && typeof body === "object" && "message" in body;
  return isVapi ? parseVoiceRequest(body) : parseVendorRequest(body);
}

function parser<S extends TSchema>(schema: S): (body: unknown) => Static<S> {
  return (body) => {
    if (body === null || typeof body !== "object" || Array.isArray(body)) {
      throw new ServiceError(
        422,
        "the body must be a JSON object: send one, with Content-Type: application/json",
      );
    }
    const validate = validatorOf(schema);
    if (validate(body)) return body;
    const [error] = validate.errors ?? [];
    throw new ServiceError(422, describe(error), { param: paramOf(error) });
  };
}

/**
 * Compiles a schema at its first use: strict types, the first error only. `maxLength` counts code points, as Ajv does by
 * default; `1e999` is no number. A `oneOf` with a discriminator reports errors of the variant that was meant.
 */
export function validatorOf<S extends TSchema>(schema: S): ValidateFunction<Static<S>> {
  const known = validators.get(schema);
  if (known !== undefined) return known as ValidateFunction<Static<S>>;
  const ajv = new Ajv({
    allErrors: false,
    coerceTypes: false,
    allowUnionTypes: true,
    discriminator: true,
    strict: false,
    strictNumbers: true,
    // Compiling JSON Schema's own schema would take longer than all of ours.
    meta: false,
    validateSchema: false,
  });
  ajv.addKeyword({
    keyword: "movedTo",
    before: "not",
    validate: () => false,
    error: { message: ({ schema }) => `belongs to the beta protocol: send ${schema} instead` },
  });
  const made = ajv.compile(schema as AnySchema) as ValidateFunction<Static<S>>;
  validators.set(schema, made);
  return made;
}

function describe(error: ErrorObject | undefined): string {
  if (error === undefined) return "the body does not match its schema";
  const field =
    error.propertyName === undefined
      ? fieldName(error.instancePath)
      : `the name of a member of ${fieldName(error.instancePath)}`;
  switch (error.keyword) {
    case "required":
      return `${join(field, error.params.missingProperty)} is missing: it is a required field`;
    case "type":
      return `${field} must be ${list([error.params.type].flat())}`;
    case "minimum":
    case "maximum":
      return `${field} must be ${bound(error)} ${error.params.limit}`;
    case "minLength":
    case "maxLength":
      return `${field} must have ${bound(error)} ${error.params.limit} character${error.params.limit === 1 ? "" : "s"}`;
    case "minItems":
    case "maxItems":
      return `${field} must have ${bound(error)} ${error.params.limit} item${error.params.limit === 1 ? "" : "s"}`;
    case "maxProperties":
      return `${field} must have at most ${error.params.limit} members`;
    case "enum":
      return `${field} must be one of ${error.params.allowedValues.join(", ")}`;
    default:
      return `${field} ${error.message ?? "does not match its schema"}`;
  }
}

/** Returns the invalid field; `null` for the body. */
function paramOf(error: ErrorObject | undefined): string | null {
  const field = fieldName(error?.instancePath ?? "");
  const missing: unknown = error?.keyword === "required" ? error.params.missingProperty : undefined;
  const named = typeof missing === "string" ? join(field, missing) : field;
  return named === "the body" ? null : named;
}

function bound(error: ErrorObject): string {
  return error.keyword.startsWith("min") ? "at least" : "at most";
}

function list(types: string[]): string {
  return types
    .map((type) => (type === "null" ? "null" : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`))
    .join(" or ");
}

/** Converts a JSON pointer (RFC 6901): `/conversation/3/text` → `conversation[3].text`. */
function fieldName(instancePath: string): string {
  const [first = "", ...rest] = instancePath.split("/").slice(1);
  // Their members have arbitrary names, which may be long or contain any character.
  if ((first === "lexicon" || first === "voices") && rest[0] !== undefined)
    return rest
      .slice(1)
      .reduce(join, memberField(first, rest[0].replaceAll("~1", "/").replaceAll("~0", "~")));
  return rest.reduce(join, first) || "the body";
}

/** Returns the label of a member with an arbitrary name. */
export function memberField(field: "lexicon" | "voices", name: string): string {
  return `${field}[${quoted(name)}]`;
}

function join(parent: string, child: string): string {
  if (/^\d+$/.test(child)) return `${parent}[${child}]`;
  return parent === "" || parent === "the body" ? child : `${parent}.${child}`;
}
