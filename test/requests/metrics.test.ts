import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pino from "pino";
import { StoreError, type StoreProblem } from "../../src/accounts/store.ts";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { WriterError } from "../../src/core/writer.ts";
import { memoryStore } from "../accounts/memory-store.ts";
import { transcribe } from "../api/http/forms.ts";
import { exchange, openRaw, rawRequest } from "../api/http/raw-socket.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../api/http/start.ts";
import { WyomingClient } from "../api/wyoming/client.ts";
import { TOP } from "../architecture/top.ts";
import { ScriptedRecogniser } from "../recognition/scripted-recogniser.ts";
import { until } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";

const MODEL = "svc-beta-v0.3";

let server: TestServer;
afterEach(() => server?.stop());

const scraped = async () => (await server.get("/metrics", {})).text();
const ended = (reason: string, format = "wav") =>
  server.metric(`utterances_ended_total{model="${MODEL}",format="${format}",reason="${reason}"}`);

/** Every family with the names of its labels, as in `antiphon_first_audio_seconds{model}`. */
function familiesOf(text: string): string[] {
  const families = new Set<string>();
  const kinds = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind]));
  for (const [, sample, , labels = ""] of text.matchAll(/^(\w+)(\{(.*)\})? \S+$/gm)) {
    const name = kinds.has(sample) ? sample! : sample!.replace(/_(?:bucket|sum|count)$/, "");
    const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label!);
    const own = names.filter((label) => label !== "le");
    families.add(own.length === 0 ? name : `${name}{${own.join(",")}}`);
  }
  return [...families];
}

/** The families that docs/monitoring.md lists, and the prefixes of those it abbreviates. */
function documented(): { names: string[]; prefixes: string[] } {
  const page = readFileSync(join(TOP, "docs", "monitoring.md"), "utf8");
  const [, table = ""] = /^\| metric \|.*\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const all = table.split("\n").flatMap((row) => {
    const cell = /^\| (.*?) \|/.exec(row)?.[1] ?? "";
    return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  });
  const prefixes = all.filter((name) => name.endsWith("…")).map((name) => name.slice(0, -1));
  return { names: [...new Set(all.filter((name) => !name.endsWith("…")))], prefixes };
}

describe("GET /metrics", () => {
  test("has the families and labels that docs/monitoring.md lists, and no others", async () => {
    const recogniser = new ScriptedRecogniser();
    const writer = new ScriptedWriter(["It is.", "It was."]);
    server = await startTestServer({ recogniser, writer, wyoming: true });
    const bridge = await WyomingClient.open(server.wyomingUrl!);
    bridge.send("describe");
    await bridge.upTo("info");
    bridge.close();
    const sound = Buffer.from(encodeWav(new Int16Array(16_000).fill(900), 16_000)).toString("base64");
    const conversation = [{ speaker: "0", audio_wav_b64: sound }, { speaker: "1" }];
    for (const reply of [await server.post("/v1/converse", { conversation }), await transcribe(server)]) {
      assert.equal(reply.status, 200, await reply.text());
    }
    await server.get("/v1/nowhere");
    const { names, prefixes } = documented();
    assert.ok(names.length > 25 && prefixes.length === 2);
    const families = familiesOf(await scraped());
    const others = families.filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)));
    assert.deepEqual(others.sort(), names.sort());
    for (const prefix of prefixes) assert.ok(families.some((name) => name.startsWith(prefix)));
  });

  test("reports the version and the number of speech threads", async () => {
    server = await startTestServer({ flags: { workers: "3" } });
    const { version } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8"));
    assert.equal(await server.metric(`build_info{version="${version}",node="${process.version}"}`), 1);
    assert.equal(await server.metric("speech_threads"), 3);
  });

  test("counts each utterance once by model, format and end", async () => {
    let beforeFrame = (): void | Promise<void> => {};
    const tone = { beforeFrame: () => beforeFrame() };
    server = await startTestServer({ tone, flags: { shutdownGraceMs: "50" } });
    const speak = (path: string, body: object) => server.post(path, body).then((r) => r.arrayBuffer());
    await speak("/v1/tts", { text: "All of it." });
    await speak("/v1/tts", { text: "Not all of it. ".repeat(9), params: { max_new_tokens: 16 } });
    await speak("/v1/audio/speech", { input: "All of it.", model: "svc-atom-beta-v0.1" });
    beforeFrame = () => {
      throw new SpeechFailedError("told to fail");
    };
    await speak("/v1/tts", { text: "Nothing of it." });
    beforeFrame = () => new Promise(() => {});
    const { socket } = await openRaw(server);
    socket.write(rawRequest("/v1/converse/stream", server.key, { conversation: [{ text: "Gone." }] }));
    await until("it to be begun", async () => (await server.begun()) === 1);
    socket.destroy();
    await until("its end", async () => (await ended("gone", "pcm")) === 1);
    assert.deepEqual([await ended("finished"), await ended("length"), await ended("failed")], [1, 1, 1]);
    const atom = 'utterances_ended_total{model="svc-atom-beta-v0.1",format="mp3",reason="finished"}';
    assert.equal(await server.metric(atom), 1);
    const counts = [...(await scraped()).matchAll(/^antiphon_utterances_ended_total\{.*\} (\d+)$/gm)];
    const total = counts.reduce((sum, [, value]) => sum + Number(value), 0);
    assert.equal(total, 5);
    const label = `{model="${MODEL}"}`;
    for (const [name, value] of [
      [`first_audio_seconds_count${label}`, 2],
      [`real_time_factor_count${label}`, 2],
      [`audio_duration_seconds_count${label}`, 2],
      [`audio_duration_seconds_sum${label}`, 0.6 + 1.28],
      ["queue_seconds_count", 5],
      ['request_duration_seconds_count{route="/v1/tts"}', 3],
    ] as const)
      assert.equal(await server.metric(name), value, name);
  });

  test("takes no label from a client", async () => {
    server = await startTestServer();
    const made = "made-up-by-a-client";
    await server.post(`/v1/${made}`, {});
    await server.post("/v1/tts", { text: "Hi.", model: made });
    const speech = { input: "Hi.", model: made, response_format: made, voice: made };
    await server.post("/v1/audio/speech", speech);
    const conversation = [{ speaker: made, text: "Hi." }];
    await server.post("/v1/converse", { conversation }, { "X-Request-ID": made });
    assert.ok(!(await scraped()).includes(made));
  });

  test("observes a first token only for written replies", async () => {
    server = await startTestServer({ writer: new ScriptedWriter(["It is.", "It was."]) });
    const conversation = [{ text: "Is it?" }, { speaker: "1" }];
    await (await server.post("/v1/converse", { conversation })).arrayBuffer();
    assert.equal(await server.metric("writer_first_token_seconds_count"), 1);
    await (await server.post("/v1/tts", { text: "Given." })).arrayBuffer();
    assert.equal(await server.metric("writer_first_token_seconds_count"), 1);
  });
});

describe("The log line of a request", () => {
  const LONG = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };

  interface Line {
    readonly [field: string]: unknown;
    readonly level: number;
    readonly msg: string;
  }

  let lines: Line[];

  async function start(options: TestServerOptions = {}): Promise<void> {
    lines = [];
    const sink = { write: (line: string) => void lines.push(JSON.parse(line)) };
    server = await startTestServer({ ...options, logger: pino({ level: "info" }, sink) });
  }

  /** The one line of a request, once it is written. */
  async function lineOf(id: string): Promise<Line> {
    const found = () => lines.filter((line) => line.request_id === id && line.msg === "request");
    await until("the line of a request", () => found().length > 0);
    assert.equal(found().length, 1);
    return found()[0]!;
  }

  const count = (labels: string) => server.metric(`requests_ended_total{${labels}}`);

  test("says finished when it is answered in full", async () => {
    await start();
    for (const path of ["/v1/tts", "/v1/audio/speech"]) {
      const body = path === "/v1/tts" ? { text: "Hi." } : { model: "tts-1", input: "Hi." };
      await (await server.post(path, body, { "X-Request-ID": path })).arrayBuffer();
      const { end, status, route, key_id, level } = await lineOf(path);
      assert.deepEqual([end, status, route, key_id, level], ["finished", 200, path, server.keyId, 30]);
      assert.equal(await count(`route="${path}",end="finished",type="none"`), 1);
      assert.equal(lines.filter((each) => each.request_id === path).length, 1, "its only line");
    }
  });

  test("has its duration in milliseconds, from its headers to its end", async () => {
    const heldMs = 60;
    await start({ tone: { beforeFrame: (index) => (index === 0 ? wait(heldMs) : undefined) } });
    const beganMs = performance.now();
    await (await server.post("/v1/tts", { text: "Hi." }, { "X-Request-ID": "held" })).arrayBuffer();
    const { ms } = await lineOf("held");
    assert.ok(Number(ms) >= heldMs - 2 && Number(ms) <= performance.now() - beganMs, `${ms} ms`);
  });

  test("says left, once, when the client leaves a stream", async () => {
    await start();
    const { socket, received } = await openRaw(server);
    socket.write(rawRequest("/v1/converse/stream", server.key, LONG, { "X-Request-ID": "leaver" }));
    await until("the fourth frame", () => received().includes('"index":3,'));
    socket.destroy();
    const line = await lineOf("leaver");
    assert.deepEqual([line.end, line.status, line.level], ["left", 200, 30]);
    assert.match(`${line.left_because}`, /closed the connection/);
    assert.equal(await count('route="/v1/converse/stream",end="left",type="none"'), 1);
    await until("its usage to be counted", async () => (await server.usage()).requests === 1);
  });

  test("says left without a status when the client leaves before the reply", async () => {
    await start({ tone: { beforeFrame: () => new Promise(() => {}) }, flags: { shutdownGraceMs: "50" } });
    const { socket } = await openRaw(server);
    socket.write(rawRequest("/v1/tts", server.key, { text: "Hi." }, { "X-Request-ID": "early" }));
    await server.metricIs("active_streams", 1);
    socket.destroy();
    const line = await lineOf("early");
    assert.deepEqual([line.end, line.status], ["left", null]);
  });

  test("says left, not failed, for an upload that breaks off", async () => {
    await start();
    const { socket } = await openRaw(server);
    const headers = { "Content-Length": "100000", "X-Request-ID": "upload" };
    socket.write(rawRequest("/v1/tts", server.key, "{", headers));
    await until("the body to be begun", async () => (await server.metric("receiving_bytes")) > 0);
    socket.destroy();
    const line = await lineOf("upload");
    assert.deepEqual([line.end, line.level], ["left", 30]);
    assert.ok(lines.every(({ level }) => level <= 30));
    assert.equal(await server.metric("receiving_bytes"), 0);
  });

  test("has the cause of a 502 or an error event, which the reply has not", async () => {
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
    for (const [id, sent] of [
      ["early", 502],
      ["late", 200],
    ] as const) {
      const { end, status, error, level, cause } = await lineOf(id);
      assert.deepEqual([end, status, error, level], ["failed", sent, "inference_error", 40]);
      assert.ok(`${cause}`.includes(secret));
    }
    assert.equal(await count('route="/v1/converse/stream",end="failed",type="inference_error"'), 1);
  });

  test("says failed when a file breaks off because of a failure", async () => {
    await start({ tone: { failAtFrame: 3 } });
    const body = { model: "tts-1", input: "word ".repeat(100), response_format: "pcm" };
    const reply = server.post("/v1/audio/speech", body, { "X-Request-ID": "cut" });
    await assert.rejects(reply.then((response) => response.arrayBuffer()));
    assert.equal((await lineOf("cut")).end, "failed");
  });

  test("has the type of a refusal without the client's words", async () => {
    await start();
    await server.post("/v1/tts", { text: "Hi.", model: "secret-model" }, { "X-Request-ID": "refused" });
    const line = await lineOf("refused");
    assert.deepEqual([line.end, line.status, line.error, line.level], ["failed", 400, "invalid_request", 30]);
    assert.ok(!JSON.stringify(lines).includes("secret-model"));
  });

  test("counts a malformed request as failed", async () => {
    await start();
    await exchange(server, "garbage\r\n\r\n");
    assert.equal(await count('route="none",end="failed",type="invalid_request"'), 1);
  });

  test("has the status of a body that came too slowly", async () => {
    await start({ flags: { headersTimeoutMs: "200", uploadTimeoutMs: "400" } });
    const headers = { "Content-Length": "1000", "X-Request-ID": "slow" };
    await exchange(server, rawRequest("/v1/tts", server.key, "{", headers));
    const line = await lineOf("slow");
    assert.deepEqual([line.end, line.status, line.left_because], ["failed", 400, undefined]);
    const responses = 'http_requests_total{route="/v1/tts",method="POST",status="400"}';
    assert.equal(await server.metric(responses), 1);
  });

  test("has the cause of a writer's failure, which the reply has not", async () => {
    const writer = new ScriptedWriter(["Well."]);
    const cause = new Error("there is no /var/lib/antiphon/writer.gguf");
    const message = "the writer's weights are missing: run antiphon models pull qwen3-4b";
    writer.fail(new WriterError(message, { cause }));
    await start({ writer });
    const body = { conversation: [{ speaker: "0" }] };
    const reply = await server.post("/v1/converse", body, { "X-Request-ID": "unwritten" });
    assert.equal(reply.status, 502);
    assert.ok(!(await reply.text()).includes("/var/lib"));
    assert.ok(`${(await lineOf("unwritten")).cause}`.includes("writer.gguf"));
  });

  for (const problem of ["unavailable", "unreachable"] as const) {
    test(`is a 502 for every key while the store is ${problem}`, async () => {
      const store = memoryStore();
      let isAway = false;
      const findKey: typeof store.findKey = (hash) =>
        isAway ? Promise.reject(new StoreError(problem, "The database x is away.")) : store.findKey(hash);
      await start({ store: { ...store, findKey } });
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

  test("is a 502 for a busy store and a 500 for a broken one", async () => {
    const store = memoryStore();
    let problem: StoreProblem = "busy";
    const commit = () => Promise.reject(new StoreError(problem, "The database x was held."));
    await start({ store: { ...store, commit } });
    for (problem of ["busy", "unreachable"] as const) {
      const away = await server.post("/v1/tts", { text: "Hi." });
      assert.equal(away.status, 502);
      assert.equal(away.headers.get("retry-after"), "2");
      assert.ok(!(await away.text()).includes("database x"));
    }
    problem = "disk";
    assert.equal((await server.post("/v1/tts", { text: "Hi." })).status, 500);
  });
});
