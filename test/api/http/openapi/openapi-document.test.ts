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
import { dataOf, type Reply, readEvents } from "../wire.ts";

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

  interface JsonBody {
    readonly schema: { readonly $ref: string };
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  }
  type Described = { post?: { requestBody: { content: { "application/json"?: JsonBody } } } };

  /** The errors of a value by a schema of the document; empty if it is valid. */
  function faults(schema: string, value: unknown): string {
    const validate = ajv.compile({ $ref: `document#/components/schemas/${schema}` });
    return validate(value) ? "" : `${schema}: ${ajv.errorsText(validate.errors)}`;
  }

  test("is valid OpenAPI 3.1 with valid JSON Schemas", () => {
    // Ajv resolves the dynamic reference to the whole document instead of a schema.
    const text = readFileSync(join(TOP, "test/golden/openapi/schema-3.1.json"), "utf8");
    const schema = JSON.parse(text.replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"'));
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    const isValid: (value: object) => boolean = validate;
    assert.ok(isValid(document), ajv.errorsText(validate.errors));
    assert.ok(!isValid({ ...document, paths: { "/": { get: { responses: { 200: { content: {} } } } } } }));
    for (const [name, component] of Object.entries<object>(document.components.schemas)) {
      assert.ok(ajv.validateSchema(component), `${name}: ${ajv.errorsText()}`);
      ajv.compile({ $ref: `document#/components/schemas/${name}` });
    }
  });

  test("has unique operation ids, known tags, and enums for choices of words", () => {
    type Operation = { operationId?: string; tags?: string[] };
    const operations = Object.values<Record<string, Operation>>(document.paths).flatMap(Object.values);
    const ids = operations.map(({ operationId }) => operationId);
    assert.ok(!ids.includes(undefined));
    const known = document.tags.map(({ name }: { name: string }) => name);
    for (const { operationId, tags = [] } of operations)
      assert.ok(tags.length > 0 && tags.every((tag: string) => known.includes(tag)), operationId);
    assert.equal(new Set(ids).size, ids.length);
    const text = JSON.stringify(document);
    assert.deepEqual([...text.matchAll(/"(?:anyOf|oneOf)":\[\{[^{}]*"const":.{40}/g)].map(String), []);
  });

  test("has examples that match their schemas and that the server answers", async () => {
    let spoken = 0;
    for (const [path, { post }] of Object.entries<Described>(document.paths)) {
      const json = post?.requestBody.content["application/json"];
      for (const [name, { value }] of Object.entries(json?.examples ?? {})) {
        assert.equal(faults(json!.schema.$ref.split("/").at(-1)!, value), "", `${path} ${name}`);
        const response = await server.post(path, value);
        assert.equal(response.status, 200, `${path} ${name}: ${await response.text()}`);
        spoken++;
      }
    }
    assert.ok(spoken >= 13, `${spoken}`);
  });

  test("allows null where the server does, and describes the lists", async () => {
    const optional = ["model", "voice", "response_format", "speed", "stream_format", "lexicon"];
    const unset = Object.fromEntries(optional.map((name) => [name, null]));
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
      assert.equal(faults(dataSchemaOf(discriminator.mapping[event]), data), "");
    }
    assert.notEqual(faults("ConverseStreamEvent", { event: "other", data: "{}" }), "");
  });

  test("describes every event of a stream for OpenAI's clients", async () => {
    const body = { model: "tts-1", input: "Hi.", stream_format: "sse" };
    const validate = eventValidator("SpeechStreamEvent");
    for (const event of await dataOf(await server.post("/v1/audio/speech", body)))
      assert.ok(validate(event), JSON.stringify(event));
    const error = { type: "inference_error", message: "the voice failed: retry", request_id: null };
    assert.ok(validate({ type: "error", error }));
    assert.ok(!validate({ type: "error", message: "the voice failed: retry" }));
  });

  for (const [path, schemaName, verbose, send] of [
    ["/v1/audio/transcriptions", "AudioTranscriptionRequest", "VerboseTranscription", transcribe],
    ["/v1/audio/translations", "AudioTranslationRequest", "VerboseTranslation", translate],
  ] as const)
    test(`describes the forms and replies of ${path}`, async () => {
      const { schema, examples } = document.paths[path].post.requestBody.content["multipart/form-data"];
      assert.equal(schema.$ref, `#/components/schemas/${schemaName}`);
      for (const { value } of Object.values<{ value: Record<string, string> }>(examples)) {
        assert.equal(faults(schemaName, value), "");
        const file = new Blob([Buffer.from(value.file!, "base64")]);
        const reply = await send(server, { ...value, file });
        const answer = await reply.json();
        assert.equal(reply.status, 200, JSON.stringify(answer));
        assert.equal(faults("segments" in answer ? verbose : "Transcription", answer), "");
      }
    });

  test("describes the events of a transcription", async () => {
    const events = await dataOf(await transcribe(server, { stream: "true" }));
    assert.ok(events.length >= 3);
    const validate = eventValidator("TranscriptStreamEvent");
    for (const event of events) assert.ok(validate(event), JSON.stringify(event));
  });

  test("rejects only values that the server rejects too", async () => {
    const message = { type: "voice-request", text: "Hi.", sampleRate: 7 };
    const bodies: [string, string, object][] = [
      ["/v1/tts", "TtsRequest", { text: "Hi.", speaker: "2" }],
      ["/v1/tts", "TtsRequest", { text: " \n" }],
      ["/v1/converse", "ConverseRequest", { conversation: [{ speaker: " ", text: "Hi." }] }],
      ["/v1/converse", "ConverseRequest", { conversation: [{ text: "Hi." }], voices: { " ": "nova" } }],
      ["/v1/audio/speech", "AudioSpeechRequest", { model: "tts-1", input: "Hi.", voice: "" }],
      ["/v1/audio/speech", "AudioSpeechRequest", { model: "tts-1", input: "Hi.", response_format: "aac" }],
      ["/v1/audio/speech", "AudioSpeechRequest", { model: "tts-1", input: "\t" }],
      ["/v1/audio/telephony", "TelephonyRequest", { text: "\t" }],
      ["/v1/audio/telephony", "TelephonyRequest", { message }],
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

  /** The name of the schema of an event's data. */
  function dataSchemaOf(reference: string): string {
    const { data } = document.components.schemas[reference.split("/").at(-1)!].properties;
    return data.contentSchema.$ref.split("/").at(-1);
  }

  /** Validates the data of a schema's events. */
  function eventValidator(schema: string) {
    const { oneOf } = document.components.schemas[schema].properties.data.contentSchema;
    return ajv.compile({ oneOf: oneOf.map(({ $ref }: { $ref: string }) => ({ $ref: `document${$ref}` })) });
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

  /** Headers of HTTP itself and of CORS. */
  const OF_HTTP = /^(?:content-(?:type|length|encoding)|date|connection|keep-alive|transfer-encoding)$/;
  const OF_BROWSERS = /^(?:access-control-.*|vary)$/;

  interface Header {
    readonly required?: boolean;
  }

  /** The headers of a response in the document, by lower-case name. */
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

  /** Checks a response's headers against the document and returns their names. */
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
      // WebSocket routes answer a plain GET with 426.
      if (document.paths[path].get === undefined) continue;
      const status = 426 in document.paths[path].get.responses ? 426 : 200;
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
    const script = "Anna: Hi.\nBen: [voice:1] Ho.";
    for (const stream_format of ["audio", "sse"]) await post("/v1/audio/dialogue", { script, stream_format });
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
    const unseen = all.filter((name) => !seen.has(name));
    assert.deepEqual(unseen, [], "every described header was sent");
  });
});
