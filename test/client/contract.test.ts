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

/** Compiles only if the first type is assignable to the second. */
type Assignable<From extends To, To> = readonly [From, To];

/** Requests: the client's are valid in the contract. */
export type Sent = [
  Assignable<client.GenParams, GenParams>,
  Assignable<client.TtsRequest, requests.TtsRequest>,
  Assignable<client.ConversationTurn, requests.ConversationTurn>,
  Assignable<Plain<client.ConverseRequest>, requests.ConverseRequest>,
  Assignable<client.SpeechRequest, speech.AudioSpeechRequest>,
  Assignable<client.TranscriptFormat, transcripts.TranscriptFormat>,
];

/** Responses: the contract's are valid in the client. */
export type Got = [
  Assignable<replies.TtsResponse, client.TtsReply>,
  Assignable<replies.ConverseResponse, client.ConverseReply>,
  Assignable<replies.ModelEntry, client.ModelCard>,
  Assignable<replies.UsageSummary, client.UsageSummary>,
  Assignable<Voice, client.Voice>,
  Assignable<voices.CreatedVoice, client.CreatedVoice>,
  Assignable<voices.DeletedVoice, client.DeletedVoice>,
  Assignable<events.MetaEvent, client.MetaEvent>,
  Assignable<events.AudioEvent, client.AudioEvent>,
  Assignable<events.EndEvent, client.EndEvent>,
  Assignable<transcripts.Transcription, client.Transcription>,
  Assignable<transcripts.VerboseTranscription, client.VerboseTranscription>,
  Assignable<ErrorType, client.AntiphonErrorType>,
];

/** A type with mutable arrays, as the contract has them. */
type Plain<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };
type Optional<T> = {
  [K in keyof Named<T>]-?: Record<never, never> extends Pick<T, K> ? K : never;
}[keyof Named<T>];
type Words<S extends string> = S extends `${infer First} ${infer Rest}`
  ? First | Words<Rest>
  : S extends ""
    ? never
    : S;
type Exactly<Names, Wanted> = [Names, Wanted] extends [Wanted, Names] ? unknown : never;

/** The fields of a type, required and optional, which the compiler keeps complete: `true` for a required one. */
const fields =
  <T>() =>
  <const R extends string, const O extends string>(
    required: R & Exactly<Words<R>, Exclude<keyof Named<T>, Optional<T>>>,
    optional: O & Exactly<Words<O>, Optional<T>>,
  ): Readonly<Record<string, boolean>> => ({
    ...Object.fromEntries(required.split(" ").flatMap((name) => (name ? [[name, true]] : []))),
    ...Object.fromEntries(optional.split(" ").flatMap((name) => (name ? [[name, false]] : []))),
  });

const SENT = {
  GenParams: fields<client.GenParams>()(
    "",
    "temperature acoustic_temperature top_k repetition_penalty penalty_window max_new_tokens audio_quality",
  ),
  TtsRequest: fields<client.TtsRequest>()(
    "text",
    "speaker voice language model params lexicon input_type visemes",
  ),
  ConversationTurn: fields<client.ConversationTurn>()("", "speaker text audio_wav_b64"),
  ConverseRequest: fields<client.ConverseRequest>()(
    "conversation",
    "voices language model params lexicon input_type visemes instructions",
  ),
  AudioSpeechRequest: fields<client.SpeechRequest>()(
    "input",
    "model voice language response_format speed loudness lexicon input_type visemes",
  ),
  NewVoiceForm: fields<client.NewVoice>()("name audio_sample consent", "ref_text description"),
  AudioTranscriptionRequest: fields<client.TranscriptionRequest>()(
    "file",
    "model language prompt response_format timestamp_granularities",
  ),
};

/** Fields that the client does not offer, because it has other ways or they do nothing here. */
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
  Usage: fields<client.Usage>()("input_chars input_audio_seconds output_audio_seconds", ""),
  AudioPayload: fields<client.AudioPayload>()("sample_rate audio_quality data_b64 format", ""),
  TtsResponse: fields<client.TtsReply>()("request_id model text audio usage", "meta"),
  ConverseResponse: fields<client.ConverseReply>()("request_id model reply usage", "meta"),
  ConverseReply: fields<client.ConverseReply["reply"]>()("speaker text", "audio"),
  ModelCard: fields<client.ModelCard>()(
    "id display_name modes speakers default description object created owned_by",
    "",
  ),
  Voice: fields<client.Voice>()(
    "id name description aliases sex language accent models mixes owner",
    "sample created_at seconds trust cautions",
  ),
  CreatedVoice: fields<client.CreatedVoice>()(
    "id object type name description created_at consent ref_text seconds trust cautions",
    "",
  ),
  DeletedVoice: fields<client.DeletedVoice>()("id object name deleted", ""),
  Info: fields<client.Info>()("backend defaults limits param_schema", ""),
  UsageSummary: fields<client.UsageSummary>()(
    "input_chars input_audio_seconds output_audio_seconds key_id requests last_request_ts",
    "",
  ),
  MetaEvent: fields<client.MetaEvent>()("request_id model speaker sample_rate format frame_samples", ""),
  AudioEvent: fields<client.AudioEvent>()("pcm_b64 sample_rate index", "words visemes phonemes"),
  EndEvent: fields<client.EndEvent>()("text speaker audio_seconds usage meta", ""),
  Transcription: fields<client.Transcription>()("text languages usage", "heard_seconds"),
  VerboseTranscription: fields<client.VerboseTranscription>()(
    "text languages usage task language duration",
    "heard_seconds segments words",
  ),
};

/** The operations that the client calls, with their schemas. */
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
  test(`the document has ${method.toUpperCase()} ${path} with the client's schemas`, () => {
    const operation = document.paths[path]?.[method];
    assert.ok(operation, "no such operation");
    const sent = JSON.stringify(operation.requestBody ?? null);
    if (request !== null) assert.ok(sent.includes(`#/components/schemas/${request}"`), sent);
    const got = JSON.stringify(operation.responses[200]);
    if (reply !== null) assert.ok(got.includes(`#/components/schemas/${reply}"`), got);
  });
}

/** The fields of a schema: `true` for a required one. */
function published(name: string): Record<string, boolean> {
  const { properties, required = [] } = document.components.schemas[name] ?? assert.fail(`no schema ${name}`);
  return Object.fromEntries(
    Object.keys(properties).map((field) => [field.replace("[]", ""), required.includes(field)]),
  );
}

for (const [name, offers] of Object.entries(SENT)) {
  test(`the client offers the fields of ${name}, and requires those that the document requires`, () => {
    const theirs = published(name);
    const offered = Object.keys(theirs).filter((field) => !NOT_SENT.includes(`${name}.${field}`));
    assert.deepEqual(Object.keys(offers).sort(), offered.sort());
    for (const [field, isRequired] of Object.entries(theirs)) {
      assert.ok(!isRequired || offers[field], `${field} is required`);
    }
  });
}

for (const [name, known] of Object.entries(GOT)) {
  test(`the client knows every field of ${name} and relies on no optional one`, () => {
    const theirs = published(name);
    assert.deepEqual(
      Object.keys(theirs).filter((field) => !(field in known)),
      [],
    );
    for (const [field, isRequired] of Object.entries(known)) {
      if (isRequired) assert.equal(theirs[field], true, `${field} may be missing`);
    }
  });
}
