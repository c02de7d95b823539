import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, describe, test } from "node:test";
import type { ServerEvent } from "../../../../src/api/realtime/realtime-dialect.ts";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { frameGate, startTestServer, type TestServer, type TestServerOptions } from "../start.ts";

const LONG =
  "That is a long story, which began when nobody had thought of it yet, and it goes on and on, as such stories do.";

let server: TestServer | null = null;
let recogniser: ScriptedRecogniser;
let writer: ScriptedWriter;
let detector: ScriptedDetector;
/** Releases replies, which wait at their sixth frame. */
let resume: () => void;

async function start(options: TestServerOptions = {}, answer = LONG): Promise<TestServer> {
  recogniser = new ScriptedRecogniser([segmentOf("What is that about?", 0)]);
  writer = new ScriptedWriter([answer]);
  detector = new ScriptedDetector();
  const gate = frameGate((index) => index === 6);
  resume = gate.open;
  server = await startTestServer({ recogniser, writer, detector, tone: gate.tone, ...options });
  return server;
}

async function openSession(options: TestServerOptions = {}, answer = LONG): Promise<RealtimeClient> {
  return RealtimeClient.open(await start(options, answer));
}

afterEach(async () => {
  recogniser.release();
  resume();
  await server?.stop();
  server = null;
});

const ended = (own = server!) =>
  until("the end of the session and of all it did", async () => {
    const counts = [own.metric("realtime_sessions"), own.begun(), own.metric("turns_hearing")];
    return (await Promise.all(counts)).every((count) => count === 0);
  });

function speakTurn(client: RealtimeClient): void {
  client.speak(700);
  client.speak(800, { isSilent: true });
}
const errorCode = async (client: RealtimeClient) =>
  ((await client.upTo("error")).error as { code: string }).code;
const startOfSpeech = async (client: RealtimeClient) =>
  (await client.upTo("input_audio_buffer.speech_started")).audio_start_ms as number;

/** Brings a session into each of its states. */
const STATES: Readonly<Record<string, (client: RealtimeClient) => Promise<unknown>>> = {
  "is quiet": async () => {},
  "detects speech": async (client) => {
    client.speak(500);
    await startOfSpeech(client);
  },
  "transcribes a turn": async (client) => {
    recogniser.hold();
    speakTurn(client);
    await client.upTo("input_audio_buffer.committed");
  },
  speaks: async (client) => {
    client.send({ type: "response.create" });
    await client.upTo("response.output_audio.delta");
  },
};

describe("A client that leaves while its session", () => {
  for (const [state, reach] of Object.entries(STATES))
    for (const how of ["close", "terminate"] as const)
      test(`${state}, by ${how}, leaves nothing behind`, async () => {
        const client = await openSession();
        await reach(client);
        client.socket[how]();
        await ended();
        assert.equal(recogniser.asked.length, recogniser.clips.length);
      });
});

describe("A server that stops while a session", () => {
  for (const [state, reach] of Object.entries(STATES))
    test(`${state} finishes the reply and closes with 1001`, async () => {
      const own = await start();
      const client = await RealtimeClient.open(own);
      await reach(client);
      const stopped = own.stop();
      server = null;
      resume();
      assert.equal((await client.closing()).code, 1_001);
      await stopped;
      const done = client.events.find(({ type }) => type === "response.done");
      if (state === "speaks") assert.equal((done!.response as { status: string }).status, "completed");
    });

  test("has a client that reads nothing still stops after its grace", async () => {
    const own = await start({ flags: { shutdownGraceMs: "100" } });
    const client = await RealtimeClient.open(own);
    client.socket.pause();
    client.send({ type: "response.create" });
    await until("its reply", async () => (await own.begun()) > 0);
    server = null;
    await own.stop();
    client.socket.terminate();
  });
});

describe("A realtime client", () => {
  test("that answers no ping is disconnected", async () => {
    const own = await start({ flags: { heartbeatMs: "100" } });
    const client = await RealtimeClient.open(own, { answersPings: false });
    assert.equal((await client.closing()).code, 1_006);
    await ended();
  });

  for (const [what, flags, code] of [
    [
      "answers pings but sends nothing",
      { heartbeatMs: "100", "realtime.idleTimeoutMs": "1000" },
      "session_idle",
    ],
    [
      "is idle between rare pings",
      { heartbeatMs: "60000", "realtime.idleTimeoutMs": "1000" },
      "session_idle",
    ],
    ["stays beyond the session limit", { "realtime.maxSessionS": "1" }, "session_expired"],
  ] as const)
    test(`that ${what} gets ${code}`, async () => {
      const client = await openSession({ flags });
      assert.equal(await errorCode(client), code);
      assert.equal((await client.closing()).code, 1_008);
    });

  test("that reads nothing gets no more events and is disconnected", async () => {
    const client = await openSession({ flags: { heartbeatMs: "200" } });
    client.socket.pause();
    // Each reply is as large as its request.
    const update = { type: "session.update", session: { instructions: "x".repeat(100_000) } };
    for (let count = 0; count < 400; count += 1) client.send(update);
    await ended();
    client.socket.terminate();
  });

  test("that floods audio has at most 8 chunks analysed at once, by one detector", async () => {
    const client = await openSession();
    client.speak(60_000, { isSilent: true });
    client.send({ type: "conversation.item.retrieve", item_id: "none" });
    await client.upTo("error");
    assert.ok(detector.mostAtOnce <= 8, `${detector.mostAtOnce} at once`);
    assert.equal(detector.opened, 1);
    await client.close();
  });

  test("that stops sending midway ends its turn", async () => {
    const client = await openSession();
    client.speak(700);
    await client.upTo("input_audio_buffer.speech_stopped");
    await client.upTo("response.created");
    await client.close();
  });

  test("that clears its audio midway has said nothing", async () => {
    const client = await openSession();
    client.speak(500);
    await startOfSpeech(client);
    client.send({ type: "input_audio_buffer.clear" });
    await client.upTo("input_audio_buffer.cleared");
    client.speak(2_000, { isSilent: true });
    speakTurn(client);
    const startMs = await startOfSpeech(client);
    assert.ok(Math.abs(startMs - 2_200) <= 64, `${startMs}`);
    await client.upTo("response.created");
    assert.equal(client.types.filter((type) => type === "input_audio_buffer.committed").length, 1);
    await client.close();
  });

  test("that re-enables turn detection gets correct offsets", async () => {
    const client = await openSession();
    const update = (turn_detection: unknown) =>
      client.send({ type: "session.update", session: { audio: { input: { turn_detection } } } });
    update(null);
    client.speak(1_000);
    update({ type: "semantic_vad" });
    client.speak(1_000, { isSilent: true });
    client.speak(700);
    const startMs = await startOfSpeech(client);
    assert.ok(Math.abs(startMs - 1_700) <= 64, `${startMs}`);
    await client.close();
  });

  test("that interrupts a reply keeps only what was played of it", async () => {
    const client = await openSession();
    client.send({ type: "response.create" });
    const { item_id } = await client.upTo("response.output_audio.delta");
    client.speak(400);
    await startOfSpeech(client);
    const { response } = await client.upTo("response.done");
    const { status_details } = response as { status_details: unknown };
    assert.deepEqual(status_details, { type: "cancelled", reason: "turn_detected" });
    client.send({ type: "conversation.item.truncate", item_id, content_index: 0, audio_end_ms: 300.5 });
    assert.equal((await client.upTo("conversation.item.truncated")).audio_end_ms, 300);
    client.send({ type: "conversation.item.retrieve", item_id });
    const { item } = await client.upTo("conversation.item.retrieved");
    const { content } = item as { content: { transcript: string }[] };
    assert.ok(LONG.startsWith(content[0]!.transcript) && content[0]!.transcript.length < 20);
    await client.close();
    await ended();
  });
});

describe("An interruption that needs two words", () => {
  const turn_detection = { type: "server_vad", antiphon_min_interruption_words: 2 };
  const update = { type: "session.update", session: { audio: { input: { turn_detection } } } };

  async function speaking(words: string): Promise<RealtimeClient> {
    const client = await openSession({}, "Oh, well, yes.");
    recogniser.hear(words === "" ? [] : [segmentOf(words, 0)]);
    client.send(update);
    const updated = await client.upTo("session.updated");
    assert.ok(!JSON.stringify(updated).includes("antiphon"), "clients do not know the field");
    client.send({ type: "response.create" });
    await client.upTo("response.output_audio.delta");
    return client;
  }
  const status = (event: ServerEvent) => (event.response as { status: string }).status;

  test("ignores one word", async () => {
    const client = await speaking("Mhm.");
    speakTurn(client);
    const added = await client.upTo("conversation.item.done");
    assert.equal((added.item as { role: string }).role, "user");
    resume();
    assert.equal(status(await client.upTo("response.done")), "completed");
    assert.ok(!client.types.includes("input_audio_buffer.speech_started"));
    await client.close();
    assert.equal(client.types.filter((type) => type === "response.created").length, 1);
  });

  test("ignores speech without words", async () => {
    const client = await speaking("");
    speakTurn(client);
    client.send({ type: "conversation.item.retrieve", item_id: "none" });
    await client.upTo("error");
    resume();
    assert.equal(status(await client.upTo("response.done")), "completed");
    assert.ok(!client.types.some((type) => type.startsWith("input_audio_buffer.")));
    await client.close();
  });

  test("takes two words while they are spoken", async () => {
    const client = await speaking("Wait, please.");
    client.speak(1_000);
    assert.ok((await startOfSpeech(client)) <= 64);
    assert.equal(status(await client.upTo("response.done")), "cancelled");
    client.speak(800, { isSilent: true });
    resume();
    await client.upTo("response.created");
    await client.close();
  });
});

test("a failed writer fails each reply, and the session goes on", async () => {
  const client = await openSession();
  writer.fail();
  client.send({ type: "response.create" });
  const { status, status_details } = (await client.upTo("response.done")).response as {
    status: string;
    status_details: { error: { code: string } };
  };
  assert.deepEqual([status, status_details.error.code], ["failed", "inference_error"]);
  await client.close();
  assert.deepEqual(client.faults, []);
});

test("idle_timeout_ms answers silence after a reply", async () => {
  const client = await openSession({}, "Hm.");
  const turn_detection = { type: "server_vad", idle_timeout_ms: 1_000 };
  client.send({ type: "session.update", session: { audio: { input: { turn_detection } } } });
  resume();
  client.send({ type: "response.create" });
  await client.upTo("response.done");
  await client.upTo("input_audio_buffer.timeout_triggered");
  await client.upTo("response.created");
  client.socket.terminate();
  await once(client.socket, "close");
  assert.deepEqual(client.faults, []);
});
