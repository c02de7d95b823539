import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type * as client from "../../src/client/antiphon.ts";
import type * as speech from "../../src/contract/audio-speech.ts";
import type * as transcripts from "../../src/contract/audio-transcriptions.ts";
import type { ErrorType } from "../../src/contract/errors.ts";
import type { GenParams } from "../../src/contract/params.ts";
import type * as events from "../../src/contract/replies.ts";
import type * as replies from "../../src/contract/replies.ts";
import type * as requests from "../../src/contract/requests.ts";
import type * as voices from "../../src/contract/voice-form.ts";
import type { Voice } from "../../src/contract/voices.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import type { Reply } from "../api/http/wire.ts";

/** A pair of types, of which the compiler holds that whatever is of the first is of the second. */
type Held<From extends To, To> = readonly [From, To];

/** What the client sends, the contract takes. */
export type Sent = [
  Held<client.GenParams, GenParams>,
  Held<client.TtsRequest, requests.TtsRequest>,
  Held<client.ConversationTurn, requests.ConversationTurn>,
  Held<Plain<client.ConverseRequest>, requests.ConverseRequest>,
  Held<client.SpeechRequest, speech.AudioSpeechRequest>,
  Held<client.TranscriptFormat, transcripts.TranscriptFormat>,
];

/** What the contract answers, the client takes. */
export type Got = [
  Held<replies.TtsResponse, client.TtsReply>,
  Held<replies.ConverseResponse, client.ConverseReply>,
  Held<replies.ModelEntry, client.ModelCard>,
  Held<replies.UsageSummary, client.UsageSummary>,
  Held<Voice, client.Voice>,
  Held<voices.CreatedVoice, client.CreatedVoice>,
  Held<voices.DeletedVoice, client.DeletedVoice>,
  Held<events.MetaEvent, client.MetaEvent>,
  Held<events.AudioEvent, client.AudioEvent>,
  Held<events.EndEvent, client.EndEvent>,
  Held<transcripts.Transcription, client.Transcription>,
  Held<transcripts.VerboseTranscription, client.VerboseTranscription>,
  Held<ErrorType, client.AntiphonErrorType>,
];

/** An array that may be written to, as the contract's types have it; nobody writes to it. */
type Plain<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** The fields of a type, which the compiler keeps complete: `true` where the field is always there. */
type FieldsOf<T> = {
  readonly [K in keyof Named<T>]-?: Record<never, never> extends Pick<T, K> ? false : true;
};
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

const USAGE: FieldsOf<client.Usage> = {
  input_chars: true,
  input_audio_seconds: true,
  output_audio_seconds: true,
};

const SENT = {
  GenParams: {
    temperature: false,
    acoustic_temperature: false,
    top_k: false,
    repetition_penalty: false,
    penalty_window: false,
    max_new_tokens: false,
    audio_quality: false,
  } satisfies FieldsOf<client.GenParams>,
  TtsRequest: {
    text: true,
    speaker: false,
    voice: false,
    model: false,
    params: false,
    lexicon: false,
    input_type: false,
    visemes: false,
  } satisfies FieldsOf<client.TtsRequest>,
  ConversationTurn: {
    speaker: false,
    text: false,
    audio_wav_b64: false,
  } satisfies FieldsOf<client.ConversationTurn>,
  ConverseRequest: {
    conversation: true,
    voices: false,
    model: false,
    params: false,
    lexicon: false,
    input_type: false,
    visemes: false,
    instructions: false,
  } satisfies FieldsOf<client.ConverseRequest>,
  AudioSpeechRequest: {
    model: false,
    input: true,
    voice: false,
    response_format: false,
    speed: false,
    lexicon: false,
    input_type: false,
    visemes: false,
  } satisfies FieldsOf<client.SpeechRequest>,
  NewVoiceForm: {
    name: true,
    audio_sample: true,
    consent: true,
    ref_text: false,
    description: false,
  } satisfies FieldsOf<client.NewVoice>,
  AudioTranscriptionRequest: {
    file: true,
    model: false,
    language: false,
    prompt: false,
    response_format: false,
    timestamp_granularities: false,
  } satisfies FieldsOf<client.TranscriptionRequest>,
};

/** What the document takes and the client does not offer, because it has other ways or it does nothing here. */
const NOT_SENT: readonly string[] = [
  "AudioSpeechRequest.stream_format",
  "AudioSpeechRequest.instructions",
  "AudioTranscriptionRequest.languages",
  "AudioTranscriptionRequest.keywords",
  "AudioTranscriptionRequest.temperature",
  "AudioTranscriptionRequest.stream",
  "AudioTranscriptionRequest.chunking_strategy",
];

const GOT = {
  Usage: USAGE,
  AudioPayload: {
    sample_rate: true,
    audio_quality: true,
    data_b64: true,
    format: true,
  } satisfies FieldsOf<client.AudioPayload>,
  TtsResponse: {
    request_id: true,
    model: true,
    text: true,
    audio: true,
    usage: true,
    meta: false,
  } satisfies FieldsOf<client.TtsReply>,
  ConverseResponse: {
    request_id: true,
    model: true,
    reply: true,
    usage: true,
    meta: false,
  } satisfies FieldsOf<client.ConverseReply>,
  ConverseReply: { speaker: true, text: true, audio: false } satisfies FieldsOf<
    client.ConverseReply["reply"]
  >,
  ModelCard: {
    id: true,
    display_name: true,
    modes: true,
    speakers: true,
    default: true,
    description: true,
    object: true,
    created: true,
    owned_by: true,
  } satisfies FieldsOf<client.ModelCard>,
  Voice: {
    id: true,
    name: true,
    description: true,
    aliases: true,
    sex: true,
    accent: true,
    models: true,
    mixes: true,
    owner: true,
    sample: false,
    created_at: false,
    seconds: false,
    trust: false,
    cautions: false,
  } satisfies FieldsOf<client.Voice>,
  CreatedVoice: {
    id: true,
    object: true,
    type: true,
    name: true,
    description: true,
    created_at: true,
    consent: true,
    ref_text: true,
    seconds: true,
    trust: true,
    cautions: true,
  } satisfies FieldsOf<client.CreatedVoice>,
  DeletedVoice: {
    id: true,
    object: true,
    name: true,
    deleted: true,
  } satisfies FieldsOf<client.DeletedVoice>,
  Info: { backend: true, defaults: true, limits: true, param_schema: true } satisfies FieldsOf<client.Info>,
  UsageSummary: {
    ...USAGE,
    key_id: true,
    requests: true,
    last_request_ts: true,
  } satisfies FieldsOf<client.UsageSummary>,
  MetaEvent: {
    request_id: true,
    model: true,
    speaker: true,
    sample_rate: true,
    format: true,
    frame_samples: true,
  } satisfies FieldsOf<client.MetaEvent>,
  AudioEvent: {
    pcm_b64: true,
    sample_rate: true,
    index: true,
    words: false,
    visemes: false,
    phonemes: false,
  } satisfies FieldsOf<client.AudioEvent>,
  EndEvent: {
    text: true,
    speaker: true,
    audio_seconds: true,
    usage: true,
    meta: true,
  } satisfies FieldsOf<client.EndEvent>,
  Transcription: {
    text: true,
    languages: true,
    usage: true,
    heard_seconds: false,
  } satisfies FieldsOf<client.Transcription>,
  VerboseTranscription: {
    text: true,
    languages: true,
    usage: true,
    heard_seconds: false,
    task: true,
    language: true,
    duration: true,
    segments: false,
    words: false,
  } satisfies FieldsOf<client.VerboseTranscription>,
};

/** What the client calls, and what is sent and answered there. */
const OPERATIONS = [
  ["post", "/v1/tts", "TtsRequest", "TtsResponse"],
  ["post", "/v1/converse", "ConverseRequest", "ConverseResponse"],
  ["post", "/v1/converse/stream", "ConverseRequest", null],
  ["post", "/v1/audio/speech", "AudioSpeechRequest", null],
  ["post", "/v1/audio/transcriptions", "AudioTranscriptionRequest", "Transcription"],
  ["get", "/v1/models", null, "ModelList"],
  ["get", "/v1/audio/voices", null, "VoiceList"],
  ["post", "/v1/audio/voices", "NewVoiceForm", "CreatedVoice"],
  ["delete", "/v1/audio/voices/{voice}", null, "DeletedVoice"],
  ["get", "/v1/info", null, "Info"],
  ["get", "/v1/usage", null, "UsageSummary"],
] as const;

let server: TestServer;
let document: Awaited<ReturnType<Reply["json"]>>;
before(async () => {
  server = await startTestServer();
  document = await (await server.get("/openapi.json", {})).json();
});
after(() => server.stop());

for (const [method, path, request, reply] of OPERATIONS) {
  test(`the document has ${method.toUpperCase()} ${path}, with what the client sends and expects`, () => {
    const operation = document.paths[path]?.[method];
    assert.ok(operation, "it is not there");
    const sent = JSON.stringify(operation.requestBody ?? null);
    if (request !== null) assert.ok(sent.includes(`#/components/schemas/${request}"`), sent);
    const got = JSON.stringify(operation.responses[200]);
    if (reply !== null) assert.ok(got.includes(`#/components/schemas/${reply}"`), got);
  });
}

/** The fields of a schema: whether each is always there. */
function published(name: string): Record<string, boolean> {
  const { properties, required = [] } =
    document.components.schemas[name] ?? assert.fail(`${name} is not there`);
  return Object.fromEntries(
    Object.keys(properties).map((field) => [field.replace("[]", ""), required.includes(field)]),
  );
}

for (const [name, fields] of Object.entries<Readonly<Record<string, boolean>>>(SENT)) {
  test(`the client offers every field of ${name} and no other, and leaves out none that has to be there`, () => {
    const theirs = published(name);
    const offered = Object.keys(theirs).filter((field) => !NOT_SENT.includes(`${name}.${field}`));
    assert.deepEqual(Object.keys(fields).sort(), offered.sort());
    for (const [field, isRequired] of Object.entries(theirs)) {
      assert.ok(!isRequired || fields[field], `${field} has to be there`);
    }
  });
}

for (const [name, fields] of Object.entries<Readonly<Record<string, boolean>>>(GOT)) {
  test(`the client knows every field of ${name}, and counts on none that may be missing`, () => {
    const theirs = published(name);
    assert.deepEqual(
      Object.keys(theirs).filter((field) => !(field in fields)),
      [],
    );
    for (const [field, isCountedOn] of Object.entries(fields)) {
      if (isCountedOn) assert.equal(theirs[field], true, `${field} may be missing`);
    }
  });
}
