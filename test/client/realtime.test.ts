import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AntiphonError } from "../../src/client/antiphon-error.ts";
import {
  heardText,
  RealtimeConversation,
  type RealtimeOptions,
  type RealtimeState,
} from "../../src/client/realtime.ts";
import { EVENT_HANDLERS } from "../../src/client/realtime-connection.ts";
import { toBase64 } from "../../src/client/samples.ts";
import { FakePlayer, FakeSocket } from "./fake-conversation.ts";

function opened(options: Partial<RealtimeOptions> = {}) {
  const players: FakePlayer[] = [];
  const states: RealtimeState[] = [];
  const errors: AntiphonError[] = [];
  const conversation = new RealtimeConversation({
    baseUrl: "http://host:1/",
    apiKey: "ek_1",
    WebSocket: FakeSocket,
    openPlayer: (events) => {
      players.push(new FakePlayer(events));
      return players.at(-1)!;
    },
    onState: (state) => states.push(state),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { conversation, players, states, errors };
}

async function begun(options: Partial<RealtimeOptions> = {}) {
  const made = opened(options);
  await made.conversation.connect();
  return { ...made, socket: FakeSocket.last };
}

const at = { response_id: "r", item_id: "a", output_index: 0, content_index: 0 };
const word = (word: string, start: number, offset: number) => ({
  word,
  start_ms: 1_000 * start,
  end_ms: 1_000 * start + 400,
  offset,
  length: word.length,
});
/** Half a second of silence. */
const pcm = toBase64(new Uint8Array(24_000));

/** Sends a user turn and a complete reply of two words. */
function answered(socket: FakeSocket): void {
  socket.tell(
    { type: "input_audio_buffer.speech_started", item_id: "u", audio_start_ms: 0 },
    { type: "input_audio_buffer.speech_stopped", item_id: "u", audio_end_ms: 10 },
    { type: "conversation.item.input_audio_transcription.completed", item_id: "u", transcript: "Hello." },
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_audio_transcript.delta", ...at, delta: "Good morning." },
    { type: "response.output_audio.delta", ...at, delta: pcm, antiphon_words: [word("Good", 0, 0)] },
    { type: "response.output_audio.delta", ...at, delta: pcm, antiphon_words: [word("morning", 0.5, 5)] },
    { type: "response.output_item.done", item: { id: "a", status: "completed" } },
    { type: "response.done", response: { id: "r", status: "completed" } },
  );
}

describe("RealtimeConversation", () => {
  it("connects by the browsers' subprotocols and sends the session's settings", async () => {
    const { socket, conversation } = await begun({
      model: "svc-beta-v0.3",
      session: { instructions: "Be kind.", audio: { output: { voice: "1" } } },
    });
    assert.equal(socket.url, "ws://host:1/v1/realtime?model=svc-beta-v0.3");
    assert.deepEqual(socket.protocols, ["realtime", "openai-insecure-api-key.ek_1"]);
    const audio = { output: { voice: "1" }, input: { transcription: { model: "whisper-1" } } };
    assert.deepEqual(socket.sent, [
      { type: "session.update", session: { type: "realtime", instructions: "Be kind.", audio } },
    ]);
    assert.equal(conversation.state, "listening");
  });

  it("keeps both sides' turns, reports its state, and ends a reply when it was played", async () => {
    const { socket, conversation, players, states } = await begun();
    conversation.hear(new Int16Array(480));
    answered(socket);
    const turns = conversation.turns.map(({ role, text, state }) => `${role} ${state}: ${text}`);
    assert.deepEqual(turns, ["user done: Hello.", "assistant speaking: Good morning."]);
    assert.equal(players[0]!.samples, 24_000);
    assert.ok(players[0]!.isComplete);
    assert.ok(conversation.turns[1]!.latencyMs! >= 0);
    players[0]!.events.onEnd();
    assert.equal(conversation.turns[1]!.state, "done");
    assert.deepEqual(states, ["listening", "hearing", "thinking", "speaking", "listening"]);
  });

  it("stops playback at an interruption and reports how much was played", async () => {
    const { socket, conversation, players } = await begun();
    answered(socket);
    players[0]!.positionS = 0.4567;
    socket.tell({ type: "input_audio_buffer.speech_started", item_id: "v", audio_start_ms: 900 });
    assert.ok(players[0]!.isStopped);
    assert.deepEqual(socket.sent.at(-1), {
      type: "conversation.item.truncate",
      item_id: "a",
      content_index: 0,
      audio_end_ms: 456,
    });
    const reply = conversation.turns[1]!;
    assert.deepEqual([reply.state, heardText(reply)], ["interrupted", "Good"]);
    socket.tell({ type: "response.output_audio.delta", ...at, delta: pcm });
    assert.equal(players.length, 1, "what comes late is not heard");
  });

  it("keeps playing if the session does not allow interruptions", async () => {
    const { socket, players } = await begun();
    const input = { turn_detection: { interrupt_response: false } };
    socket.tell({ type: "session.updated", session: { audio: { input } } });
    answered(socket);
    socket.tell({ type: "input_audio_buffer.speech_started", item_id: "v", audio_start_ms: 900 });
    assert.ok(!players[0]!.isStopped);
  });

  it("sends typed text after it cancels the current reply", async () => {
    const { socket, conversation, players } = await begun();
    socket.tell(
      { type: "response.created", response: { id: "r" } },
      { type: "response.output_audio.delta", ...at, delta: pcm },
    );
    conversation.say("Wait!");
    assert.ok(players[0]!.isStopped);
    assert.deepEqual(socket.types().slice(1), [
      "response.cancel",
      "conversation.item.truncate",
      "conversation.item.create",
      "response.create",
    ]);
    assert.equal(conversation.state, "thinking");
  });

  it("requests the reply again once the one under way is over", async () => {
    const { socket, conversation, errors } = await begun();
    conversation.say("Hello?");
    const code = "conversation_already_has_active_response";
    socket.tell({ type: "error", error: { code, message: "a reply is under way" } });
    socket.tell({ type: "response.done", response: { id: "r", status: "cancelled" } });
    assert.equal(socket.types().filter((type) => type === "response.create").length, 2);
    assert.deepEqual(errors, []);
  });

  it("sends text and updates made while connecting, after the history", async () => {
    const first = await begun();
    answered(first.socket);
    const { conversation, states } = opened({ history: first.conversation.turns });
    const connecting = conversation.connect();
    conversation.say("Hello?");
    conversation.update({ instructions: "Be kind." });
    await connecting;
    const socket = FakeSocket.last;
    const created = socket.sent.flatMap(
      ({ item }) => (item as { content?: { text: string }[] })?.content ?? [],
    );
    assert.equal(created.map(({ text }) => text).join("|"), "Hello.|Good morning.|Hello?");
    const items = Array(3).fill("conversation.item.create");
    assert.deepEqual(socket.types(), ["session.update", ...items, "response.create", "session.update"]);
    socket.tell(
      { type: "response.created", response: { id: "r" } },
      { type: "response.done", response: { id: "r", status: "completed" } },
    );
    assert.deepEqual(states, ["thinking", "listening"]);
  });

  it("sends nothing if it was closed while connecting", async () => {
    const { conversation } = opened();
    const connecting = conversation.connect();
    conversation.say("Hello?");
    conversation.close();
    await assert.rejects(connecting, /closed before it began/);
    assert.deepEqual([FakeSocket.last.sent, FakeSocket.last.readyState], [[], 3]);
  });

  it("plays a reply after the one before", async () => {
    const { socket, players } = await begun();
    answered(socket);
    const other = { ...at, item_id: "b" };
    socket.tell(
      { type: "response.output_audio.delta", ...other, delta: pcm },
      { type: "response.output_item.done", item: { id: "b", status: "completed" } },
    );
    assert.equal(players.length, 1);
    players[0]!.events.onEnd();
    assert.deepEqual([players.length, players[1]!.samples, players[1]!.isComplete], [2, 12_000, true]);
  });

  it("removes a turn without words and reports failed replies", async () => {
    const { socket, conversation, errors } = await begun();
    socket.tell(
      { type: "input_audio_buffer.speech_started", item_id: "u", audio_start_ms: 0 },
      { type: "input_audio_buffer.speech_stopped", item_id: "u", audio_end_ms: 10 },
      { type: "conversation.item.deleted", item_id: "u" },
    );
    assert.deepEqual([conversation.turns.length, conversation.state], [0, "listening"]);
    const details = { error: { message: "the writer is down" } };
    socket.tell({ type: "response.done", response: { id: "r", status: "failed", status_details: details } });
    assert.equal(errors.map(({ message }) => message).join("|"), "the writer is down");
  });

  it("ends with the connection and continues from its history in another session", async () => {
    const first = await begun();
    answered(first.socket);
    first.players[0]!.positionS = 0.45;
    (first.socket.onclose as (event: { reason: string }) => void)({ reason: "the session is over" });
    assert.equal(first.conversation.state, "closed");
    assert.deepEqual(
      first.errors.map(({ type, message }) => [type, message]),
      [["connection_error", "the session is over"]],
    );
    const next = await begun({ history: first.conversation.turns });
    const items = next.socket.sent.slice(1).map(({ item }) => (item as { content: unknown[] }).content[0]);
    assert.deepEqual(items, [
      { type: "input_text", text: "Hello." },
      { type: "output_text", text: "Good" },
    ]);
  });

  it("reports invalid events and goes on", async () => {
    const { socket, conversation, errors } = await begun();
    for (const fields of [
      {},
      { item_id: 7, delta: 7, session: 7, response: 7, error: 7, transcript: 7 },
      { ...at, delta: "%" },
    ])
      for (const type of Object.keys(EVENT_HANDLERS)) socket.tell({ type, ...fields });
    assert.ok(errors.length > 0);
    assert.ok(errors.every(({ type }) => type === "invalid_response" || type === "inference_error"));
    assert.notEqual(conversation.state, "closed");
  });

  it("ignores messages that are not events", async () => {
    const { socket, conversation } = await begun();
    for (const type of ["1", '"constructor"', '"new.event"']) socket.say(`{"type":${type}}`);
    for (const data of ["", "null", "{", "[]"]) socket.say(data);
    assert.equal(conversation.state, "listening");
  });
});
