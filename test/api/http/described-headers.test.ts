import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Script } from "../../../src/core/script.ts";
import { createToneModel } from "../../core/tone-model.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { transcribe, translate } from "./transcription-form.ts";
import type { Reply } from "./wire.ts";

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

test("answers have the headers that the document gives them, and no others", async () => {
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
