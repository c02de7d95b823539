import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { until } from "../../waiting.ts";
import { ChatServer } from "../../writers/chat/chat-server.ts";
import { ScriptedDetector } from "../realtime/scripted-detector.ts";
import { writerAt } from "./chat-writer.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { readEvents } from "./wire.ts";

const WRITTEN = "*nods* I've booked it. **Ring** 020 7946 0018 \u{1f44d} before six.";
const SPOKEN = "I've booked it. Ring 020 7946 0018 before six.";
const ASKED = "What number do I ring?";
const BODY = { conversation: [{ speaker: "0", text: ASKED }, { speaker: "1" }] };

let endpoint: ChatServer;
let server: TestServer;
before(async () => {
  endpoint = await ChatServer.open((exchange) => exchange.begin().say(WRITTEN).finish());
  server = await startTestServer({ writer: writerAt(endpoint), detector: new ScriptedDetector() });
});
after(async () => {
  await server.stop();
  await endpoint.close();
});

test("a reply, a stream's end and the words with their times are what the endpoint wrote, without marks", async () => {
  const { reply, meta } = await (await server.post("/v1/converse", BODY)).json();
  assert.equal(reply.text, SPOKEN);
  for (const { word, offset } of meta.words) assert.ok(SPOKEN.startsWith(word, offset), word);
  const events = await readEvents(await server.post("/v1/converse/stream", BODY));
  const end = events.find(({ event }) => event === "end");
  assert.equal((end?.data as { text?: string } | undefined)?.text, SPOKEN);
});

test("a realtime transcript and its history are the same words", async () => {
  const told: { type: string; transcript?: string; response?: { output: unknown } }[] = [];
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/realtime`, {
    headers: { Authorization: `Bearer ${server.key}` },
  });
  socket.on("message", (data) => told.push(JSON.parse(`${data}`)));
  const event = async (type: string) => {
    await until(type, () => told.some((each) => each.type === type));
    return told.find((each) => each.type === type)!;
  };
  try {
    await event("session.created");
    const content = [{ type: "input_text", text: ASKED }];
    for (const sent of [
      { type: "conversation.item.create", item: { type: "message", role: "user", content } },
      { type: "response.create" },
    ])
      socket.send(JSON.stringify(sent));
    assert.equal((await event("response.output_audio_transcript.done")).transcript, SPOKEN);
    assert.match(JSON.stringify((await event("response.done")).response?.output), new RegExp(SPOKEN));
  } finally {
    socket.terminate();
  }
});
