import {
  AudioTranscriptionRequest,
  AudioTranslationRequest,
  TranscriptError,
  Transcription,
  TranscriptTextDelta,
  TranscriptTextDone,
  VerboseTranscription,
  VerboseTranslation,
} from "../../../contract/audio-transcriptions.ts";
import { ClientSecretReply } from "../../../contract/realtime/session.ts";
import { StreamInputQuery } from "../../../contract/realtime/stream-input.ts";
import {
  AudioModelList,
  Health,
  Info,
  ModelEntry,
  ModelList,
  UsageSummary,
} from "../../../contract/replies.ts";
import { CreatedVoice, DeletedVoice, NewVoiceForm } from "../../../contract/voice-form.ts";
import { VOICE_WORDS, VoiceList } from "../../../contract/voices.ts";
import { LANGUAGE_NAMES } from "../../../core/languages.ts";
import { BODY_EXAMPLES } from "./body-examples.ts";
import {
  failureResponses,
  HEADERS,
  type Json,
  json,
  operation,
  page,
  query,
  type Ref,
  referencesInto,
  SECURITY_SCHEMES,
  STREAMED,
  UNREAD,
  webSocket,
} from "./operations.ts";
import { eventStream, publishedClientSecret, unnamedEvents } from "./published-schemas.ts";
import { BYTES, replyPaths } from "./reply-paths.ts";

/** Returns the OpenAPI 3.1 document of the service, made from the schemas that bodies are validated against. */
export function openApiDocument(): Json {
  const schemas: Json = {};
  const ref = referencesInto(schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Antiphon",
      // That of the interface contract, not of the package.
      version: "0.1.0",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [
      {
        name: "speech",
        description: "Speech synthesis and recognition. Each call takes one token from the key's bucket.",
      },
      { name: "queries", description: "Available models, server limits, and usage." },
      { name: "operations", description: "Health checks, metrics and pages. No key needed." },
    ],
    paths: {
      ...replyPaths(ref),
      ...recordingPaths(ref),
      ...realtimePaths(ref),
      ...voicePaths(ref),
      ...queryPaths(ref),
    },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      responses: failureResponses(ref),
      schemas,
    },
  };
}

/** Tags alone, since the names are as many, and none for all voices. */
const LANGUAGE = { type: "string", enum: ["", ...LANGUAGE_NAMES.keys()] };
const TEXT = { schema: { type: "string" } };
const FORM = "multipart/form-data";

function recordingPaths(ref: Ref): Json {
  const captions = { "text/plain": TEXT, "application/x-subrip": TEXT, "text/vtt": TEXT };
  const events = ref(
    unnamedEvents("TranscriptStreamEvent", [TranscriptTextDelta, TranscriptTextDone, TranscriptError]),
  );
  return {
    "/v1/audio/transcriptions": {
      post: operation("speech", "createTranscription", "Transcribe a recording, as in OpenAI's API", {
        body: ref(AudioTranscriptionRequest),
        mediaType: FORM,
        examples: BODY_EXAMPLES.transcription,
        content: {
          ...json({ anyOf: [ref(Transcription), ref(VerboseTranscription)] }),
          ...captions,
          ...eventStream(events),
        },
        headers: STREAMED,
        description:
          "The transcript in `response_format`, or, with `stream`, server-sent events without names: deltas, then one " +
          "done event. `heard_seconds` is present if only part of the recording was transcribed.",
      }),
    },
    "/v1/audio/translations": {
      post: operation(
        "speech",
        "createTranslation",
        "Translate a recording into English, as in OpenAI's API",
        {
          body: ref(AudioTranslationRequest),
          mediaType: FORM,
          examples: BODY_EXAMPLES.translation,
          content: { ...json({ anyOf: [ref(Transcription), ref(VerboseTranslation)] }), ...captions },
          description:
            "The translation in `response_format`. English speech is transcribed. `heard_seconds` is present if only part " +
            "of the recording was translated. If the recogniser cannot translate, the status is 400.",
        },
      ),
    },
  };
}

function realtimePaths(ref: Ref): Json {
  return {
    "/v1/realtime": {
      get: webSocket("session", "realtime", "A spoken conversation, over a WebSocket", {
        ref,
        about:
          "OpenAI's Realtime protocol, events in JSON both ways. The key is in a header, or, from browsers, in the " +
          "subprotocol `openai-insecure-api-key.<key or client secret>` in addition to `realtime`. A request is refused " +
          "before the upgrade. A session takes one token from the key's bucket, and so does each reply in it.",
        parameters: [
          query("model", "A public model id; those that begin with `gpt-` are the default model."),
          query("intent", "`transcription` opens a session that writes what is said, and does not reply."),
        ],
      }),
    },
    "/v1/telephony/twilio": {
      get: webSocket("call", "twilioCall", "A telephone call by Twilio's Media Streams, over a WebSocket", {
        ref,
        about:
          "Name it as the `url` of a `<Stream>` in TwiML. The key, or a client secret, is its `<Parameter>` `key`, beside " +
          "which there may be `model`, `voice`, `instructions` and `language`. A call is a realtime session, and counts as " +
          "one. What is refused then is how the socket is closed: 1008, or 1013 where it may be tried again. A server that " +
          "has Twilio's auth token answers 401 unless `X-Twilio-Signature` is valid, whatever key is sent.",
        parameters: [
          query("key", "A key or a client secret, for programs other than Twilio; 401 if it is invalid."),
        ],
      }),
    },
    "/v1/text-to-speech/{voice}/stream-input": { get: streamInput("streamInput", ref) },
    "/v1/text-to-speech/{voice}/multi-stream-input": { get: streamInput("multiStreamInput", ref) },
    "/v1/realtime/client_secrets": {
      post: operation(
        "speech",
        "createClientSecret",
        "A secret for a page or an app, which opens realtime sessions",
        {
          body: ref(publishedClientSecret),
          examples: BODY_EXAMPLES.clientSecret,
          content: json(ref(ClientSecretReply)),
          description:
            "It opens sessions in place of the key until it expires, and they are metered by that key. Sessions that are " +
            "open by then go on.",
        },
      ),
    },
  };
}

function streamInput(operationId: string, ref: Ref): Json {
  const options = Object.entries({ ...StreamInputQuery.properties }).map(([name, schema]) => {
    const { description, ...bare }: Json = { ...schema };
    return query(name, `${description}`, bare);
  });
  return webSocket("stream", operationId, "Speech of a text as it arrives, over ElevenLabs' WebSocket", {
    ref,
    about:
      "The key is in a header, or `xi_api_key` in the first message. Each text takes one token of its bucket.",
    parameters: [inPath("voice", "Any voice that `POST /v1/audio/speech` takes."), ...options],
  });
}

function voicePaths(ref: Ref): Json {
  return {
    "/v1/audio/voices": {
      get: operation("list", "listVoices", "List voices", {
        parameters: [
          query("language", "A tag such as `es`, or an English name: its voices alone.", LANGUAGE),
        ],
        content: json(ref(VoiceList)),
      }),
      post: operation("speech", "createVoice", "Create a voice from a recording, as in OpenAI's API", {
        body: ref(NewVoiceForm),
        mediaType: FORM,
        examples: BODY_EXAMPLES.newVoice,
        content: json(ref(CreatedVoice)),
        headers: UNREAD,
        description:
          "The voice, which belongs to the key that made it. Its recording is kept until it is deleted, or the key is " +
          "revoked. The status is 400 if nobody speaks in the recording, or if the key has a voice of that name.",
      }),
    },
    "/v1/audio/voices/{voice}": {
      delete: operation("lookUp", "deleteVoice", "Delete one of the key's own voices", {
        parameters: [inPath("voice", "Its id or name.")],
        content: json(ref(DeletedVoice)),
      }),
    },
    "/v1/audio/voices/{voice}/sample": {
      get: operation("speech", "getVoiceSample", "Get a sample of a voice", {
        parameters: [
          inPath("voice", VOICE_WORDS),
          query("model", "A public model id. Absent: the default model."),
        ],
        content: { "audio/mpeg": BYTES },
        headers: STREAMED,
        description:
          "A sentence or two in that voice, as if sent to `/v1/audio/speech`: it takes a token, is computed anew each time, " +
          "and is metered. `sample` of `GET /v1/audio/voices` has this address.",
      }),
    },
  };
}

function queryPaths(ref: Ref): Json {
  const id = inPath(
    "id",
    "A public model id; `tts-1`, `tts-1-hd` and `gpt-4o-mini-tts` mean the default model.",
  );
  const health = json(ref(Health));
  return {
    "/v1/audio/models": {
      get: operation("list", "listAudioModels", "List speech models", { content: json(ref(AudioModelList)) }),
    },
    "/v1/models": {
      get: operation("query", "listModels", "List public models", { content: json(ref(ModelList)) }),
    },
    "/v1/models/{id}": {
      get: operation("lookUp", "getModel", "Get a public model", {
        parameters: [id],
        content: json(ref(ModelEntry)),
      }),
    },
    "/v1/info": {
      get: operation("query", "getInfo", "Backend, defaults and limits", { content: json(ref(Info)) }),
    },
    "/v1/usage": {
      get: operation("query", "getUsage", "Usage totals of the calling key", {
        content: json(ref(UsageSummary)),
      }),
    },
    "/health": { get: operation("open", "getHealth", "Liveness", { content: health }) },
    "/ready": { get: operation("probe", "getReady", "Readiness", { content: health }) },
    "/metrics": {
      get: operation("optional", "getMetrics", "Prometheus metrics", { content: { "text/plain": TEXT } }),
    },
    "/openapi.json": {
      get: operation("open", "getOpenApi", "The OpenAPI document", { content: json({ type: "object" }) }),
    },
    "/docs": { get: page("open", "getDocs", "The API reference as an interactive page") },
    "/": { get: page("optional", "getPlayground", "A page for trying out the service") },
  };
}

function inPath(name: string, description: string): Json {
  return { name, in: "path", required: true, schema: { type: "string" }, description };
}

const DESCRIPTION =
  "Conversational speech: text to speech, and conversations completed aloud.\n\n" +
  "Every response has the header `X-Request-ID`, which echoes the client's if it consists of 1 to 128 visible ASCII " +
  "characters, and the rate-limit headers. The body of every 4xx and 5xx response is an `ErrorEnvelope`. An unknown path " +
  "gets 404 (`NotFound`), a method that its path does not support gets 405 (`MethodNotAllowed`); HEAD works wherever " +
  "GET does. Retry 429 and 502 after `Retry-After`: a failed call commits no usage.\n\n" +
  "A body that matches its schema may still be refused with 400 for what it contains: an unknown model or voice, text with nothing " +
  "to speak, audio that cannot be decoded, an unknown language, a translation that the recogniser cannot do, or a broken " +
  "rule about turns.";
