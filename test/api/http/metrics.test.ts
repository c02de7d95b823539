import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { SpeechFailedError } from "../../../src/core/speech-model.ts";
import { TOP } from "../../architecture/top.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { until } from "../../waiting.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { WyomingClient } from "../wyoming/client.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { transcribe } from "./transcription-form.ts";

const MODEL = "svc-beta-v0.3";

let server: TestServer;
afterEach(() => server?.stop());

const scraped = async () => (await server.get("/metrics", {})).text();
const ended = (reason: string, format = "wav") =>
  server.metric(`utterances_ended_total{model="${MODEL}",format="${format}",reason="${reason}"}`);

/** A name and the names of its labels: `antiphon_first_audio_seconds{model}`. */
function familiesOf(text: string): Set<string> {
  const families = new Set<string>();
  const kinds = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind]));
  for (const [, sample, , labels = ""] of text.matchAll(/^(\w+)(\{(.*)\})? \S+$/gm)) {
    const name = kinds.has(sample) ? sample! : sample!.replace(/_(?:bucket|sum|count)$/, "");
    const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label);
    families.add(
      withLabels(
        name,
        names.filter((label) => label !== "le"),
      ),
    );
  }
  return families;
}

function withLabels(name: string, labels: readonly (string | undefined)[]): string {
  return labels.length === 0 ? name : `${name}{${labels.join(",")}}`;
}

/** Those that the page of operators lists, and what those begin with that it lists as many. */
function documented(): { names: Set<string>; beginnings: string[] } {
  const page = readFileSync(join(TOP, "docs", "operating.md"), "utf8");
  const [, table = ""] = /^\| metric \|.*\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const all = table.split("\n").flatMap((row) => {
    const cell = /^\| (.*?) \|/.exec(row)?.[1] ?? "";
    return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  });
  const beginnings = all.filter((name) => name.endsWith("…")).map((name) => name.slice(0, -1));
  return { names: new Set(all.filter((name) => !name.endsWith("…"))), beginnings };
}

describe("/metrics", () => {
  test("has what docs/operating.md lists, with the labels that it names, and nothing else", async () => {
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
    const { names, beginnings } = documented();
    assert.ok(names.size > 25 && beginnings.length === 2);
    const told = [...familiesOf(await scraped())];
    const others = told.filter((name) => !beginnings.some((beginning) => name.startsWith(beginning)));
    assert.deepEqual(others.sort(), [...names].sort());
    for (const beginning of beginnings) assert.ok(told.some((name) => name.startsWith(beginning)));
  });

  test("tells what runs, and how many threads speak", async () => {
    server = await startTestServer({ flags: { workers: "3" } });
    const { version } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8"));
    assert.equal(await server.metric(`build_info{version="${version}",node="${process.version}"}`), 1);
    assert.equal(await server.metric("speech_threads"), 3);
  });

  test("counts utterances by model, format and how they ended, once each", async () => {
    let beforeFrame = (): void | Promise<void> => {};
    server = await startTestServer({
      tone: { beforeFrame: () => beforeFrame() },
      flags: { shutdownGraceMs: "50" },
    });
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
    assert.equal(
      counts.reduce((sum, [, value]) => sum + Number(value), 0),
      5,
    );
    const label = `{model="${MODEL}"}`;
    assert.equal(await server.metric(`first_audio_seconds_count${label}`), 2);
    assert.equal(await server.metric(`real_time_factor_count${label}`), 2);
    assert.equal(await server.metric(`audio_duration_seconds_count${label}`), 2);
    assert.equal(await server.metric(`audio_duration_seconds_sum${label}`), 0.6 + 1.28);
    assert.equal(await server.metric("queue_seconds_count"), 5);
    assert.equal(await server.metric('request_duration_seconds_count{route="/v1/tts"}'), 3);
  });

  test("takes no label from a client", async () => {
    server = await startTestServer();
    const made = "made-up-by-a-client";
    await server.post(`/v1/${made}`, {});
    await server.post("/v1/tts", { text: "Hi.", model: made });
    await server.post("/v1/audio/speech", { input: "Hi.", model: made, response_format: made, voice: made });
    await server.post(
      "/v1/converse",
      { conversation: [{ speaker: made, text: "Hi." }] },
      { "X-Request-ID": made },
    );
    assert.ok(!(await scraped()).includes(made));
  });

  test("counts a written reply's first token, and none where nothing was asked of a model", async () => {
    server = await startTestServer({ writer: new ScriptedWriter(["It is.", "It was."]) });
    const reply = await server.post("/v1/converse", { conversation: [{ text: "Is it?" }, { speaker: "1" }] });
    await reply.arrayBuffer();
    assert.equal(await server.metric("writer_first_token_seconds_count"), 1);
    await (await server.post("/v1/tts", { text: "Given." })).arrayBuffer();
    assert.equal(await server.metric("writer_first_token_seconds_count"), 1);
  });
});
