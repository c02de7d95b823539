import { SpeechAudioDelta, SpeechAudioDone, SpeechAudioError } from "../contract/audio-speech.ts";
import {
  AudioTranscriptionRequest,
  TranscriptError,
  Transcription,
  TranscriptTextDelta,
  TranscriptTextDone,
  VerboseTranscription,
} from "../contract/audio-transcriptions.ts";
import { AudioTranslationRequest, VerboseTranslation } from "../contract/audio-translations.ts";
import { AudioEvent, EndEvent, ErrorEvent, MetaEvent } from "../contract/events.ts";
import {
  AudioModelList,
  ConverseResponse,
  Health,
  Info,
  ModelCard,
  ModelList,
  TtsResponse,
  UsageSummary,
} from "../contract/replies.ts";
import { VoiceList } from "../contract/voices.ts";
import { KEY_HEADERS } from "./headers.ts";
import {
  CONVERSE_EXAMPLES,
  SPEECH_EXAMPLES,
  TELEPHONY_EXAMPLES,
  TRANSCRIPTION_EXAMPLES,
  TRANSLATION_EXAMPLES,
  TTS_EXAMPLES,
} from "./openapi/body-examples.ts";
import { componentsOf, type Json } from "./openapi/components.ts";
import { eventStream, namedEvents, unnamedEvents } from "./openapi/event-schemas.ts";
import { generation, list, lookUp, open, page, probe, query, switchable } from "./openapi/operations.ts";
import { realtimePaths } from "./openapi/realtime-operations.ts";
import {
  publishedCall,
  publishedConverse,
  publishedSpeech,
  publishedTts,
  telephonyQuery,
} from "./openapi/request-schemas.ts";
import { failureResponses, HEADERS, json, STREAMED } from "./openapi/responses.ts";
import { TELEPHONY_RATES } from "./routes/audio-telephony.ts";
import { MEDIA_TYPES } from "./speech-forms.ts";

/** The OpenAPI 3.1 document of the service, made from the schemas that its bodies are checked against. */
export function openApiDocument(): Json {
  const { ref, schemas } = componentsOf();
  const bytes = { schema: { type: "string", format: "binary" } };
  const audio = Object.fromEntries(Object.values(MEDIA_TYPES).map((type) => [type, bytes]));
  const events = ref(
    namedEvents("ConverseStreamEvent", {
      meta: MetaEvent,
      audio: AudioEvent,
      end: EndEvent,
      error: ErrorEvent,
    }),
  );
  const speechEvents = ref(
    unnamedEvents("SpeechStreamEvent", [SpeechAudioDelta, SpeechAudioDone, SpeechAudioError]),
  );
  const transcriptEvents = ref(
    unnamedEvents("TranscriptStreamEvent", [TranscriptTextDelta, TranscriptTextDone, TranscriptError]),
  );
  const text = { schema: { type: "string" } };
  const captions = { "text/plain": text, "application/x-subrip": text, "text/vtt": text };
  const responses = failureResponses(ref);
  return {
    openapi: "3.1.0",
    info: {
      title: "Antiphon",
      version: "0.1.0",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [
      {
        name: "speech",
        description: "What speaks and listens. Each call takes one token from the key's bucket.",
      },
      { name: "queries", description: "What can be asked for, and what was used." },
      {
        name: "operations",
        description: "For people and machines that look after the server. No key needed.",
      },
    ],
    paths: {
      "/v1/tts": {
        post: generation("textToSpeech", "Text to speech", {
          body: ref(publishedTts),
          examples: TTS_EXAMPLES,
          content: json(ref(TtsResponse)),
        }),
      },
      "/v1/converse": {
        post: generation("converse", "Complete the open turn", {
          body: ref(publishedConverse),
          examples: CONVERSE_EXAMPLES,
          content: json(ref(ConverseResponse)),
        }),
      },
      "/v1/converse/stream": {
        post: generation("converseStream", "Complete the open turn, streamed", {
          body: ref(publishedConverse),
          examples: CONVERSE_EXAMPLES,
          content: eventStream(events),
          headers: STREAMED,
          description:
            "Server-sent events: one `meta`, then `audio` for every frame of 80 ms, then one `end` or `error`. " +
            "Each has its `data` in one line of JSON. An `audio` event has the `words` that begin in it, and `end` has all " +
            "of them in `meta`. Comment lines keep the connection alive. Speech comes at most `limits.max_ahead_seconds` " +
            "of `GET /v1/info` ahead of who plays it as it comes; with the header `X-Antiphon-Pace: own`, as fast as it " +
            "is taken.",
        }),
      },
      "/v1/audio/speech": {
        post: generation("createSpeech", "Text to speech, as in OpenAI's API", {
          body: ref(publishedSpeech),
          examples: SPEECH_EXAMPLES,
          content: { ...audio, ...eventStream(speechEvents) },
          headers: ["X-Antiphon-Speed", "X-Antiphon-Stop", ...STREAMED],
          description:
            "The bytes of the audio in `response_format`, or with `stream_format` `sse` server-sent events without " +
            "names: deltas, then one done. A failure midway is an event with an `error`, and cuts the connection " +
            "where the reply is bytes.",
        }),
      },
      "/v1/audio/transcriptions": {
        post: generation("createTranscription", "What is said in a recording, as in OpenAI's API", {
          body: ref(AudioTranscriptionRequest),
          mediaType: "multipart/form-data",
          examples: TRANSCRIPTION_EXAMPLES,
          content: {
            ...json({ anyOf: [ref(Transcription), ref(VerboseTranscription)] }),
            ...captions,
            ...eventStream(transcriptEvents),
          },
          headers: STREAMED,
          description:
            "The transcript in `response_format`, or with `stream` server-sent events without names: deltas, then one " +
            "done. A recording that is not listened to from beginning to end has `heard_seconds`.",
        }),
      },
      "/v1/audio/translations": {
        post: generation("createTranslation", "What is said in a recording, in English, as in OpenAI's API", {
          body: ref(AudioTranslationRequest),
          mediaType: "multipart/form-data",
          examples: TRANSLATION_EXAMPLES,
          content: { ...json({ anyOf: [ref(Transcription), ref(VerboseTranslation)] }), ...captions },
          description:
            "The translation in `response_format`. English is written as it is said. A recording that is not listened " +
            "to from beginning to end has `heard_seconds`. A recogniser that cannot translate is answered with 400.",
        }),
      },
      "/v1/audio/telephony": {
        post: generation(
          "speakCall",
          "Text to speech, as telephony platforms ask a voice of one's own for it",
          {
            body: ref(publishedCall),
            parameters: telephonyQuery,
            examples: TELEPHONY_EXAMPLES,
            content: {
              "application/octet-stream": bytes,
              "audio/mpeg": bytes,
              ...Object.fromEntries(TELEPHONY_RATES.map((rateHz) => [`audio/l16;rate=${rateHz}`, bytes])),
            },
            headers: STREAMED,
            description:
              "To Vapi bare samples, 16-bit little-endian and mono, at the rate that it asks for; to jambonz an MP3, or " +
              "bare samples at the query's `rate`. As they are spoken.",
          },
        ),
      },
      ...realtimePaths(ref),
      "/v1/audio/voices": { get: list("listVoices", "List voices", ref(VoiceList)) },
      "/v1/audio/models": { get: list("listAudioModels", "List models that speak", ref(AudioModelList)) },
      "/v1/models": { get: query("listModels", "List public models", ref(ModelList)) },
      "/v1/models/{id}": {
        get: lookUp("getModel", "One public model", ref(ModelCard), {
          name: "id",
          in: "path",
          required: true,
          schema: { type: "string" },
          description: "A public model id; `tts-1`, `tts-1-hd` and `gpt-4o-mini-tts` are the default model.",
        }),
      },
      "/v1/info": { get: query("getInfo", "Backend, defaults and limits", ref(Info)) },
      "/v1/usage": { get: query("getUsage", "Running totals of the calling key", ref(UsageSummary)) },
      "/health": { get: open("getHealth", "Liveness", json(ref(Health))) },
      "/ready": { get: probe("getReady", "Whether requests may be sent here", json(ref(Health))) },
      "/metrics": { get: switchable(open("getMetrics", "Prometheus metrics", { "text/plain": text })) },
      "/openapi.json": { get: open("getOpenApi", "This document", json({ type: "object" })) },
      "/docs": { get: page("getDocs", "This document, for people") },
      "/": { get: switchable(page("getPlayground", "A page to try the service by")) },
    },
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The API key. Decides where others are sent, too.",
        },
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: `The API key. ${KEY_HEADERS.slice(1).join(", ")} are taken, too; of several the first in that order.`,
        },
      },
      headers: HEADERS,
      responses,
      schemas,
    },
  };
}

const DESCRIPTION =
  "Conversational speech: text to speech, and conversations completed aloud.\n\n" +
  "Every response carries `X-Request-ID`, which is the client's own where it sent one of 1 to 128 visible ASCII " +
  "characters, and the rate-limit headers. Every 4xx and 5xx has the body `ErrorEnvelope`. A path that is not here " +
  "gets 404 (`NotFound`), a method that its path does not have gets 405 (`MethodNotAllowed`); HEAD works wherever " +
  "GET does. Retry 429 and 502 after `Retry-After`: a failed call commits nothing.\n\n" +
  "A body that matches its schema may still be refused with 400 for what it means: a model that is not offered, text " +
  "with nothing to speak, audio that cannot be decoded, a language that nobody knows, a translation that nobody makes, or a broken rule about turns.";
