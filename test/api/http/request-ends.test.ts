import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { afterEach, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pino from "pino";
import { StoreError, type StoreProblem } from "../../../src/accounts/store.ts";
import { SpeechFailedError } from "../../../src/core/speech-model.ts";
import { WriterError } from "../../../src/core/writer.ts";
import { memoryStore } from "../../accounts/memory-store.ts";
import { until } from "../../waiting.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start.ts";

const LONG = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };

interface Line {
  readonly [field: string]: unknown;
  readonly level: number;
  readonly msg: string;
}

let server: TestServer;
let lines: Line[];
afterEach(() => server?.stop());

async function start(options: TestServerOptions = {}): Promise<void> {
  lines = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  server = await startTestServer({ ...options, logger: pino({ level: "info" }, sink) });
}

/** The line of a request, once it is there; there is never a second one. */
async function lineOf(id: string): Promise<Line> {
  const found = () => lines.filter((line) => line.request_id === id && line.msg === "request");
  await until("the line of a request", () => found().length > 0);
  assert.equal(found().length, 1);
  return found()[0]!;
}

async function count(labels: string): Promise<number> {
  return server.metric(`requests_ended_total{${labels}}`);
}

test("a request that is answered in full has finished", async () => {
  await start();
  for (const path of ["/v1/tts", "/v1/audio/speech"]) {
    const body = path === "/v1/tts" ? { text: "Hi." } : { model: "tts-1", input: "Hi." };
    await (await server.post(path, body, { "X-Request-ID": path })).arrayBuffer();
    const line = await lineOf(path);
    assert.deepEqual(
      [line.end, line.status, line.route, line.key_id, line.level],
      ["finished", 200, path, server.keyId, 30],
    );
    assert.equal(await count(`route="${path}",end="finished",type="none"`), 1);
    assert.equal(lines.filter((each) => each.request_id === path).length, 1, "nothing else is said of it");
  }
});

test("a request's time in the log is in milliseconds, from its headers to its end", async () => {
  const heldMs = 60;
  await start({ tone: { beforeFrame: (index) => (index === 0 ? wait(heldMs) : undefined) } });
  const beganMs = performance.now();
  await (await server.post("/v1/tts", { text: "Hi." }, { "X-Request-ID": "held" })).arrayBuffer();
  const { ms } = await lineOf("held");
  assert.ok(Number(ms) >= heldMs - 2 && Number(ms) <= performance.now() - beganMs, `${ms} ms`);
});

test("a client that leaves a stream has left: it is metered, logged and counted once", async () => {
  await start();
  const { socket, received } = await openRaw(server);
  socket.write(rawRequest("/v1/converse/stream", server.key, LONG, { "X-Request-ID": "leaver" }));
  await until("the fourth frame", () => received().includes('"index":3,'));
  socket.destroy();
  const line = await lineOf("leaver");
  assert.deepEqual([line.end, line.status, line.level], ["left", 200, 30]);
  assert.match(`${line.left_because}`, /closed the connection/);
  assert.equal(await count('route="/v1/converse/stream",end="left",type="none"'), 1);
  await until(
    "its usage to be counted",
    async () => (await (await server.get("/v1/usage")).json()).requests === 1,
  );
});

test("a client that leaves before its answer began has left, without a status", async () => {
  await start({ tone: { beforeFrame: () => new Promise(() => {}) }, flags: { shutdownGraceMs: "50" } });
  const { socket } = await openRaw(server);
  socket.write(rawRequest("/v1/tts", server.key, { text: "Hi." }, { "X-Request-ID": "early" }));
  await until("the reply to be begun", async () => (await server.metric("active_streams")) === 1);
  socket.destroy();
  const line = await lineOf("early");
  assert.deepEqual([line.end, line.status], ["left", null]);
});

test("an upload that is broken off is no failure of the server", async () => {
  await start();
  const { socket } = await openRaw(server);
  socket.write(
    rawRequest("/v1/tts", server.key, "{", { "Content-Length": "100000", "X-Request-ID": "upload" }),
  );
  await until("the body to be begun", async () => (await server.metric("receiving_bytes")) > 0);
  socket.destroy();
  const line = await lineOf("upload");
  assert.deepEqual([line.end, line.level], ["left", 30]);
  assert.deepEqual(
    lines.filter(({ level }) => level > 30),
    [],
  );
  assert.equal(await server.metric("receiving_bytes"), 0);
});

test("a 502 and a stream that ends with an error say why in the log, and only there", async () => {
  const secret = "/var/lib/antiphon/model.onnx has other bytes";
  let failAt = 0;
  const beforeFrame = (index: number) => {
    if (index === failAt) throw new SpeechFailedError(secret);
  };
  await start({ tone: { beforeFrame } });
  const early = await server.post("/v1/tts", { text: "Hello there." }, { "X-Request-ID": "early" });
  assert.equal(early.status, 502);
  assert.ok(!(await early.text()).includes("model.onnx"));
  failAt = 3;
  const late = await server.post("/v1/converse/stream", LONG, { "X-Request-ID": "late" });
  const text = await late.text();
  assert.match(text, /event: error\n/);
  assert.ok(!text.includes("model.onnx"));
  for (const [id, status] of [
    ["early", 502],
    ["late", 200],
  ] as const) {
    const line = await lineOf(id);
    assert.deepEqual(
      [line.end, line.status, line.error, line.level],
      ["failed", status, "inference_error", 40],
    );
    assert.ok(`${line.cause}`.includes(secret));
  }
  assert.equal(await count('route="/v1/converse/stream",end="failed",type="inference_error"'), 1);
});

test("bytes that break off because of a failure have failed, not left", async () => {
  await start({ tone: { failAtFrame: 3 } });
  const body = { model: "tts-1", input: "word ".repeat(100), response_format: "pcm" };
  const reply = server.post("/v1/audio/speech", body, { "X-Request-ID": "cut" });
  await assert.rejects(reply.then((response) => response.arrayBuffer()));
  assert.equal((await lineOf("cut")).end, "failed");
});

test("a refusal is logged by its type, without the words that may be the client's", async () => {
  await start();
  await server.post("/v1/tts", { text: "Hi.", model: "secret-model" }, { "X-Request-ID": "refused" });
  const line = await lineOf("refused");
  assert.deepEqual([line.end, line.status, line.error, line.level], ["failed", 400, "invalid_request", 30]);
  assert.ok(!JSON.stringify(lines).includes("secret-model"));
});

test("what is no request is counted and logged as one that failed", async () => {
  await start();
  const raw = await openRaw(server);
  raw.socket.write("garbage\r\n\r\n");
  await raw.over;
  raw.socket.destroy();
  assert.equal(await count('route="none",end="failed",type="invalid_request"'), 1);
});

test("a body that came too slowly is logged with the status that it was told", async () => {
  await start({ flags: { headersTimeoutMs: "200", uploadTimeoutMs: "400" } });
  const { socket, over } = await openRaw(server);
  const headers = { "Content-Length": "1000", "X-Request-ID": "slow" };
  socket.write(rawRequest("/v1/tts", server.key, "{", headers));
  await over;
  socket.destroy();
  const line = await lineOf("slow");
  assert.deepEqual([line.end, line.status, line.left_because], ["failed", 400, undefined]);
  const responses = 'http_requests_total{route="/v1/tts",method="POST",status="400"}';
  assert.equal(await server.metric(responses), 1);
});

test("what a writer says of a file or an endpoint is in the log, not in the reply", async () => {
  const writer = new ScriptedWriter(["Well."]);
  const cause = new Error("there is no /var/lib/antiphon/writer.gguf");
  writer.fail(
    new WriterError("the writer's weights are missing: run antiphon models pull qwen3-4b", { cause }),
  );
  await start({ writer });
  const reply = await server.post(
    "/v1/converse",
    { conversation: [{ speaker: "0" }] },
    { "X-Request-ID": "unwritten" },
  );
  assert.equal(reply.status, 502);
  assert.ok(!(await reply.text()).includes("/var/lib"));
  assert.ok(`${(await lineOf("unwritten")).cause}`.includes("writer.gguf"));
});

for (const problem of ["unavailable", "unreachable"] as const) {
  test(`a server whose keys are ${problem} refuses nobody's key, and says how it is`, async () => {
    const store = memoryStore();
    let isAway = false;
    await start({
      store: {
        ...store,
        findKey: (hash) =>
          isAway ? Promise.reject(new StoreError(problem, "The database x is away.")) : store.findKey(hash),
      },
    });
    isAway = true;
    const conversation = [{ speaker: "0", text: "Hi." }];
    for (const refused of [
      await server.post("/v1/tts", { text: "Hi." }),
      await server.post("/v1/converse/stream", { conversation }),
      await server.get("/v1/usage"),
    ]) {
      assert.equal(refused.status, 502);
      assert.equal(refused.headers.get("retry-after"), "2");
      assert.ok(!(await refused.text()).includes("database x"));
    }
    for (const path of ["/health", "/metrics"]) assert.equal((await server.get(path)).status, 200);
  });
}

test("a store that is busy or away is a 502 with a time to retry, and a broken one a 500", async () => {
  const store = memoryStore();
  let problem: StoreProblem = "busy";
  await start({
    store: { ...store, commit: () => Promise.reject(new StoreError(problem, "The database x was held.")) },
  });
  for (problem of ["busy", "unreachable"] as const) {
    const away = await server.post("/v1/tts", { text: "Hi." });
    assert.equal(away.status, 502);
    assert.equal(away.headers.get("retry-after"), "2");
    assert.ok(!(await away.text()).includes("database x"));
  }
  problem = "disk";
  assert.equal((await server.post("/v1/tts", { text: "Hi." })).status, 500);
});
