import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, describe, test } from "node:test";
import type { ServerEvent } from "../../../../src/api/realtime/realtime-dialect.ts";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../start.ts";

const SAID = "What is that about?";
const LONG =
  "That is a long story, which began when nobody had thought of it yet, and it goes on and on, as such stories do.";

let server: TestServer | null = null;
let recogniser: ScriptedRecogniser;
let writer: ScriptedWriter;
let detector: ScriptedDetector;
/** Lets replies go on that wait in their middle. */
let goOn: () => void;

async function start(options: TestServerOptions = {}, answer = LONG): Promise<TestServer> {
  recogniser = new ScriptedRecogniser([segmentOf(SAID, 0)]);
  writer = new ScriptedWriter([answer]);
  detector = new ScriptedDetector();
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const tone = { beforeFrame: (index: number) => (index === 6 ? going : undefined) };
  server = await startTestServer({ recogniser, writer, detector, tone, ...options });
  return server;
}

afterEach(async () => {
  recogniser.release();
  goOn();
  await server?.stop();
  server = null;
});

const ended = (own: TestServer) =>
  until("the end of the session and of all it did", async () => {
    const [sessions, begun, hearing] = await Promise.all([
      own.metric("realtime_sessions"),
      own.begun(),
      own.metric("turns_hearing"),
    ]);
    return sessions + begun + hearing === 0;
  });

/** Ways of getting a session into a state, each of which it can be left in. */
const STATES: readonly (readonly [string, (client: RealtimeClient) => Promise<unknown>])[] = [
  ["is quiet", async () => {}],
  [
    "is spoken to",
    async (client) => {
      client.speak(500);
      await client.upTo("input_audio_buffer.speech_started");
    },
  ],
  [
    "hears a turn",
    async (client) => {
      recogniser.hold();
      client.speak(700);
      client.speak(800, { isSilent: true });
      await client.upTo("input_audio_buffer.committed");
    },
  ],
  [
    "speaks",
    async (client) => {
      client.send({ type: "response.create" });
      await client.upTo("response.output_audio.delta");
    },
  ],
];

describe("A client that leaves while its session", () => {
  for (const [name, reach] of STATES) {
    for (const how of ["close", "terminate"] as const) {
      test(`${name}, by ${how}, leaves nothing behind`, async () => {
        const own = await start();
        const client = await RealtimeClient.open(own);
        await reach(client);
        client.socket[how]();
        await ended(own);
        assert.equal(recogniser.asked.length, recogniser.clips.length);
      });
    }
  }
});

describe("A server that stops while a session", () => {
  for (const [name, reach] of STATES) {
    test(`${name} finishes the reply and closes with 1001`, async () => {
      const own = await start();
      const client = await RealtimeClient.open(own);
      await reach(client);
      const isSpeaking = name === "speaks";
      const stopped = own.stop();
      server = null;
      goOn();
      const { code } = await client.closing();
      await stopped;
      assert.equal(code, 1_001);
      const done = client.events.find(({ type }) => type === "response.done");
      if (isSpeaking) assert.equal((done!.response as { status: string }).status, "completed");
    });
  }

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
    const client = await RealtimeClient.open(own, {
      headers: { Authorization: `Bearer ${own.key}` },
      answersPings: false,
    });
    assert.equal((await client.closing()).code, 1_006);
    await ended(own);
  });

  test("that answers pings but sends nothing gets session_idle", async () => {
    const own = await start({ flags: { heartbeatMs: "100", "realtime.idleTimeoutMs": "1000" } });
    const client = await RealtimeClient.open(own);
    const error = await client.upTo("error");
    assert.equal((error.error as { code: string }).code, "session_idle");
    assert.equal((await client.closing()).code, 1_008);
  });

  test("that is idle gets session_idle within a second, with a long heartbeat", async () => {
    const own = await start({ flags: { heartbeatMs: "60000", "realtime.idleTimeoutMs": "1000" } });
    const client = await RealtimeClient.open(own);
    assert.equal(((await client.upTo("error")).error as { code: string }).code, "session_idle");
    assert.equal((await client.closing()).code, 1_008);
  });

  test("that stays beyond the session limit gets session_expired", async () => {
    const own = await start({ flags: { "realtime.maxSessionS": "1" } });
    const client = await RealtimeClient.open(own);
    const error = await client.upTo("error");
    assert.equal((error.error as { code: string }).code, "session_expired");
    assert.equal((await client.closing()).code, 1_008);
  });

  test("that reads nothing gets no more events and is disconnected", async () => {
    const own = await start({ flags: { heartbeatMs: "200" } });
    const client = await RealtimeClient.open(own);
    client.socket.pause();
    // Each is answered with as much, which nobody reads.
    const update = { type: "session.update", session: { instructions: "x".repeat(100_000) } };
    for (let count = 0; count < 400; count += 1) client.send(update);
    await ended(own);
    client.socket.terminate();
  });

  test("that floods audio has at most 8 chunks analysed at once", async () => {
    const own = await start();
    const client = await RealtimeClient.open(own);
    client.speak(60_000, { isSilent: true });
    client.send({ type: "conversation.item.retrieve", item_id: "none" });
    await client.upTo("error");
    assert.ok(detector.mostAtOnce <= 8, `${detector.mostAtOnce} at once`);
    await client.close();
  });

  test("that stops sending midway ends its turn", async () => {
    const own = await start();
    const client = await RealtimeClient.open(own);
    client.speak(700);
    await client.upTo("input_audio_buffer.speech_stopped");
    await client.upTo("response.created");
    await client.close();
  });

  test("that clears its audio midway has said nothing", async () => {
    const own = await start();
    const client = await RealtimeClient.open(own);
    client.speak(500);
    await client.upTo("input_audio_buffer.speech_started");
    client.send({ type: "input_audio_buffer.clear" });
    await client.upTo("input_audio_buffer.cleared");
    client.speak(2_000, { isSilent: true });
    client.speak(700);
    const { audio_start_ms } = await client.upTo("input_audio_buffer.speech_started");
    assert.ok(Math.abs((audio_start_ms as number) - 2_200) <= 64, `${audio_start_ms}`);
    client.speak(800, { isSilent: true });
    await client.upTo("response.created");
    assert.equal(client.types.filter((type) => type === "input_audio_buffer.committed").length, 1);
    await client.close();
  });

  test("that re-enables turn detection gets correct offsets", async () => {
    const own = await start();
    const client = await RealtimeClient.open(own);
    const update = (turn_detection: unknown) =>
      client.send({ type: "session.update", session: { audio: { input: { turn_detection } } } });
    update(null);
    client.speak(1_000);
    update({ type: "semantic_vad" });
    client.speak(1_000, { isSilent: true });
    client.speak(700);
    const { audio_start_ms } = await client.upTo("input_audio_buffer.speech_started");
    assert.ok(Math.abs((audio_start_ms as number) - 1_700) <= 64, `${audio_start_ms}`);
    await client.close();
  });

  test("that interrupts a reply keeps only what was played of it", async () => {
    const own = await start();
    const client = await RealtimeClient.open(own);
    client.send({ type: "response.create" });
    const { item_id } = await client.upTo("response.output_audio.delta");
    client.speak(400);
    await client.upTo("input_audio_buffer.speech_started");
    const done = await client.upTo("response.done");
    assert.deepEqual((done.response as { status_details: unknown }).status_details, {
      type: "cancelled",
      reason: "turn_detected",
    });
    client.send({ type: "conversation.item.truncate", item_id, content_index: 0, audio_end_ms: 300.5 });
    assert.equal((await client.upTo("conversation.item.truncated")).audio_end_ms, 300);
    client.send({ type: "conversation.item.retrieve", item_id });
    const { content } = (await client.upTo("conversation.item.retrieved")).item as {
      content: { transcript: string }[];
    };
    assert.ok(LONG.startsWith(content[0]!.transcript) && content[0]!.transcript.length < 20);
    await client.close();
    await ended(own);
  });
});

describe("An interruption that needs two words", () => {
  const update = {
    type: "session.update",
    session: {
      audio: { input: { turn_detection: { type: "server_vad", antiphon_min_interruption_words: 2 } } },
    },
  };

  async function speaking(words: string): Promise<RealtimeClient> {
    const own = await start({}, "Oh, well, yes.");
    recogniser.hear(words === "" ? [] : [segmentOf(words, 0)]);
    const client = await RealtimeClient.open(own);
    client.send(update);
    const updated = await client.upTo("session.updated");
    assert.ok(!JSON.stringify(updated).includes("antiphon"), "clients know no such field");
    client.send({ type: "response.create" });
    await client.upTo("response.output_audio.delta");
    return client;
  }
  const status = (event: ServerEvent) => (event.response as { status: string }).status;

  test("ignores one word", async () => {
    const client = await speaking("Mhm.");
    client.speak(700);
    client.speak(800, { isSilent: true });
    const added = await client.upTo("conversation.item.done");
    assert.equal((added.item as { role: string }).role, "user");
    goOn();
    assert.equal(status(await client.upTo("response.done")), "completed");
    assert.ok(!client.types.includes("input_audio_buffer.speech_started"));
    await client.close();
    assert.equal(client.types.filter((type) => type === "response.created").length, 1);
  });

  test("ignores speech without words", async () => {
    const client = await speaking("");
    client.speak(700);
    client.speak(800, { isSilent: true });
    client.send({ type: "conversation.item.retrieve", item_id: "none" });
    await client.upTo("error");
    goOn();
    assert.equal(status(await client.upTo("response.done")), "completed");
    assert.ok(!client.types.some((type) => type.startsWith("input_audio_buffer.")));
    await client.close();
  });

  test("takes two words while they are spoken", async () => {
    const client = await speaking("Wait, please.");
    client.speak(1_000);
    const { audio_start_ms } = await client.upTo("input_audio_buffer.speech_started");
    assert.ok((audio_start_ms as number) <= 64);
    assert.equal(status(await client.upTo("response.done")), "cancelled");
    client.speak(800, { isSilent: true });
    goOn();
    await client.upTo("response.created");
    await client.close();
  });
});

test("a failed writer fails each reply, and the session goes on", async () => {
  const own = await start();
  const client = await RealtimeClient.open(own);
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
  const own = await start({}, "Hm.");
  const client = await RealtimeClient.open(own);
  client.send({
    type: "session.update",
    session: { audio: { input: { turn_detection: { type: "server_vad", idle_timeout_ms: 1_000 } } } },
  });
  goOn();
  client.send({ type: "response.create" });
  await client.upTo("response.done");
  await client.upTo("input_audio_buffer.timeout_triggered");
  await client.upTo("response.created");
  client.socket.terminate();
  await once(client.socket, "close");
  assert.deepEqual(client.faults, []);
});
