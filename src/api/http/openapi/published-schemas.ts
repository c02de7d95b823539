import type { TSchema } from "typebox";
import { AudioSpeechRequest } from "../../../contract/audio-speech.ts";
import { DialogueRequest } from "../../../contract/dialogue.ts";
import { MAX_INSTRUCTIONS_CHARS, MAX_SPEAKER_CHARS } from "../../../contract/limits.ts";
import { ClientSecretRequest } from "../../../contract/realtime/session.ts";
import {
  ConversationTurn,
  ConverseRequest,
  MAX_LEXICON_SAID_CHARS,
  MAX_LEXICON_WORD_CHARS,
  TtsRequest,
  VendorRequest,
  VoiceRequest,
} from "../../../contract/requests.ts";
import { MAX_VOICE_CHARS, OPENAI_VOICES, SPEAKER_LABELS } from "../../../contract/voices.ts";
import { TELEPHONY_RATES } from "../routes/speech.ts";
import { MEDIA_TYPES } from "../speech-reply.ts";
import { type Json, query } from "./operations.ts";

// Published schemas of bodies. They include what the server refuses with 400 after validation, as far as JSON Schema
// can express it. Nothing is validated against them.

const speaker = { enum: SPEAKER_LABELS };

/** Names that every model has; then other names and mixes. */
const voiceWords = [
  { type: "string", enum: [...SPEAKER_LABELS, ...OPENAI_VOICES] },
  { type: "string", minLength: 1, maxLength: MAX_VOICE_CHARS },
];
const voice = {
  type: undefined,
  properties: undefined,
  required: undefined,
  anyOf: [...voiceWords, { type: "object", properties: { id: { anyOf: voiceWords } }, required: ["id"] }],
};

/**
 * At least one character other than space. The requirement of a letter or digit is omitted, because `\p{L}` is not
 * portable. The pattern covers the whole text, since some readers match patterns that way.
 */
const spoken = { pattern: "^\\s*\\S[\\s\\S]*$" };

const namedVoices = { additionalProperties: { anyOf: voice.anyOf } };
/** Labels of every model; then names that `voices` gives a voice. */
const namedSpeaker = { anyOf: [speaker, { type: "string", ...spoken, maxLength: MAX_SPEAKER_CHARS }] };

const SOUNDS = "AIOQWYTabdefghijklmnoprstuvwxzæðŋɐɑɒɔəɚɛɜɝɡɨɪɫɹɾʃʊʌʒʔʤʧθᵊᵻ";
/** One phoneme; some are two letters with a tie, or a syllabic consonant. */
const SOUND = `(?:t[\\u0361\\u035c]ʃ|d[\\u0361\\u035c]ʒ|[nlm]\\u0329|[${SOUNDS}])`;
/** Phonemes between slashes, or words; neither contains brackets. */
const lexicon = {
  propertyNames: {
    pattern: "^[^\\s[\\]](?:[^[\\]]*[^\\s[\\]])?$",
    minLength: 1,
    maxLength: MAX_LEXICON_WORD_CHARS,
  },
  additionalProperties: {
    type: "string",
    pattern: `^(?:[^/[\\]][^[\\]]*|/[ˈˌ']?${SOUND}(?:[ˈˌ'ː. ]|${SOUND})*/)$`,
    minLength: 1,
    maxLength: MAX_LEXICON_SAID_CHARS,
  },
};

export const publishedTts: Json = narrowed(TtsRequest, { text: spoken, speaker, lexicon, voice });

/** The body of `POST /v1/converse` and its stream. JSON Schema cannot express rules about the last turn alone. */
export const publishedConverse: Json = narrowed(ConverseRequest, {
  lexicon,
  instructions: { maxLength: MAX_INSTRUCTIONS_CHARS },
  voices: { ...namedVoices, propertyNames: namedSpeaker },
  conversation: {
    description:
      "Turns, oldest first. Every turn before the last needs text or audio. The last is the open turn, which will be " +
      "spoken: it must have no audio, and if it has no text, the text is written first.",
    items: narrowed(ConversationTurn, { speaker: { type: undefined, ...namedSpeaker } }),
  },
});

export const publishedSpeech: Json = nullable(
  narrowed(AudioSpeechRequest, {
    input: spoken,
    lexicon,
    voice: { ...voice, default: "0" },
    response_format: { enum: Object.keys(MEDIA_TYPES) },
  }),
);

/** The body of `POST /v1/audio/dialogue`: a script, or lines. */
export const publishedDialogue: Json = {
  ...nullable(
    narrowed(DialogueRequest, {
      // Its members may be null, unlike those of the titled schema.
      params: { title: undefined },
      lexicon,
      script: { pattern: "^[\\s\\S]*\\S+:\\s+\\S[\\s\\S]*$" },
      voices: namedVoices,
      response_format: { enum: Object.keys(MEDIA_TYPES) },
    }),
  ),
  oneOf: [{ required: ["script"] }, { required: ["lines"] }],
};

/** Members that are `null` count as absent. */
export const publishedClientSecret: Json = nullable(narrowed(ClientSecretRequest, {}));

const rate = { type: "integer", enum: TELEPHONY_RATES, description: "Hz." };

const publishedVoiceRequest: Json = {
  ...VoiceRequest,
  properties: {
    message: narrowed(VoiceRequest.properties.message, { text: spoken, sampleRate: rate }),
  },
};
const publishedVendorRequest: Json = {
  ...nullable(narrowed(VendorRequest, { text: spoken, voice })),
  not: { required: ["message"] },
};

/** The body of `POST /v1/audio/telephony`: Vapi's or jambonz's. */
export const publishedCall: Json = {
  title: "TelephonyRequest",
  type: "object",
  anyOf: [publishedVoiceRequest, publishedVendorRequest],
};

export const telephonyQuery: readonly Json[] = [
  // May be empty, like none.
  query("voice", "Takes precedence over the voice in the body.", {
    type: "string",
    maxLength: MAX_VOICE_CHARS,
  }),
  query("rate", "For jambonz: raw samples at this rate instead of an MP3.", rate),
];

/** Returns a schema in which optional properties, at any depth, may be null. */
function nullable(schema: Json): Json {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, Json>;
    items?: Json;
    anyOf?: Json[];
  };
  const required = new Set((schema.required as readonly string[] | undefined) ?? []);
  const members = Object.entries(properties ?? {}).map(([name, property]) => [
    name,
    required.has(name) ? nullable(property) : orNull(nullable(property)),
  ]);
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(members) }),
    ...(items === undefined ? {} : { items: nullable(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(nullable) }),
  };
}

function orNull(schema: Json): Json {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  const { const: only, ...others } = schema;
  if (only !== undefined) return orNull({ ...others, enum: [only] });
  if (schema.type === undefined) return schema;
  const choice = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [...new Set([schema.type, "null"].flat())], ...choice };
}

/** Returns an object schema with keywords added to some properties; `undefined` removes one. */
function narrowed(
  schema: TSchema & { properties: Record<string, TSchema> },
  added: Record<string, Json>,
): Json {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const keywords = Object.entries({ ...property, ...added[name] });
    return [name, Object.fromEntries(keywords.filter(([, value]) => value !== undefined))];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/**
 * Returns the content of an event stream. OpenAPI 3.1 cannot describe its items (3.2 has `itemSchema`): some readers
 * apply `schema` to one event, others to the whole text, so it allows either.
 */
export function eventStream(event: Json): Json {
  const text = {
    type: "string",
    description: "The text of the whole stream, for clients that do not parse events.",
  };
  return { "text/event-stream": { schema: { anyOf: [text, event] } } };
}

/** Returns the schema of events with names. */
export function namedEvents(title: string, dataByName: Readonly<Record<string, TSchema>>): Json {
  const titles = Object.keys(dataByName).map(
    (name) => [name, `${title}${name.charAt(0).toUpperCase()}${name.slice(1)}`] as const,
  );
  return {
    title,
    description: "One server-sent event, identified by its name.",
    oneOf: titles.map(([name, own]) => ({
      title: own,
      type: "object",
      required: ["event", "data"],
      properties: { event: { type: "string", const: name }, data: jsonText(dataByName[name]!) },
    })),
    discriminator: {
      propertyName: "event",
      mapping: Object.fromEntries(titles.map(([name, own]) => [name, `#/components/schemas/${own}`])),
    },
  };
}

/** Returns the schema of events without names, distinguished by the `type` in their data. */
export function unnamedEvents(title: string, data: readonly TSchema[]): Json {
  return {
    title,
    description: "One server-sent event without a name.",
    type: "object",
    required: ["data"],
    properties: { data: jsonText({ oneOf: data }) },
  };
}

/** Returns the schema of an event's `data`: text that contains JSON. */
function jsonText(schema: TSchema | Json): Json {
  return { type: "string", contentMediaType: "application/json", contentSchema: schema };
}
