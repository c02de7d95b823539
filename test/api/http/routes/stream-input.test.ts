import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CHARACTER_SAMPLES } from "../../../core/tone-model.ts";
import { until } from "../../../waiting.ts";
import { joined, MULTI, SINGLE, type StreamAnswer, StreamClient } from "../../realtime/stream-client.ts";
import { frameGate, startForTest, startTestServer, type TestServer } from "../start.ts";

let server: TestServer;

before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const HELLO = "Hello there, everyone. How is it going today? ";

const bytesOf = (text: string) => 2 * CHARACTER_SAMPLES * text.length;
const speaks = (character: string) => (answer: StreamAnswer) =>
  answer.alignment?.chars.includes(character) === true;
const isFinalOf = (contextId?: string) => (answer: StreamAnswer) =>
  answer.isFinal === true && answer.contextId === contextId;

/** Creates a key whose tokens do not refill within a test. */
async function ownKey(burst = 50) {
  const { key } = await server.tenancy.createKey({ label: "own", rpm: 1, burst });
  return { url: server.url, key, usage: () => server.usage({ "xi-api-key": key }) as Promise<Usage> };
}

interface Usage {
  readonly requests: number;
  readonly input_chars: number;
  readonly output_audio_seconds: number;
}

describe("A stream of text", () => {
  test("is spoken whole, with the times of its characters, and metered once", async () => {
    const own = await ownKey();
    const client = await StreamClient.open(own);
    client.send({ text: " ", voice_settings: { stability: 0.5 }, generation_config: {} });
    for (const text of HELLO.match(/.{1,7}/g)!) client.send({ text, try_trigger_generation: true });
    client.send({ text: "" });
    assert.deepEqual(await client.closing(), { code: 1_000, reason: "" });
    assert.equal(client.audio().length, bytesOf(HELLO.trim()));
    const { isFinal, audio } = client.answers.at(-1)!;
    assert.deepEqual([isFinal, audio], [true, null]);
    const { text, startsMs, endMs } = joined(client.answers.map(({ alignment }) => alignment));
    assert.equal(text, HELLO);
    assert.ok(startsMs.every((ms, index) => Math.abs(ms - 60 * index) <= 60));
    assert.ok(Math.abs(endMs - 60 * HELLO.trim().length) <= 60, `${endMs}`);
    const { requests, output_audio_seconds } = await own.usage();
    assert.deepEqual([requests, output_audio_seconds], [1, (60 * HELLO.trim().length) / 1_000]);
  });

  test("is spoken while it is written, and its pending words on flush", async () => {
    const client = await StreamClient.open(server);
    client.send({ text: "One is here. Two" });
    await client.first("the first sentence", speaks("h"));
    assert.ok(!client.answers.some(speaks("w")));
    client.send({ text: " is", flush: true });
    await client.first("the second", speaks("w"));
    client.socket.terminate();
  });

  test("begins with the first clause of a long sentence, or with any text in auto mode", async () => {
    const client = await StreamClient.open(server);
    client.send(
      { text: "When all of this was over at last, " },
      { text: "nobody could remember how it had be" },
    );
    await client.first("the first clause", speaks("W"));
    const auto = await StreamClient.open(server, { path: `0/${SINGLE}&auto_mode=true` });
    auto.send({ text: "Yes" });
    await auto.first("the only word", speaks("Y"));
    for (const { socket } of [client, auto]) socket.terminate();
  });

  test("without words is no error, and costs nothing", async () => {
    const own = await ownKey();
    const client = await StreamClient.open(own);
    client.send({ text: " " }, { flush: true }, { text: " ", flush: true }, { text: "" });
    await client.closing();
    assert.deepEqual(
      client.answers.map(({ isFinal }) => isFinal),
      [true],
    );
    const silent = await StreamClient.open(own);
    silent.send({ text: "… 👍" }, { text: "" });
    assert.equal((await silent.closing()).code, 1_000);
    assert.equal((await own.usage()).requests, 0);
  });

  test("is metered for what was sent if its client leaves", async () => {
    const own = await ownKey();
    const client = await StreamClient.open(own);
    client.send({ text: "One is here. Two" });
    await client.first("audio", ({ audio }) => audio !== undefined);
    client.socket.terminate();
    await until("a usage record", async () => (await own.usage()).requests === 1);
  });

  test("is encoded in telephone formats and as MP3, the default", async () => {
    for (const [format, first] of [
      ["ulaw_8000", null],
      ["mp3_22050_32", 0xff],
    ] as const) {
      const client = await StreamClient.open(server, { path: `0/stream-input?output_format=${format}` });
      client.send({ text: "Hello.", flush: true }, { text: "" });
      await client.closing();
      const audio = client.audio();
      if (first === null) assert.equal(audio.length, (6 * CHARACTER_SAMPLES) / 3);
      else assert.equal(audio[0], first);
    }
  });

  test("of 10,000 messages at once is slowed, while the server answers others", async () => {
    const client = await StreamClient.open(server);
    for (let count = 0; count < 10_000; count += 1) client.send({ text: "a " });
    await until("the budget to be spent", () => client.socket.bufferedAmount === 0);
    assert.equal((await server.get("/v1/models")).status, 200);
    assert.equal((await server.post("/v1/tts", { text: "Hello." })).status, 200);
    client.socket.terminate();
  });
});

describe("Contexts of one connection", () => {
  test("are spoken at once, each as its own text and usage record", async () => {
    const own = await ownKey();
    const client = await StreamClient.open(own, { path: `0/${MULTI}&sync_alignment=true` });
    for (const context_id of ["a", "b"]) client.send({ text: " ", context_id, voice_settings: {} });
    client.send({ text: "Hello there. ", context_id: "a" }, { text: "Good morning. Good", context_id: "b" });
    client.send({ text: "" }, { text: "", context_id: "b" }, { text: "Bye.", context_id: "a" });
    client.send({ context_id: "a", flush: true }, { context_id: "a", close_context: true });
    await client.first("the end of a", isFinalOf("a"));
    client.send({ text: " night.", context_id: "b" }, { close_socket: true });
    assert.equal((await client.closing()).code, 1_000);
    assert.ok(client.answers.some(isFinalOf("b")));
    assert.equal(client.audio("a").length, bytesOf("Hello there. Bye."));
    assert.equal(client.audio("b").length, bytesOf("Good morning. Good night."));
    const alignments = client.answers.flatMap(({ contextId, normalizedAlignment }) =>
      contextId === "b" && normalizedAlignment ? [normalizedAlignment] : [],
    );
    assert.equal(alignments.flatMap(({ chars }) => chars).join(""), "Good morning. Good night. ");
    const starts = alignments.flatMap(({ charStartTimesMs }) => charStartTimesMs);
    assert.ok(starts.every((ms, index) => Math.abs(ms - 60 * index) <= 60));
    assert.equal((await own.usage()).requests, 2);
  });

  test("end with any error of one: over the key's rate limit, after its close, or beyond five", async (t) => {
    const gate = frameGate();
    const held = await startForTest(t, { tone: gate.tone, burst: 1, rpm: 1 });
    const contexts = ["a", "b", "c", "d", "e", "f"].map((context_id) => ({ text: " ", context_id }));
    const [first, second] = [
      { text: "Hello.", context_id: "a" },
      { text: "Hello.", context_id: "b" },
    ];
    for (const [messages, contextId, error, code] of [
      [[first, { context_id: "a", close_context: true }, first], undefined, "invalid_request", 1_008],
      [[first, second], "a", "rate_limit_exceeded", 1_013],
      [contexts, undefined, "invalid_request", 1_008],
    ] as const) {
      const client = await StreamClient.open(held, { path: `0/${MULTI}` });
      client.send(...messages);
      assert.equal((await client.closing()).code, code);
      assert.deepEqual([client.answers[0]!.contextId, client.answers[0]!.error], [contextId, error]);
    }
    gate.open();
  });
});

describe("A connection", () => {
  test("is refused before the upgrade, with what is valid", async () => {
    const auth = { "xi-api-key": server.key };
    for (const [path, message, headers = auth] of [
      [`nobody/${SINGLE}`, /^voice "nobody" is unknown: the voices are/],
      ["0/stream-input?output_format=pcm_11025", /^output_format must be one of mp3_22050_32, .*pcm_24000/],
      [`0/${SINGLE}&inactivity_timeout=181`, /^inactivity_timeout must match pattern/],
      [`0/${SINGLE}&auto_mode=perhaps`, /^auto_mode must be one of true, false/],
      [`0/${SINGLE}&apply_text_normalization=off`, /^apply_text_normalization must be one of auto, on/],
      [`0/${SINGLE}&model_id=tts-9`, /^model "tts-9" is unknown/],
      [`0/${SINGLE}&language_code=xx-`, /^language_code "xx-" is unknown/],
      [`0/${SINGLE}`, /key/, { "xi-api-key": "ant_wrong" }],
    ] as const) {
      const { status, error } = await StreamClient.refused(server.url, { path, headers });
      assert.equal(status, headers !== auth ? 401 : /must/.test(error.message) ? 422 : 400, path);
      assert.match(error.message, message);
    }
    const models = `0/${SINGLE}&model_id=eleven_flash_v2_5&language_code=en`;
    (await StreamClient.open(server, { path: models })).socket.terminate();
    const plain = await server.get("/v1/text-to-speech/0/stream-input");
    assert.equal(plain.status, 426);
  });

  test("may give its key in the first message", async () => {
    const own = await ownKey();
    const client = await StreamClient.open(own, { headers: {} });
    client.send({ text: " ", xi_api_key: own.key }, { text: "Hello." }, { text: "" });
    assert.equal((await client.closing()).code, 1_000);
    assert.equal(client.audio().length, bytesOf("Hello."));
    assert.equal((await own.usage()).requests, 1);
    for (const [first, reason] of [
      [{ text: "Hello." }, /^the API key is missing/],
      [{ text: " ", xi_api_key: "ant_wrong" }, /key/],
    ] as const) {
      const refused = await StreamClient.open(own, { headers: {} });
      refused.send(first, { text: "Hello.", xi_api_key: own.key });
      const { code, reason: why } = await refused.closing();
      assert.equal(code, 1_008);
      assert.match(why, reason);
    }
  });

  test("is closed if nothing is sent for its inactivity timeout, unless it is being spoken to", async (t) => {
    const gate = frameGate();
    const held = await startForTest(t, { tone: gate.tone });
    const options = { path: `0/${SINGLE}&inactivity_timeout=1` };
    const [idle, listening] = [
      await StreamClient.open(held, options),
      await StreamClient.open(held, options),
    ];
    listening.send({ text: "Hello." }, { text: "" });
    idle.send({ text: "Hello" });
    assert.equal((await idle.closing()).code, 1_008);
    assert.equal(idle.answers.at(-1)!.error, "session_idle");
    assert.equal(listening.closed, null);
    gate.open();
    assert.equal((await listening.closing()).code, 1_000);
  });

  test("ends with what is wrong with a message", async () => {
    for (const [message, told] of [
      ["Hello.", /not valid JSON/],
      [[], /must be a JSON object/],
      [{ text: 1 }, /^text must be a string/],
      [{ text: "x".repeat(8_001) }, /^text must have at most 8000 characters/],
      [{ text: "x".repeat(2 ** 20) }, /^a message may have 65536 bytes: send the text in parts/],
      [{ text: " ", voice_settings: { speed: 9 } }, /^voice_settings.speed must be at most 2/],
      [{ text: " ", pronunciation_dictionary_locators: [{}] }, /pronunciation_dictionary_locators/],
    ] as const) {
      const client = await StreamClient.open(server);
      client.send(message);
      assert.equal((await client.closing()).code, 1_008);
      assert.deepEqual([client.answers.length, client.answers[0]!.error], [1, "invalid_request"]);
      assert.match(client.answers[0]!.message!, told);
    }
    const long = await StreamClient.open(server);
    long.send({ text: "x ".repeat(4_000) }, { text: "x ".repeat(4_000) });
    assert.equal((await long.closing()).code, 1_008);
    assert.match(long.answers.at(-1)!.message!, /more than 8000 characters/);
  });

  test("of a client that reads nothing is cut, and metered for what was sent", async (t) => {
    const own = await startForTest(t, { flags: { stallTimeoutMs: "500" } });
    const client = await StreamClient.open(own, { path: "0/stream-input?output_format=pcm_48000" });
    client.send({ text: "One is here. ".repeat(600) });
    client.socket.pause();
    await own.metricIs("realtime_sessions", 0);
    await until("a usage record", async () => ((await own.usage()) as Usage).requests === 1);
    assert.ok(((await own.usage()) as Usage).output_audio_seconds < 400);
    client.socket.terminate();
  });
});
