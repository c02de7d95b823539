import { SpeechAudioDelta, SpeechAudioDone, SpeechAudioError } from "../../contract/audio-speech.ts";
import {
  AudioTranscriptionRequest,
  AudioTranslationRequest,
  TranscriptError,
  Transcription,
  TranscriptTextDelta,
  TranscriptTextDone,
  VerboseTranscription,
  VerboseTranslation,
} from "../../contract/audio-transcriptions.ts";
import {
  AudioEvent,
  AudioModelList,
  ConverseResponse,
  EndEvent,
  ErrorEvent,
  Health,
  Info,
  MetaEvent,
  ModelCard,
  ModelList,
  TtsResponse,
  UsageSummary,
} from "../../contract/replies.ts";
import { CreatedVoice, DeletedVoice, NewVoiceForm } from "../../contract/voice-form.ts";
import { VOICE_WORDS, VoiceList } from "../../contract/voices.ts";
import { KEY_HEADERS } from "./headers.ts";
import {
  CONVERSE_EXAMPLES,
  NEW_VOICE_EXAMPLES,
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
import { failureResponses, HEADERS, json, STREAMED, UNREAD, WHOLE } from "./openapi/responses.ts";
import { TELEPHONY_RATES } from "./routes/speech.ts";
import { MEDIA_TYPES } from "./speech-reply.ts";

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
        description: "Speech synthesis and recognition. Each call takes one token from the key's bucket.",
      },
      { name: "queries", description: "Available models, server limits, and usage." },
      {
        name: "operations",
        description: "Health checks, metrics and pages. No key needed.",
      },
    ],
    paths: {
      "/v1/tts": {
        post: generation("textToSpeech", "Text to speech", {
          body: ref(publishedTts),
          examples: TTS_EXAMPLES,
          content: json(ref(TtsResponse)),
          headers: WHOLE,
        }),
      },
      "/v1/converse": {
        post: generation("converse", "Complete the open turn", {
          body: ref(publishedConverse),
          examples: CONVERSE_EXAMPLES,
          content: json(ref(ConverseResponse)),
          headers: WHOLE,
        }),
      },
      "/v1/converse/stream": {
        post: generation("converseStream", "Complete the open turn, streamed", {
          body: ref(publishedConverse),
          examples: CONVERSE_EXAMPLES,
          content: eventStream(events),
          headers: [...UNREAD, ...STREAMED],
          description:
            "Server-sent events: one `meta`, then one `audio` for every frame of 80 ms, then one `end` or `error`. " +
            "The `data` of each is one line of JSON. An `audio` event has the `words` that begin in it, and `end` has all " +
            "of them in `meta`. Comment lines keep the connection alive. Speech is sent at most " +
            "`limits.max_ahead_seconds` (see `GET /v1/info`) ahead of real-time playback, or, with the header " +
            "`X-Antiphon-Pace: own`, as fast as the client reads it.",
        }),
      },
      "/v1/audio/speech": {
        post: generation("createSpeech", "Text to speech, as in OpenAI's API", {
          body: ref(publishedSpeech),
          examples: SPEECH_EXAMPLES,
          content: { ...audio, ...eventStream(speechEvents) },
          headers: [
            "X-Antiphon-Speed",
            "X-Antiphon-Manner",
            "X-Antiphon-Cautions",
            "X-Antiphon-Stop",
            ...UNREAD,
            ...STREAMED,
          ],
          description:
            "The audio in `response_format`, or, with `stream_format` `sse`, server-sent events without names: deltas, " +
            "then one done event. A failure midway is sent as an event with an `error`; if the reply is plain audio, the " +
            "connection is closed.",
        }),
      },
      "/v1/audio/transcriptions": {
        post: generation("createTranscription", "Transcribe a recording, as in OpenAI's API", {
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
            "The transcript in `response_format`, or, with `stream`, server-sent events without names: deltas, then one " +
            "done event. `heard_seconds` is present if only part of the recording was transcribed.",
        }),
      },
      "/v1/audio/translations": {
        post: generation("createTranslation", "Translate a recording into English, as in OpenAI's API", {
          body: ref(AudioTranslationRequest),
          mediaType: "multipart/form-data",
          examples: TRANSLATION_EXAMPLES,
          content: { ...json({ anyOf: [ref(Transcription), ref(VerboseTranslation)] }), ...captions },
          description:
            "The translation in `response_format`. English speech is transcribed. `heard_seconds` is present if only part " +
            "of the recording was translated. If the recogniser cannot translate, the status is 400.",
        }),
      },
      "/v1/audio/telephony": {
        post: generation("speakCall", "Text to speech for telephony platforms, as a custom voice", {
          body: ref(publishedCall),
          parameters: telephonyQuery,
          examples: TELEPHONY_EXAMPLES,
          content: {
            "application/octet-stream": bytes,
            "audio/mpeg": bytes,
            ...Object.fromEntries(TELEPHONY_RATES.map((rateHz) => [`audio/l16;rate=${rateHz}`, bytes])),
          },
          headers: ["X-Antiphon-Cautions", ...STREAMED],
          description:
            "For Vapi, raw samples, 16-bit little-endian and mono, at the requested rate; for jambonz, an MP3, or raw " +
            "samples at the query's `rate`. The audio is streamed while it is being spoken.",
        }),
      },
      ...realtimePaths(ref),
      "/v1/audio/voices": {
        get: list("listVoices", "List voices", ref(VoiceList)),
        post: generation("createVoice", "Make a voice of a recording, as in OpenAI's API", {
          body: ref(NewVoiceForm),
          mediaType: "multipart/form-data",
          examples: NEW_VOICE_EXAMPLES,
          content: json(ref(CreatedVoice)),
          headers: UNREAD,
          description:
            "The voice, which belongs to the key that made it. Its recording is kept until it is deleted, or the key is " +
            "revoked. The status is 400 if nobody speaks in the recording, or if the key has a voice of that name.",
        }),
      },
      "/v1/audio/voices/{voice}": {
        delete: lookUp("deleteVoice", "Delete a voice of the key's own", ref(DeletedVoice), {
          name: "voice",
          in: "path",
          required: true,
          schema: { type: "string" },
          description: "Its id or name.",
        }),
      },
      "/v1/audio/voices/{voice}/sample": {
        get: generation("getVoiceSample", "Hear a voice", {
          parameters: [
            {
              name: "voice",
              in: "path",
              required: true,
              schema: { type: "string" },
              description: VOICE_WORDS,
            },
            {
              name: "model",
              in: "query",
              schema: { type: "string" },
              description: "A public model id. Absent: the default model.",
            },
          ],
          content: { "audio/mpeg": bytes },
          headers: STREAMED,
          description:
            "A sentence or two in that voice, as if sent to `/v1/audio/speech`: it takes a token, is computed anew each time, " +
            "and is metered. `sample` of `GET /v1/audio/voices` has this address.",
        }),
      },
      "/v1/audio/models": { get: list("listAudioModels", "List speech models", ref(AudioModelList)) },
      "/v1/models": { get: query("listModels", "List public models", ref(ModelList)) },
      "/v1/models/{id}": {
        get: lookUp("getModel", "Get a public model", ref(ModelCard), {
          name: "id",
          in: "path",
          required: true,
          schema: { type: "string" },
          description: "A public model id; `tts-1`, `tts-1-hd` and `gpt-4o-mini-tts` mean the default model.",
        }),
      },
      "/v1/info": { get: query("getInfo", "Backend, defaults and limits", ref(Info)) },
      "/v1/usage": { get: query("getUsage", "Usage totals of the calling key", ref(UsageSummary)) },
      "/health": { get: open("getHealth", "Liveness", json(ref(Health))) },
      "/ready": { get: probe("getReady", "Readiness", json(ref(Health))) },
      "/metrics": { get: switchable(open("getMetrics", "Prometheus metrics", { "text/plain": text })) },
      "/openapi.json": { get: open("getOpenApi", "This document", json({ type: "object" })) },
      "/docs": { get: page("getDocs", "This document as an interactive page") },
      "/": { get: switchable(page("getPlayground", "A page for trying out the service")) },
    },
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The API key. It takes precedence if other headers with a key are sent as well.",
        },
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: `The API key. ${KEY_HEADERS.slice(1).join(", ")} are accepted as well; if several are sent, the first in that order counts.`,
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
  "Every response has the header `X-Request-ID`, which echoes the client's if it consists of 1 to 128 visible ASCII " +
  "characters, and the rate-limit headers. The body of every 4xx and 5xx response is an `ErrorEnvelope`. An unknown path " +
  "gets 404 (`NotFound`), a method that its path does not support gets 405 (`MethodNotAllowed`); HEAD works wherever " +
  "GET does. Retry 429 and 502 after `Retry-After`: a failed call commits no usage.\n\n" +
  "A body that matches its schema may still be refused with 400 for what it contains: an unknown model or voice, text with nothing " +
  "to speak, audio that cannot be decoded, an unknown language, a translation that the recogniser cannot do, or a broken " +
  "rule about turns.";
