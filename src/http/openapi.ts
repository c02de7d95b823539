import type { TSchema } from "typebox";
import {
  AudioSpeechRequest,
  SpeechAudioDelta,
  SpeechAudioDone,
  VoiceList,
} from "../contract/audio-speech.ts";
import { AudioEvent, EndEvent, ErrorEvent, MetaEvent } from "../contract/events.ts";
import {
  ConverseResponse,
  ErrorEnvelope,
  Health,
  Info,
  ModelList,
  TtsResponse,
  UsageSummary,
} from "../contract/replies.ts";
import { ConverseRequest, TtsRequest } from "../contract/requests.ts";

type Json = { [key: string]: unknown };

/** The OpenAPI 3.1 document of the service, made from the schemas that its bodies are checked against. */
export function openApiDocument(): Json {
  const schemas: Json = {};
  const ref = (schema: TSchema) => referenced(schema, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Antiphon",
      version: "0.1.0",
      description: "Conversational speech: text to speech, and conversations completed aloud.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: {
      "/v1/tts": { post: generation("Text to speech", ref(TtsRequest), json(ref(TtsResponse)), ref) },
      "/v1/converse": {
        post: generation("Complete the open turn", ref(ConverseRequest), json(ref(ConverseResponse)), ref),
      },
      "/v1/converse/stream": {
        post: generation("Complete the open turn, streamed", ref(ConverseRequest), eventStream(ref), ref),
      },
      "/v1/audio/speech": {
        post: generation("Text to speech, as in OpenAI's API", ref(AudioSpeechRequest), speech(ref), ref),
      },
      "/v1/audio/voices": { get: query("List voices", ref(VoiceList), ref) },
      "/v1/models": { get: query("List public models", ref(ModelList), ref) },
      "/v1/info": { get: query("Backend, defaults and limits", ref(Info), ref) },
      "/v1/usage": { get: query("Running totals of the calling key", ref(UsageSummary), ref) },
      "/health": { get: open("Liveness", json(ref(Health))) },
      "/metrics": { get: open("Prometheus metrics", { "text/plain": { schema: { type: "string" } } }) },
      "/openapi.json": { get: open("This document", { "application/json": { schema: { type: "object" } } }) },
    },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
      },
      schemas,
    },
  };
}

type Ref = (schema: TSchema) => Json;

function generation(summary: string, body: Json, content: Json, ref: Ref): Json {
  return {
    summary,
    requestBody: { required: true, content: json(body) },
    responses: { 200: success(content), ...failures([400, 401, 422, 429, 500, 502], ref) },
  };
}

function query(summary: string, schema: Json, ref: Ref): Json {
  return { summary, responses: { 200: success(json(schema)), ...failures([401, 429, 500], ref) } };
}

function open(summary: string, content: Json): Json {
  return { summary, security: [], responses: { 200: success(content) } };
}

function json(schema: Json): Json {
  return { "application/json": { schema } };
}

function eventStream(ref: Ref): Json {
  const events = [MetaEvent, AudioEvent, EndEvent, ErrorEvent].map(ref);
  const description =
    "Server-sent events: one `meta`, then `audio` for every frame, then one `end` or `error`. " +
    "Each event's `data` is one JSON object of the schema of its name.";
  return {
    "text/event-stream": { schema: { type: "string", description, contentSchema: { oneOf: events } } },
  };
}

function speech(ref: Ref): Json {
  const events = [SpeechAudioDelta, SpeechAudioDone].map(ref);
  const description =
    "With `stream_format` `sse`: deltas, then one done; a failure is one `data` with an `error`.";
  return {
    "audio/wav": { schema: { type: "string", format: "binary" } },
    "audio/pcm": { schema: { type: "string", format: "binary" } },
    "text/event-stream": { schema: { type: "string", description, contentSchema: { oneOf: events } } },
  };
}

function success(content: Json): Json {
  return { description: "Success", headers: RATE_HEADERS, content };
}

const FAILURES: Record<number, string> = {
  400: "Over a cap, undecodable audio, unknown model, or a turn rule broken",
  401: "Missing or invalid API key",
  422: "The body does not match its schema",
  429: "Over the rate limit: see Retry-After",
  500: "Unexpected failure",
  502: "The model failed or timed out: retry",
};

function failures(statuses: number[], ref: Ref): Json {
  const content = json(ref(ErrorEnvelope));
  return Object.fromEntries(statuses.map((status) => [status, { description: FAILURES[status], content }]));
}

const integerHeader = (description: string) => ({ description, schema: { type: "integer" } });

const RATE_HEADERS = {
  "X-Request-ID": { description: "The client's own, or the server's", schema: { type: "string" } },
  "X-RateLimit-Limit": integerHeader("Sustained requests per minute"),
  "X-RateLimit-Remaining": integerHeader("Requests left in the bucket now"),
  "X-RateLimit-Reset": integerHeader("Seconds until the bucket is full"),
};

/** Moves every titled schema, however deep, to the components and leaves a reference in its place. */
function referenced(schema: TSchema, components: Json): Json {
  return move(schema) as Json;

  function move(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(move);
    if (value === null || typeof value !== "object") return value;
    const node = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, move(child)]));
    if (typeof node.title !== "string" || typeof node.type !== "string") return node;
    components[node.title] = node;
    return { $ref: `#/components/schemas/${node.title}` };
  }
}
