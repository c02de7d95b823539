import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Script } from "../../../../src/core/script.ts";
import { PUBLIC_MODELS } from "../../../../src/models/public-models.ts";
import { TOP } from "../../../architecture/top.ts";
import { createToneModel } from "../../../core/tone-model.ts";
import { ScriptedRecogniser } from "../../../recognition/scripted-recogniser.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { transcribe, translate } from "../forms.ts";
import { startTestServer, type TestServer } from "../start.ts";
import { type Reply, readEvents } from "../wire.ts";

describe("The OpenAPI document", () => {
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

  test("is valid OpenAPI 3.1 with valid JSON Schemas", () => {
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

  test("has unique operation ids, known tags, and enums for choices of words", () => {
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

  test("has examples that match their schemas and that the server answers", async () => {
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

  test("allows null where the server does, and describes the lists", async () => {
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

  test("describes every event of a stream and its data", async () => {
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

  test("describes every event of a stream for OpenAI's clients", async () => {
    const reply = await server.post("/v1/audio/speech", {
      model: "tts-1",
      input: "Hi.",
      stream_format: "sse",
    });
    const events = (await reply.text()).trim().split("\n\n");
    const { data } = document.components.schemas.SpeechStreamEvent.properties;
    const validate = ajv.compile({ oneOf: inDocument(data.contentSchema.oneOf) });
    for (const event of events) assert.ok(validate(JSON.parse(event.replace("data: ", ""))), event);
    const error = { type: "inference_error", message: "the voice failed: retry", request_id: null };
    assert.ok(validate({ type: "error", error }));
    assert.ok(!validate({ type: "error", message: "the voice failed: retry" }));
  });

  test("describes transcription forms, replies and events", async () => {
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

  test("describes translation forms and replies", async () => {
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

  test("rejects only values that the server rejects too", async () => {
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

  test("names the speakers of every public model", () => {
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
});

describe("Response headers", () => {
  let server: TestServer;
  let document: Awaited<ReturnType<Reply["json"]>>;
  before(async () => {
    const tone = await createToneModel();
    const cutShort = async () => ({
      speak: (script: Script, signal: AbortSignal) =>
        tone.speak({ ...script, delivery: { ...script.delivery, maxFrames: 16 } }, signal),
      close: async () => {},
    });
    server = await startTestServer({
      checkpoints: [{ name: "heart", memoryBytes: 1, load: cutShort }],
      recogniser: new ScriptedRecogniser(),
      canSpeak: () => true,
      flags: { corsOrigins: "https://app.example" },
    });
    document = await (await server.get("/openapi.json")).json();
  });
  after(() => server.stop());

  /** What HTTP has of its own, and the protocol by which browsers ask for pages of other origins. */
  const OF_HTTP = /^(?:content-(?:type|length|encoding)|date|connection|keep-alive|transfer-encoding)$/;
  const OF_BROWSERS = /^(?:access-control-.*|vary)$/;

  interface Header {
    readonly required?: boolean;
  }

  /** The headers that the document says an answer has, by their names in small letters. */
  function describedFor(path: string, method: string, status: number): Map<string, Header> {
    const [bare = ""] = path.split("?");
    const entry = document.paths[bare.replace(/^(.v1.models.).+/, "$1{id}")];
    const operation = entry?.[method.toLowerCase()];
    const name = entry === undefined ? "NotFound" : operation === undefined ? "MethodNotAllowed" : null;
    const response = resolved(
      name === null ? operation.responses[status] : document.components.responses[name],
    );
    assert.ok(response !== undefined, `${method} ${path} may answer with ${status}`);
    const headers = Object.entries<{ $ref: string }>(response.headers);
    return new Map(headers.map(([header, value]) => [header.toLowerCase(), resolved(value)]));
  }

  // biome-ignore lint/suspicious/noExplicitAny: any part of a document
  function resolved(part: any): any {
    if (part?.$ref === undefined) return part;
    return part.$ref
      .split("/")
      .slice(1)
      .reduce((node: Record<string, unknown>, key: string) => node[key], document);
  }

  /** Holds an answer against the document, and returns the names of its headers. */
  async function held(path: string, method: string, status: number, reply: Reply): Promise<string[]> {
    const what = `${method} ${path} ${status}`;
    assert.equal(reply.status, status, `${what}: ${(await reply.text()).slice(0, 200)}`);
    const described = describedFor(path, method, status);
    const sent = [...reply.headers.keys()];
    for (const name of sent) {
      assert.ok(described.has(name) || OF_HTTP.test(name) || OF_BROWSERS.test(name), `${what} sends ${name}`);
    }
    for (const [name, { required }] of described) {
      assert.ok(required !== true || reply.headers.has(name), `${what} has no ${name}`);
    }
    return sent;
  }

  test("are those in the OpenAPI document", async () => {
    const origin = { Origin: "https://app.example" };
    const auth = { Authorization: `Bearer ${server.key}`, ...origin };
    const seen = new Set<string>();
    const get = async (path: string, status = 200, headers: Record<string, string> = auth) => {
      for (const name of await held(path, "GET", status, await server.get(path, headers))) seen.add(name);
    };
    const post = async (
      path: string,
      body: unknown,
      status = 200,
      headers: Record<string, string> = origin,
    ) => {
      for (const name of await held(path, "POST", status, await server.post(path, body, headers)))
        seen.add(name);
    };
    for (const path of Object.keys(document.paths)) {
      // A WebSocket alone gets another answer there.
      const status = ["/v1/realtime", "/v1/telephony/twilio"].includes(path) ? 426 : 200;
      if (document.paths[path].get === undefined) continue;
      const asked = path.replace("{id}", "tts-1").replace("{voice}", "alloy");
      for (const name of await held(path, "GET", status, await server.get(asked, auth))) seen.add(name);
    }
    for (const path of ["/", "/docs"]) {
      const etag = (await server.get(path)).headers.get("etag")!;
      await get(path, 304, { "If-None-Match": etag });
    }
    await post("/v1/tts", { text: "Hi.", txt: "?" });
    await post("/v1/converse", { conversation: [{ text: "Hi." }] });
    await post("/v1/converse/stream", { conversation: [{ text: "Hi." }] });
    const input = "This is longer than sixteen frames of speech may be.";
    for (const format of ["mp3", "opus", "flac", "wav", "pcm", "mulaw", "alaw"]) {
      for (const stream of [undefined, "audio", "sse"]) {
        const sent = { response_format: format, stream_format: stream };
        await post("/v1/audio/speech", { input, ...sent, speed: 4, instructions: "Calm." });
      }
    }
    await post("/v1/audio/speech", { input: '<speak><lang xml:lang="fr">Bonjour.</lang></speak>' });
    await post("/v1/audio/telephony", { text: "Hi." });
    await post("/v1/audio/telephony?rate=8000", { text: "Hi." });
    for (const response_format of ["json", "verbose_json", "text", "srt", "vtt"]) {
      const reply = await transcribe(server, { response_format });
      await held("/v1/audio/transcriptions", "POST", 200, reply);
      await held("/v1/audio/translations", "POST", 200, await translate(server, { response_format }));
    }
    const streamed = await transcribe(server, { stream: "true" });
    await held("/v1/audio/transcriptions", "POST", 200, streamed);

    await get("/v1/nowhere", 404);
    await get("/v1/models/none", 404);
    await get("/v1/tts", 405);
    await get("/v1/usage", 401, origin);
    await post("/v1/tts", { text: "!" }, 400);
    await post("/v1/tts", {}, 422);
    await post("/v1/tts", {}, 401, { Authorization: "Basic nonsense" });
    await post("/v1/converse", { conversation: [{}] }, 502);
    const poor = await server.tenancy.createKey({ label: "poor", rpm: 1, burst: 1 });
    const spent = { Authorization: `Bearer ${poor.key}` };
    await post("/v1/tts", { text: "Hi." }, 200, spent);
    await post("/v1/tts", { text: "Hi." }, 429, spent);

    const all = Object.keys(document.components.headers).map((name) => name.toLowerCase());
    assert.deepEqual(
      all.filter((name) => !seen.has(name)),
      [],
      "every header that is described was sent",
    );
  });
});
