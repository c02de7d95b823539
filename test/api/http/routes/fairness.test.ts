import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, describe, test } from "node:test";
import { type Writer, WriterError } from "../../../../src/core/writer.ts";
import { makeWav } from "../../../audio/make-wav.ts";
import { until, within } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { offsetClock } from "../../wyoming/offset-clock.ts";
import { openRaw, type RawSocket, rawRequest } from "../raw-socket.ts";
import { frameGate, startTestServer, type TestServer } from "../start.ts";
import { readEvents } from "../wire.ts";

const LONG = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };
const OPEN_TURN = { conversation: [{ speaker: "0" }] };

let server: TestServer;
afterEach(() => server?.stop());

/** Opens a stream whose client reads nothing. */
async function idleStream(body: object = LONG, key = server.key): Promise<RawSocket> {
  const raw = await openRaw(server, { isIdle: true });
  raw.socket.write(rawRequest("/v1/converse/stream", key, body));
  return raw;
}
const speak = (auth?: Record<string, string>) => server.post("/v1/tts", { text: "Me." }, auth);

describe("Fairness between keys", () => {
  test("lets a key speak while another reads nothing of its streams", async () => {
    server = await startTestServer({ flags: { concurrency: "2", shutdownGraceMs: "100" } });
    const idle = [await idleStream(), await idleStream()];
    await until("both streams to begin", async () => (await server.begun()) === 2);
    const { auth } = await server.another();
    for (let i = 0; i < 3; i++) assert.equal((await speak(auth)).status, 200);
    for (const { socket } of idle) socket.destroy();
  });

  test("resumes a paused stream without losing a sample", async () => {
    server = await startTestServer({ flags: { concurrency: "1" } });
    const still = { ...LONG, params: { ...LONG.params, temperature: 0 } };
    const alone = await (await server.post("/v1/converse/stream", still)).text();
    const { socket, received } = await openRaw(server, { isIdle: true });
    socket.write(rawRequest("/v1/converse/stream", server.key, still, { Connection: "close" }));
    await until("the stream to begin", async () => (await server.begun()) === 1);
    assert.equal((await speak((await server.another()).auth)).status, 200);
    let text = received();
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.resume();
    const last = 'event: end\ndata: {"text"';
    await until("its last event", () => text.includes(last) && text.endsWith("0\r\n\r\n"));
    const samples = (stream: string) => [...stream.matchAll(/"pcm_b64":"([^"]+)"/g)].map(([, pcm]) => pcm);
    assert.deepEqual(samples(text), samples(alone));
    socket.destroy();
  });

  test("ends the longest idle stream when a third key needs its slot", async () => {
    server = await startTestServer({ flags: { concurrency: "1", shutdownGraceMs: "100" } });
    const idle: RawSocket[] = [];
    for (let i = 0; i < 2; i++) {
      idle.push(await idleStream(LONG, (await server.another()).key));
      await until("the stream to be open", async () => (await server.begun()) === i + 1);
    }
    assert.equal((await speak()).status, 200);
    const ended = 'requests_ended_total{route="/v1/converse/stream",end="failed",type="inference_error"}';
    assert.equal(await server.metric(ended), 1);
    for (const { socket } of idle) socket.destroy();
  });

  test("frees the writer of a turn that no client reads", async () => {
    const sentences = Array.from({ length: 300 }, (_, index) => `This is sentence number ${index} of many.`);
    const writer = new ScriptedWriter(sentences);
    const flags = { "writer.concurrency": "1", "writer.keyConcurrency": "1", shutdownGraceMs: "100" };
    server = await startTestServer({ writer, flags });
    const { socket } = await idleStream({ ...OPEN_TURN, params: { max_new_tokens: 2_048 } });
    await until("the turn to begin", async () => (await server.begun()) === 1);
    await server.metricIs("turns_writing", 0);
    assert.equal(await server.begun(), 1);
    socket.destroy();
  });

  test("returns 429 to a key that queues too much, and serves another", async () => {
    const gate = frameGate();
    const flags = { concurrency: "1", queueDepth: "4", keyQueueDepth: "2" };
    server = await startTestServer({ flags, tone: gate.tone });
    const greedy = Array.from({ length: 6 }, () => speak());
    await server.metricIs("queue_depth", 2);
    const modest = speak((await server.another()).auth);
    await server.metricIs("queue_depth", 3);
    gate.open();
    const statuses = (await Promise.all(greedy)).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [200, 200, 200, 429, 429, 429]);
    assert.equal((await modest).status, 200);
    const refused = (await Promise.all(greedy)).find(({ status }) => status === 429)!;
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    assert.equal((await refused.json()).error.type, "rate_limit_exceeded");
  });

  test("keeps speech slots free while turns are written", async () => {
    const writer = new ScriptedWriter(["Well."], { isStepwise: true });
    server = await startTestServer({ writer, flags: { concurrency: "2", shutdownGraceMs: "100" } });
    const written = [1, 2, 3].map(() => server.post("/v1/converse", OPEN_TURN));
    await writer.asked(3);
    assert.equal(await server.metric("turns_writing"), 3);
    assert.equal((await speak()).status, 200);
    writer.allow(3);
    for (const reply of await Promise.all(written)) assert.equal(reply.status, 200);
    assert.equal(await server.metric("turns_writing"), 0);
  });

  test("releases the slot of a turn that waits for its next sentence", async () => {
    const writer = new ScriptedWriter(["One.", "Two."], { isStepwise: true });
    server = await startTestServer({ writer, flags: { concurrency: "1", shutdownGraceMs: "100" } });
    const reply = server.post("/v1/converse/stream", OPEN_TURN);
    await writer.asked(1);
    writer.allow(1);
    await reply;
    assert.equal((await speak((await server.another()).auth)).status, 200);
    writer.allow(1);
    const events = await readEvents(await reply);
    assert.equal(events.at(-1)?.event, "end");
    assert.equal(events.at(-1)?.data.text, "One. Two.");
  });

  test("queues turns per key, and frees a failed turn's slot", async () => {
    const writer = new ScriptedWriter(["Well."], { isStepwise: true });
    const writing = { "writer.concurrency": "1", "writer.keyConcurrency": "1" };
    server = await startTestServer({ writer, flags: { ...writing, queueDepth: "2", keyQueueDepth: "1" } });
    const ask = (headers?: Record<string, string>) => server.post("/v1/converse", OPEN_TURN, headers);
    const first = ask();
    await writer.asked(1);
    const second = ask();
    const refused = await Promise.race([ask(), ask()]);
    assert.equal(refused.status, 429);
    const other = ask((await server.another()).auth);
    writer.fail(new WriterError("the endpoint is gone"));
    for (const reply of [first, second, other]) assert.equal((await reply).status, 502);
    assert.equal(await server.metric("turns_writing"), 0);
  });
});

describe("A stalled client", () => {
  const TTS = { text: LONG.conversation[0]!.text, params: LONG.params };
  const left = (route: string) =>
    server.metric(`requests_ended_total{route="${route}",end="left",type="none"}`);
  const receiving = (bytes: number) =>
    until(`${bytes} B for bodies`, async () => (await server.metric("receiving_bytes")) === bytes);
  /** Reads slowly. Returns the JSON body at the end. */
  async function readSlowly(socket: Socket, onChunk = () => {}) {
    let text = "";
    socket.on("data", (chunk: string) => {
      text += chunk;
      socket.pause();
      onChunk();
      setTimeout(() => socket.resume(), 5);
    });
    socket.resume();
    await within("the end", once(socket, "end"));
    return JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
  }

  test("is disconnected from a whole reply", async () => {
    server = await startTestServer({ flags: { stallTimeoutMs: "200" } });
    const { socket, over } = await openRaw(server, { isIdle: true });
    socket.write(rawRequest("/v1/tts", server.key, TTS).repeat(3));
    await until("the disconnection", async () => (await left("/v1/tts")) > 0);
    socket.resume();
    await over;
    socket.destroy();
  });

  test("is disconnected from a stream", async () => {
    server = await startTestServer({ flags: { stallTimeoutMs: "200" } });
    const { socket } = await idleStream();
    await until("the disconnection", async () => (await left("/v1/converse/stream")) === 1);
    assert.equal(await server.begun(), 0);
    socket.destroy();
  });

  test("gets the whole reply when it keeps reading, however slowly", async (t) => {
    server = await startTestServer({ flags: { stallTimeoutMs: "300" } });
    const clock = offsetClock({ isStill: true });
    t.after(() => clock.restore());
    const { socket } = await openRaw(server, { isIdle: true });
    socket.write(rawRequest("/v1/tts", server.key, TTS, { Connection: "close" }));
    const { audio } = await readSlowly(socket, () => clock.pass(5));
    assert.equal(audio.data_b64.length % 4, 0);
    assert.ok(Buffer.from(audio.data_b64, "base64").length > 1e6);
    socket.destroy();
  });

  test("is not one whose reply waits for a pipelined one", async () => {
    let count = 0;
    const late = () => (count++ === 0 ? new Promise<void>((resolve) => setTimeout(resolve, 600)) : undefined);
    server = await startTestServer({ flags: { stallTimeoutMs: "100" }, tone: { beforeFrame: late } });
    const raw = await openRaw(server);
    raw.socket.write(rawRequest("/v1/tts", server.key, { text: "Hi." }).repeat(2));
    await until("both answers", () => raw.received().match(/HTTP\/1.1 200/g)?.length === 2);
    raw.socket.destroy();
  });

  test("gets its reply within the grace of a stopping server", async () => {
    server = await startTestServer();
    const { socket } = await openRaw(server, { isIdle: true });
    socket.write(rawRequest("/v1/tts", server.key, TTS, { Connection: "close" }));
    await server.metricIs("active_streams", 0);
    const stopping = server.stop();
    assert.ok((await readSlowly(socket)).audio.data_b64.length > 1e6);
    await stopping;
  });

  test("is disconnected midway through its body, whose memory is freed", async () => {
    server = await startTestServer({ flags: { stallTimeoutMs: "200" } });
    const { socket, over } = await openRaw(server);
    socket.write(rawRequest("/v1/tts", server.key, "{", { "Content-Length": "1000000" }));
    await receiving(1_000_000);
    await over;
    await receiving(0);
    socket.destroy();
  });

  test("waits for memory without being read, and gets 502 after the queue timeout", async () => {
    const budgets = { receivingBudgetMb: "2", keyReceivingBudgetMb: "1", bodyLimitBytes: "1048576" };
    server = await startTestServer({ flags: { ...budgets, queueWaitMs: "300" } });
    const waiting = [await openRaw(server), await openRaw(server)];
    for (const { socket } of waiting)
      socket.write(rawRequest("/v1/tts", server.key, "{", { "Content-Length": "1048576" }));
    await receiving(1_048_576);
    await until("a refusal", () => waiting.some(({ received }) => received().includes("502 Bad Gateway")));
    const { auth } = await server.another();
    const body = { text: "Hi.", pad: "x".repeat(100_000) };
    assert.equal((await server.post("/v1/tts", body, auth)).status, 200, "another key has its own memory");
    assert.equal((await speak()).status, 200, "small bodies need none");
    for (const { socket } of waiting) socket.destroy();
    await receiving(0);
  });

  test("holds the memory of its audio until it is analysed", async () => {
    const gate = frameGate();
    const flags = { audioBudgetMb: "1", keyAudioBudgetMb: "1" };
    server = await startTestServer({ flags, tone: gate.tone });
    const wav = makeWav({ encoding: "s16", rateHz: 24_000, channels: [new Array(200_000).fill(1)] });
    const conversation = [{ audio_wav_b64: wav.toString("base64") }, { text: "Hi." }];
    const first = server.post("/v1/converse", { conversation });
    await server.metricIs("audio_bytes", 800_000);
    const second = server.post("/v1/converse", { conversation });
    gate.open();
    for (const reply of [first, second]) assert.equal((await reply).status, 200);
    await server.metricIs("audio_bytes", 0);
  });

  test("is counted once a chunked body is no longer small", async () => {
    server = await startTestServer({ flags: { bodyLimitBytes: "300000" } });
    const raw = await openRaw(server);
    const headers = { "Content-Length": "", "Transfer-Encoding": "chunked", Connection: "close" };
    const start = rawRequest("/v1/tts", server.key, "", headers).replace("Content-Length: \r\n", "");
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    raw.socket.write(start + chunk(`{"text":"Hi.","pad":"${"x".repeat(100_000)}`));
    await receiving(300_000);
    raw.socket.write(`${chunk('"}')}0\r\n\r\n`);
    await raw.over;
    assert.match(raw.received(), /^HTTP\/1.1 200 /);
    raw.socket.destroy();
  });
});

describe("isSpeaking()", () => {
  test("is true while a stream is open, even if the client reads nothing", async () => {
    server = await startTestServer({ flags: { shutdownGraceMs: "100" } });
    assert.equal(server.isSpeaking(), false);
    const { socket } = await idleStream();
    await until("the stream to begin", () => server.isSpeaking());
    socket.destroy();
    await until("the stream to be over", () => !server.isSpeaking());
  });

  test("is false until the first sentence of a turn is written", async () => {
    const seen: boolean[] = [];
    const writer: Writer = {
      name: "watching",
      async *write() {
        seen.push(server.isSpeaking());
        yield { text: "This is the first of two.", tokens: null, gate: null };
        await until("the first to be spoken", () => server.isSpeaking());
        seen.push(server.isSpeaking());
        yield { text: "And this is the second.", tokens: null, gate: null };
      },
      async close() {},
    };
    server = await startTestServer({ writer });
    const conversation = [{ speaker: "0", text: "Hi." }, { speaker: "1" }];
    const reply = await server.post("/v1/converse", { conversation });
    assert.deepEqual([reply.status, seen], [200, [false, true]]);
  });
});
