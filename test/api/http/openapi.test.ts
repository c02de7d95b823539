import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { TOP } from "../../architecture/top.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { transcribe, translate } from "./transcription-form.ts";
import { type Reply, readEvents } from "./wire.ts";

let server: TestServer;
let document: Awaited<ReturnType<Reply["json"]>>;
let ajv: Ajv2020;
before(async () => {
  server = await startTestServer({
    writer: new ScriptedWriter(["It was wonderful."]),
    recogniser: new ScriptedRecogniser(),
  });
  document = await (await server.get("/openapi.json", {})).json();
  ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, "document");
});
after(() => server.stop());

interface Body {
  readonly content: {
    readonly "application/json"?: {
      readonly schema: { readonly $ref: string };
      readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    };
  };
}

/** What is wrong with a value, by a schema of the document's components; empty if nothing is. */
function faults(schema: string, value: unknown): string {
  const validate = ajv.compile({ $ref: `document#/components/schemas/${schema}` });
  return validate(value) ? "" : `${schema}: ${ajv.errorsText(validate.errors)}`;
}

test("the document is an OpenAPI 3.1 document, and every schema in it is a JSON Schema", () => {
  // Ajv resolves the dynamic reference to the whole document, where a schema is meant.
  const text = readFileSync(join(TOP, "test/golden/openapi/schema-3.1.json"), "utf8");
  const schema = JSON.parse(text.replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"'));
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const isValid: (value: object) => boolean = validate;
  assert.ok(isValid(document), ajv.errorsText(validate.errors));
  assert.ok(!isValid({ ...document, paths: { "/": { get: { responses: { 200: { content: {} } } } } } }));
  for (const [name, component] of Object.entries<object>(document.components.schemas)) {
    assert.ok(ajv.validateSchema(component), `${name}: ${ajv.errorsText()}`);
  }
});

test("every operation has a name of its own, and a choice among words is an enum, as generators want them", () => {
  const operations = Object.values<Record<string, { operationId?: string; tags?: string[] }>>(
    document.paths,
  ).flatMap(Object.values);
  const ids = operations.map(({ operationId }) => operationId);
  assert.ok(!ids.includes(undefined));
  const known = document.tags.map(({ name }: { name: string }) => name);
  for (const { operationId, tags = [] } of operations) {
    assert.ok(tags.length > 0 && tags.every((tag: string) => known.includes(tag)), operationId);
  }
  assert.equal(new Set(ids).size, ids.length);
  const text = JSON.stringify(document);
  assert.deepEqual([...text.matchAll(/"(?:anyOf|oneOf)":\[\{[^{}]*"const":.{40}/g)].map(String), []);
});

test("every example of a body matches its schema, and the server speaks it", async () => {
  let spoken = 0;
  for (const [path, { post }] of Object.entries<{ post?: { requestBody: Body } }>(document.paths)) {
    if (post === undefined) continue;
    const json = post.requestBody.content["application/json"];
    if (json === undefined) continue;
    const { schema, examples } = json;
    for (const [name, { value }] of Object.entries(examples)) {
      assert.equal(faults(schema.$ref.split("/").at(-1)!, value), "", `${path} ${name}`);
      const response = await server.post(path, value);
      assert.equal(response.status, 200, `${path} ${name}: ${await response.text()}`);
      spoken++;
    }
  }
  assert.ok(spoken >= 13, `${spoken}`);
});

test("null is said to be taken where it is, and the lists are as the document says", async () => {
  const unset = {
    model: null,
    voice: null,
    response_format: null,
    speed: null,
    stream_format: null,
    lexicon: null,
  };
  assert.equal(faults("AudioSpeechRequest", { input: "Hi.", ...unset }), "");
  assert.notEqual(faults("AudioSpeechRequest", { input: null }), "");
  assert.equal(faults("TelephonyRequest", { text: "Hi.", voice: null, language: null, type: null }), "");
  for (const path of ["/v1/audio/voices", "/v1/audio/models", "/v1/models"]) {
    const { $ref } = document.paths[path].get.responses[200].content["application/json"].schema;
    assert.equal(faults($ref.split("/").at(-1), await (await server.get(path)).json()), "", path);
  }
  assert.equal(faults("ModelCard", await (await server.get("/v1/models/svc-atom-beta-v0.1")).json()), "");
});

test("every event of a stream is one that the document describes, and so is what its data holds", async () => {
  const conversation = [{ text: "Hello there." }];
  const events = await readEvents(await server.post("/v1/converse/stream", { conversation }));
  assert.ok(events.length > 3);
  const { oneOf, discriminator } = document.components.schemas.ConverseStreamEvent;
  assert.equal(oneOf.length, 4);
  for (const { event, data } of events) {
    const text = JSON.stringify(data);
    assert.equal(faults("ConverseStreamEvent", { event, data: text }), "");
    assert.equal(faults(dataOf(discriminator.mapping[event]), data), "");
  }
  assert.notEqual(faults("ConverseStreamEvent", { event: "other", data: "{}" }), "");
});

test("so is every event of a stream for OpenAI's clients", async () => {
  const reply = await server.post("/v1/audio/speech", { model: "tts-1", input: "Hi.", stream_format: "sse" });
  const events = (await reply.text()).trim().split("\n\n");
  const { data } = document.components.schemas.SpeechStreamEvent.properties;
  const validate = ajv.compile({ oneOf: inDocument(data.contentSchema.oneOf) });
  for (const event of events) assert.ok(validate(JSON.parse(event.replace("data: ", ""))), event);
  const error = { type: "inference_error", message: "the voice failed: retry", request_id: null };
  assert.ok(validate({ type: "error", error }));
  assert.ok(!validate({ type: "error", message: "the voice failed: retry" }));
});

test("every form to transcribe is as the document says, and so are its answers and events", async () => {
  const { content } = document.paths["/v1/audio/transcriptions"].post.requestBody;
  const { schema, examples } = content["multipart/form-data"];
  assert.equal(schema.$ref, "#/components/schemas/AudioTranscriptionRequest");
  for (const { value } of Object.values<{ value: Record<string, string> }>(examples)) {
    assert.equal(faults("AudioTranscriptionRequest", value), "");
    const { file, ...fields } = value;
    const blob = new Blob([Buffer.from(file!, "base64")]);
    const reply = await transcribe(server, { ...fields, file: blob });
    const answer = await reply.json();
    assert.equal(reply.status, 200, JSON.stringify(answer));
    const name = "segments" in answer ? "VerboseTranscription" : "Transcription";
    assert.equal(faults(name, answer), "");
    const streamed = await transcribe(server, { model: value.model, stream: "true" });
    const events = (await streamed.text()).trim().split("\n\n");
    const { data } = document.components.schemas.TranscriptStreamEvent.properties;
    const validate = ajv.compile({ oneOf: inDocument(data.contentSchema.oneOf) });
    const told = events.filter((event) => !event.startsWith(":"));
    assert.ok(told.length >= 3);
    for (const event of told) assert.ok(validate(JSON.parse(event.replace("data: ", ""))), event);
  }
});

test("every form to translate is as the document says, and so are its answers", async () => {
  const { content } = document.paths["/v1/audio/translations"].post.requestBody;
  const { schema, examples } = content["multipart/form-data"];
  assert.equal(schema.$ref, "#/components/schemas/AudioTranslationRequest");
  for (const { value } of Object.values<{ value: Record<string, string> }>(examples)) {
    assert.equal(faults("AudioTranslationRequest", value), "");
    const blob = new Blob([Buffer.from(value.file!, "base64")]);
    const reply = await translate(server, { ...value, file: blob });
    const answer = await reply.json();
    assert.equal(reply.status, 200, JSON.stringify(answer));
    assert.equal(faults("segments" in answer ? "VerboseTranslation" : "Transcription", answer), "");
  }
});

test("what the document refuses beyond the server's own schema, the server refuses as meaningless", async () => {
  const bodies: [string, string, object][] = [
    ["/v1/tts", "TtsRequest", { text: "Hi.", speaker: "2" }],
    ["/v1/tts", "TtsRequest", { text: " \n" }],
    ["/v1/converse", "ConverseRequest", { conversation: [{ speaker: "alloy", text: "Hi." }] }],
    ["/v1/converse", "ConverseRequest", { conversation: [{ text: "Hi." }], voices: { "2": "nova" } }],
    ["/v1/audio/speech", "AudioSpeechRequest", { model: "tts-1", input: "Hi.", voice: "" }],
    ["/v1/audio/speech", "AudioSpeechRequest", { model: "tts-1", input: "Hi.", response_format: "aac" }],
    ["/v1/audio/speech", "AudioSpeechRequest", { model: "tts-1", input: "\t" }],
    ["/v1/audio/telephony", "TelephonyRequest", { text: "\t" }],
    [
      "/v1/audio/telephony",
      "TelephonyRequest",
      { message: { type: "voice-request", text: "Hi.", sampleRate: 7 } },
    ],
  ];
  for (const [path, schema, body] of bodies) {
    assert.notEqual(faults(schema, body), "", JSON.stringify(body));
    assert.equal((await server.post(path, body)).status, 400, JSON.stringify(body));
  }
});

test("every public model has the speakers that the document names", () => {
  const { speaker } = document.components.schemas.TtsRequest.properties;
  for (const { card } of PUBLIC_MODELS) assert.deepEqual(card.speakers, speaker.enum, card.id);
});

/** The name of the schema that the data of an event is said to have. */
function dataOf(reference: string): string {
  const { data } = document.components.schemas[reference.split("/").at(-1)!].properties;
  return data.contentSchema.$ref.split("/").at(-1);
}

function inDocument(references: readonly { $ref: string }[]): { $ref: string }[] {
  return references.map(({ $ref }) => ({ $ref: `document${$ref}` }));
}
