import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import pino from "pino";
import type { ServerEvent } from "../../../../src/api/realtime/realtime-dialect.ts";
import { RecogniserError } from "../../../../src/core/recogniser.ts";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { type ClientOptions, RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { startTestServer, type TestServer } from "../start.ts";

const SECRET_WORDS = "Aubergine marmalade.";
const OWN_WORDS = "Yes, quite so.";
const LONG_WORDS = "That is a long story, which began when nobody had thought of it yet.";

let server: TestServer;
let detector: ScriptedDetector;
let recogniser: ScriptedRecogniser;
let writer: ScriptedWriter;
let client: RealtimeClient;
const lines: string[] = [];

before(async () => {
  const sink = { write: (line: string) => void lines.push(line) };
  detector = new ScriptedDetector();
  recogniser = new ScriptedRecogniser([segmentOf(SECRET_WORDS, 0)]);
  writer = new ScriptedWriter(({ history }) => [history.at(-1)?.text === "Go on." ? LONG_WORDS : OWN_WORDS]);
  server = await startTestServer({ detector, recogniser, writer, logger: pino({ level: "debug" }, sink) });
});
after(() => server.stop());
beforeEach(async () => {
  recogniser.hear([segmentOf(SECRET_WORDS, 0)]);
  client = await RealtimeClient.open(server);
});
afterEach(async () => {
  recogniser.fail(null);
  recogniser.release();
  detector.failures = 0;
  client.socket.terminate();
  await server.metricIs("realtime_sessions", 0);
  assert.deepEqual(client.faults, [], "every event is one that clients take");
});

const append = (bytes: Uint8Array) => ({
  type: "input_audio_buffer.append",
  audio: Buffer.from(bytes).toString("base64"),
});
const errorOf = (event: ServerEvent) =>
  event.error as { code: string; message: string; event_id?: string; param?: string; type: string };
const responseOf = (event: ServerEvent) =>
  event.response as {
    id: string;
    status: string;
    status_details?: { reason?: string; error?: { code: string } };
    usage: Record<string, number> | null;
    output: { content: { transcript: string }[] }[];
  };

function turn(on = client): void {
  on.speak(700);
  on.speak(800, { isSilent: true });
}
const bytesOf = (deltas: readonly ServerEvent[]) =>
  deltas.reduce((sum, { delta }) => sum + Buffer.from(delta as string, "base64").length, 0);
const errorCode = async (on = client) => errorOf(await on.upTo("error")).code;
/** Opens a session with a key of its own. */
async function withOwnKey(options: ClientOptions = {}) {
  const other = await server.another();
  return { ...other, own: await RealtimeClient.open({ url: server.url, key: other.key }, options) };
}

describe("A realtime turn", () => {
  test("is transcribed and answered aloud", async () => {
    turn();
    await client.upTo("input_audio_buffer.speech_started");
    await client.upTo("input_audio_buffer.committed");
    const done = responseOf(await client.upTo("response.done"));
    assert.equal(done.status, "completed");
    assert.equal(done.output[0]!.content[0]!.transcript, OWN_WORDS);
    assert.ok(done.usage!.total_tokens! > 0);
    const audio = client.events.filter(({ type }) => type === "response.output_audio.delta");
    assert.equal(bytesOf(audio), 2 * 1_440 * OWN_WORDS.length);
    assert.equal(writer.dialogues.at(-1)!.history.at(-1)!.text, SECRET_WORDS);
  });

  test("is one log line, one count and one usage record, without its words", async () => {
    const { own, ...keyed } = await withOwnKey();
    const from = lines.length;
    turn(own);
    await own.upTo("response.done");
    await own.close();
    const ended = () => lines.slice(from).map((line) => JSON.parse(line));
    await until("both lines", () => ended().length >= 2);
    assert.deepEqual(
      ended().map(({ route, end, status, key_id }) => [route, end, status, key_id]),
      [
        ["realtime:response", "finished", undefined, keyed.keyId],
        ["/v1/realtime", "finished", 101, keyed.keyId],
      ],
    );
    for (const route of ["realtime:response", "/v1/realtime"])
      assert.ok(
        (await server.metric(`requests_ended_total{route="${route}",end="finished",type="none"}`)) >= 1,
      );
    assert.ok((await server.metric("realtime_answer_seconds_count")) >= 1);
    const usage = await server.usage(keyed.auth);
    assert.equal(usage.requests, 1, JSON.stringify(usage));
    assert.ok(usage.input_audio_seconds > 0.6 && usage.input_audio_seconds < 1.5);
    const log = lines.join("");
    for (const word of ["Aubergine", "marmalade", "quite", server.key, keyed.key])
      assert.ok(!log.includes(word));
  });

  test("is transcribed while it is spoken, and superseded recognitions stop", async () => {
    recogniser.asked.length = 0;
    client.speak(1_600);
    client.speak(100, { isSilent: true });
    await until("a recognition of what is said so far", () => recogniser.asked.length >= 1);
    client.speak(1_600);
    client.speak(800, { isSilent: true });
    await client.upTo("response.done");
    assert.equal(recogniser.asked[0]!.draft, null);
    assert.equal(recogniser.asked.at(-1)!.draft?.text, SECRET_WORDS);
    recogniser.hold();
    client.speak(400);
    client.speak(200, { isSilent: true });
    await until("a recognition that waits", () => recogniser.clips.length > recogniser.asked.length - 1);
    const stopped = recogniser.stopped.length;
    client.speak(400);
    client.speak(200, { isSilent: true });
    await until("its end", () => recogniser.stopped.length > stopped);
  });

  test("is transcribed after a commit, even when speech follows", async () => {
    recogniser.hold();
    turn();
    await client.upTo("input_audio_buffer.committed");
    client.speak(700);
    await client.upTo("input_audio_buffer.speech_started");
    client.speak(800, { isSilent: true });
    await client.upTo("input_audio_buffer.committed");
    recogniser.release();
    await client.upTo("response.done");
    const { history } = writer.dialogues.at(-1)!;
    assert.equal(history.filter(({ text }) => text === SECRET_WORDS).length, 2);
  });

  test("that fails to transcribe is reported, and the next one is answered", async () => {
    recogniser.fail(new RecogniserError("the recogniser was told to fail"));
    turn();
    await client.upTo("conversation.item.input_audio_transcription.failed");
    recogniser.fail(null);
    turn();
    assert.equal(responseOf(await client.upTo("response.done")).status, "completed");
  });

  test("survives a detector that fails midway", async () => {
    client.speak(500);
    await client.upTo("input_audio_buffer.speech_started");
    detector.failures = 1;
    client.speak(400);
    client.speak(800, { isSilent: true });
    assert.equal(responseOf(await client.upTo("response.done")).status, "completed");
    assert.ok(!client.types.includes("error"));
  });

  test("reports a detector that keeps failing once", async () => {
    detector.failures = 200;
    client.speak(2_000);
    assert.equal(await errorCode(), "turn_detection_failed");
    detector.failures = 0;
    turn();
    await client.upTo("response.done");
    assert.equal(client.types.filter((type) => type === "error").length, 1);
  });
});

describe("A hostile realtime event", () => {
  test("is refused by its code, and the session goes on", async () => {
    for (const [event, code] of [
      ["garbage {", "invalid_json"],
      ["[]", "invalid_json"],
      [{ type: "nothing.known" }, "unknown_event"],
      [{ type: "__proto__" }, "unknown_event"],
      [{ type: "conversation.item.delete" }, "missing_required_parameter"],
      [{ type: "input_audio_buffer.append", audio: 7 }, "invalid_value"],
      [{ type: "input_audio_buffer.commit" }, "input_audio_buffer_commit_empty"],
      [{ type: "conversation.item.retrieve", item_id: "x" }, "item_retrieve_invalid_item_id"],
      [{ type: "response.cancel" }, "response_cancel_not_active"],
    ] as const) {
      client.send(event);
      assert.equal(await errorCode(), code);
    }
    client.socket.send(Buffer.from("binary"), { binary: true });
    assert.equal(await errorCode(), "invalid_json");
    client.send({ type: "session.update", session: { instructions: "Be brief." }, event_id: "e1" });
    await client.upTo("session.updated");
    client.send({ type: "conversation.item.retrieve", item_id: "x", event_id: "e2" });
    assert.equal(errorOf(await client.upTo("error")).event_id, "e2");
  });

  test("is limited to 4 MiB", async () => {
    client.send({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
    client.send(append(new Uint8Array(3 * 2 ** 20 - 1_024)));
    client.send({ type: "input_audio_buffer.commit" });
    await client.upTo("input_audio_buffer.committed");
    client.send("x".repeat(5 * 2 ** 20));
    assert.equal((await client.closing()).code, 1_009);
  });

  test("may split a sample over two chunks", async () => {
    client.send({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
    const bytes = new Uint8Array(9_600);
    for (const [from, to] of [
      [0, 1],
      [1, 1_000],
      [1_000, 4_333],
      [4_333, 9_600],
    ] as const)
      client.send(append(bytes.subarray(from, to)));
    client.send({ type: "input_audio_buffer.commit" });
    await client.upTo("input_audio_buffer.committed");
  });

  test("cannot create an item or a response twice", async () => {
    const item = { id: "a", type: "message", role: "user", content: [{ type: "input_text", text: "Hi." }] };
    client.send({ type: "conversation.item.create", item });
    await client.upTo("conversation.item.done");
    client.send({ type: "conversation.item.create", item });
    assert.equal(await errorCode(), "item_create_duplicate_item_id");
    client.send({ type: "response.create" });
    client.send({ type: "response.create", event_id: "second" });
    const { code, event_id } = errorOf(await client.upTo("error"));
    assert.deepEqual([code, event_id], ["conversation_already_has_active_response", "second"]);
    await client.upTo("response.done");
  });
});

describe("A realtime response", () => {
  const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: "Go on." }] }];

  test("outside the conversation uses its own input, at most four at once", async () => {
    for (let count = 0; count < 5; count += 1) {
      const response = { conversation: "none", input, metadata: { topic: `${count}` } };
      client.send({ type: "response.create", response });
    }
    assert.equal(await errorCode(), "conversation_already_has_active_response");
    const dones = [];
    for (let count = 0; count < 4; count += 1) dones.push(await client.upTo("response.done"));
    assert.deepEqual(
      dones.map(({ response }) => (response as { metadata: { topic: string } }).metadata.topic).sort(),
      ["0", "1", "2", "3"],
    );
    assert.equal(writer.dialogues.at(-1)!.history.at(-1)!.text, "Go on.");
    assert.ok(!client.types.includes("conversation.item.added"));
  });

  test("ends at max_output_tokens with status incomplete", async () => {
    client.send({ type: "response.create", response: { max_output_tokens: 8, input } });
    const { status, status_details } = responseOf(await client.upTo("response.done"));
    assert.deepEqual([status, status_details?.reason], ["incomplete", "max_output_tokens"]);
  });

  test("follows the session's output format when it changes", async () => {
    const lengths: number[] = [];
    for (const type of ["audio/pcm", "audio/pcmu", "audio/pcma"]) {
      client.send({ type: "session.update", session: { audio: { output: { format: { type } } } } });
      client.send({ type: "response.create" });
      const from = client.events.length;
      await client.upTo("response.done");
      const deltas = client.events
        .slice(from)
        .filter(({ type: each }) => each === "response.output_audio.delta");
      lengths.push(bytesOf(deltas));
    }
    assert.ok(Math.abs(lengths[0]! - 6 * lengths[1]!) < 600, `${lengths}`);
    assert.equal(lengths[1], lengths[2]);
  });

  test("fails without a token, and the session goes on", async () => {
    const poor = await server.tenancy.createKey({ label: "poor", rpm: 1, burst: 2 });
    const own = await RealtimeClient.open({ url: server.url, key: poor.key });
    own.send({ type: "response.create" });
    assert.equal(responseOf(await own.upTo("response.done")).status, "completed");
    own.send({ type: "response.create" });
    const failed = responseOf(await own.upTo("response.done"));
    assert.equal(failed.status_details?.error?.code, "rate_limit_exceeded");
    assert.equal(failed.usage, null);
    await own.close();
    assert.deepEqual(own.faults, []);
  });

  test("fails once its key was revoked", async () => {
    const { own, keyId } = await withOwnKey();
    await server.tenancy.revokeKey(keyId);
    own.send({ type: "response.create" });
    const failed = responseOf(await own.upTo("response.done"));
    assert.equal(failed.status_details?.error?.code, "invalid_api_key");
    await own.close();
  });
});

test("a transcription session transcribes, meters each turn and never responds", async () => {
  const other = await server.another();
  const options = { query: "?intent=transcription", headers: other.auth };
  const own = await RealtimeClient.open({ url: server.url, key: other.key }, options);
  turn(own);
  const { transcript } = await own.upTo("conversation.item.input_audio_transcription.completed");
  assert.equal(transcript, SECRET_WORDS);
  own.send({ type: "response.create" });
  assert.equal(await errorCode(own), "invalid_value");
  await until("its usage", async () => {
    const usage = await server.usage(other.auth);
    return usage.requests === 1 && usage.input_audio_seconds > 0.6;
  });
  await own.close();
  assert.deepEqual(own.faults, []);
  assert.ok(!own.types.includes("response.created"));
});
