import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { until, within } from "../../waiting.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { parseEvents, pcmOfEvents, readEvents } from "./wire.ts";

const LONG = "word ".repeat(1_500);

/** A raw HTTP/1.1 request for a stream, for tests that need to hold the socket itself. */
async function openRawStream(server: TestServer, text: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  await within("the connection", once(socket, "connect"));
  const body = JSON.stringify({ conversation: [{ text }], params: { max_new_tokens: 2_048 } });
  socket.write(
    `POST /v1/converse/stream HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${server.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

const gauge = async (server: TestServer, name: string): Promise<number> => {
  const text = await (await server.get("/metrics", {})).text();
  return Number(new RegExp(`^antiphon_${name} (\\S+)`, "m").exec(text)?.[1]);
};

test("a client that leaves a stream stops the engine and is metered for what it was sent", async () => {
  let computed = 0;
  const server = await startTestServer({ tone: { beforeFrame: () => void computed++ } });
  try {
    const socket = await openRawStream(server, LONG);
    let received = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      received += chunk;
    });
    await until("the fourth frame", () => received.includes('"index":3,'));
    socket.destroy();
    await until("the stream's end", async () => (await server.begun()) === 0);
    const whenLeft = computed;
    await turn();
    assert.equal(computed, whenLeft, "nothing is computed for a client that has gone");
    await until("the usage", async () => (await (await server.get("/v1/usage")).json()).requests === 1);
    const usage = await (await server.get("/v1/usage")).json();
    assert.equal(usage.input_chars, LONG.length);
    assert.ok(usage.output_audio_seconds >= 4 * 0.08 && usage.output_audio_seconds < 2_048 * 0.08);
  } finally {
    await server.stop();
  }
});

test("a client that does not read holds its own synthesis back, in bounded memory", async () => {
  let computed = 0;
  const server = await startTestServer({ tone: { beforeFrame: () => void computed++ } });
  try {
    const socket = await openRawStream(server, LONG);
    socket.pause();
    let last = -1;
    // Sockets take what their buffers hold; then nothing more may be computed, however long nobody reads.
    await until("full buffers", async () => {
      const before = computed;
      for (let i = 0; i < 20; i++) await (await server.get("/health", {})).text();
      last = computed;
      return last > 0 && last === before;
    });
    assert.ok(last < 2_048, `all ${last} frames were computed for a client that reads none`);
    socket.destroy();
    await until("the stream's end", async () => (await server.begun()) === 0);
  } finally {
    await server.stop();
  }
});

test("what fails before the first frame is an ordinary error; what fails later is one error event", async () => {
  const early = await startTestServer({ tone: { failAtFrame: 0 } });
  const late = await startTestServer({ tone: { failAtFrame: 3 } });
  const conversation = [{ text: "It will not come to its end." }];
  try {
    const refused = await early.post("/v1/converse/stream", { conversation });
    assert.equal(refused.status, 502);
    assert.equal((await refused.json()).error.type, "inference_error");
    assert.ok(refused.headers.get("retry-after"));
    const response = await late.post("/v1/converse/stream", { conversation });
    assert.equal(response.status, 200);
    const events = await readEvents(response);
    assert.deepEqual(
      events.map(({ event }) => event),
      ["meta", "audio", "audio", "audio", "error"],
    );
    const failure = events.at(-1)?.data;
    assert.equal(failure.type, "inference_error");
    assert.equal(failure.request_id, response.headers.get("x-request-id"));
    for (const server of [early, late]) {
      assert.equal(
        (await (await server.get("/v1/usage")).json()).requests,
        0,
        "a failed call commits nothing",
      );
    }
  } finally {
    await early.stop();
    await late.stop();
  }
});

test("a quiet stream is kept alive by comments", async () => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = await startTestServer({
    flags: { heartbeatMs: "100" },
    tone: { beforeFrame: (index) => (index === 2 ? held : undefined) },
  });
  try {
    const response = await server.post("/v1/converse/stream", { conversation: [{ text: "Wait for it." }] });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes(": keep-alive\n\n")) {
      const step = await within("a comment", reader!.read());
      assert.ok(!step.done, text);
      text += Buffer.from(step.value).toString();
    }
    letGo();
    for (;;) {
      const step = await reader?.read();
      if (step === undefined || step.done) break;
      text += Buffer.from(step.value).toString();
    }
    assert.equal(parseEvents(text).at(-1)?.event, "end");
  } finally {
    await server.stop();
  }
});

test("a request that finds every place taken waits its turn, and one too many is told when to come back", async () => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = await startTestServer({
    flags: { concurrency: "1", queueDepth: "1" },
    tone: { beforeFrame: () => held },
  });
  try {
    const speak = () => server.post("/v1/tts", { text: "Me." });
    const first = speak();
    await until("the first to be spoken", async () => (await gauge(server, "active_streams")) === 1);
    const second = speak();
    await until("the second to wait", async () => (await gauge(server, "queue_depth")) === 1);
    const third = await speak();
    assert.equal(third.status, 502);
    assert.equal((await third.json()).error.type, "inference_error");
    assert.ok(Number(third.headers.get("retry-after")) >= 1);
    letGo();
    assert.equal((await first).status, 200);
    assert.equal((await second).status, 200);
  } finally {
    await server.stop();
  }
});

test("an engine that hangs is given up after the deadline with a 502", async () => {
  const server = await startTestServer({
    flags: { generationTimeoutMs: "100" },
    tone: { beforeFrame: () => new Promise<void>(() => {}) },
  });
  try {
    const response = await server.post("/v1/tts", { text: "Never." });
    assert.equal(response.status, 502);
    assert.ok(response.headers.get("retry-after"));
  } finally {
    await server.stop();
  }
});

test("stopping finishes what is being spoken and takes nothing new", async () => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = await startTestServer({
    tone: { beforeFrame: (index) => (index === 2 ? held : undefined) },
  });
  const response = await server.post("/v1/converse/stream", { conversation: [{ text: "To the very end." }] });
  const stopping = server.stop();
  await assert.rejects(server.get("/health", {}));
  letGo();
  const events = await readEvents(response);
  assert.equal(events.at(-1)?.event, "end");
  assert.ok(pcmOfEvents(events).length > 0);
  await stopping;
});

test("stopping cuts off what does not end within the grace, with an error event", async () => {
  const server = await startTestServer({
    flags: { shutdownGraceMs: "50" },
    tone: { beforeFrame: (index) => (index === 2 ? new Promise<void>(() => {}) : undefined) },
  });
  const response = await server.post("/v1/converse/stream", {
    conversation: [{ text: "To the bitter end." }],
  });
  await Promise.all([server.stop(), response.text()]).then(([, text]) => {
    const last = parseEvents(text).at(-1);
    assert.equal(last?.event, "error");
    assert.equal(last?.data.type, "inference_error");
  });
});
