import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { itemPayload, itemText } from "../../../src/api/realtime/conversation-items.ts";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import type { SessionSettings } from "../../../src/api/realtime/session-settings.ts";
import type { ClientEvent, ResponseOptions } from "../../../src/contract/realtime/client-events.ts";
import {
  effectIn,
  errorIn,
  requestsIn,
  SessionDriver,
  sentIn,
  typesIn,
  WINDOW_MS,
} from "./session-driver.ts";

const CREATED = "response.created";
const DELTA = "response.output_audio.delta";
const STARTED = "input_audio_buffer.speech_started";
const UNINTERRUPTED = { turnDetection: { type: "server_vad", interrupt_response: false } } as const;
const TURN_DETECTED = { status: "cancelled", status_details: { type: "cancelled", reason: "turn_detected" } };

/** A session whose user has said something. */
function afterTurn(text = "Hello.", settings: Partial<SessionSettings> = {}): SessionDriver {
  const driver = new SessionDriver(settings);
  driver.userTurn(text);
  return driver;
}

function doneIn(effects: readonly SessionEffect[]) {
  const { response } = sentIn(effects).find(({ type }) => type === "response.done")!;
  const { status, status_details } = response as Record<string, unknown>;
  return { status, status_details };
}

describe("a response requested right after a commit", () => {
  function committed(): SessionDriver {
    const driver = new SessionDriver({ turnDetection: null });
    driver.windows(20, 0.99);
    driver.commit();
    const effects = driver.respond();
    assert.deepEqual([typesIn(effects), requestsIn(effects)], [[CREATED], []]);
    return driver;
  }

  it("is generated once the transcript is there", () => {
    const [request, ...more] = requestsIn(committed().transcript("Hello."));
    assert.deepEqual(request!.items.map(itemText), ["Hello."]);
    assert.equal(more.length, 0);
  });

  it("is generated even if the transcription fails", () => {
    assert.equal(requestsIn(committed().transcript(null)).length, 1);
  });

  it("is not generated after it was cancelled", () => {
    const driver = committed();
    driver.client({ type: "response.cancel" });
    assert.deepEqual(requestsIn(driver.transcript("Hello.")), []);
  });

  it("is the only reply to its turn", () => {
    const driver = new SessionDriver();
    driver.windows(20, 0.99);
    driver.windows(20, 0.01);
    driver.respond();
    assert.equal(requestsIn(driver.transcript("Hello.")).length, 1);
    assert.deepEqual(requestsIn(driver.completeReply()), []);
  });
});

describe("a response", () => {
  it("sends its events in the order that clients rely on", () => {
    const driver = afterTurn();
    const from = driver.sent.length - 1;
    driver.replyWords("One", "two");
    driver.completeReply();
    assert.deepEqual(driver.types.slice(from), [
      CREATED,
      "response.output_item.added",
      "conversation.item.added",
      "response.content_part.added",
      "response.output_audio_transcript.delta",
      DELTA,
      "response.output_audio_transcript.delta",
      DELTA,
      "response.output_audio.done",
      "response.output_audio_transcript.done",
      "response.content_part.done",
      "conversation.item.done",
      "response.output_item.done",
      "response.done",
    ]);
    const done = driver.sent.at(-1)!.response as { status: string; output: unknown[] };
    assert.deepEqual([done.status, done.output.length], ["completed", 1]);
  });

  it("ends at an interruption and keeps the words that were played", () => {
    const driver = afterTurn();
    driver.replyWords("one,", "two,", "six,", "ten.");
    driver.nowMs += 760;
    const effects = driver.windows(5, 0.99);
    const types = typesIn(effects);
    assert.equal(types[0], STARTED);
    assert.ok(!types.some((type) => type.endsWith(".delta")));
    effectIn(effects, "cancel");
    assert.deepEqual(doneIn(effects), TURN_DETECTED);
    assert.equal(itemText(driver.session.items.at(-1)!), "one, two,");
    assert.deepEqual(driver.replyWord("seven", 4), [], "late audio is dropped");
  });

  it("is cut by an interruption while it is still being played", () => {
    const driver = afterTurn();
    driver.replyWords("one,", "two,", "six,", "ten.");
    driver.completeReply();
    driver.nowMs += 300;
    assert.deepEqual(typesIn(driver.windows(5, 0.99)), [STARTED]);
    assert.equal(itemText(driver.session.items.at(-1)!), "one,");
  });

  it("is cut where the client truncates it", () => {
    const driver = afterTurn();
    driver.replyWords("one,", "two,", "six,", "ten.");
    driver.completeReply();
    const item = driver.session.items.at(-1)!;
    const at = { type: "conversation.item.truncate", item_id: item.id, content_index: 0 } as const;
    const cut = (ms: number) => sentIn(driver.client({ ...at, audio_end_ms: ms }))[0]!.audio_end_ms;
    assert.equal(cut(1_250.5), 1_250);
    assert.equal(itemText(item), "one, two, six,");
    assert.equal(cut(99_999), 1_250, "it never grows");
    assert.equal(cut(500), 500);
    const [content] = itemPayload(item).content as unknown[];
    assert.deepEqual(content, { type: "output_audio", transcript: "one," });
  });

  it("continues if the session does not allow interruptions", () => {
    const driver = afterTurn("Hello.", UNINTERRUPTED);
    driver.replyWord("one", 0);
    assert.deepEqual(typesIn(driver.windows(6, 0.99)), [STARTED]);
    assert.ok(typesIn(driver.replyWord("two", 1)).includes(DELTA));
  });

  it("answers two turns at once if the second one came before the reply", () => {
    const driver = new SessionDriver();
    driver.windows(20, 0.99);
    driver.windows(20, 0.01);
    const first = effectIn(driver.effects, "transcribe");
    driver.windows(20, 0.99);
    driver.transcript("Wait.", first);
    assert.ok(!driver.types.includes(CREATED), "the user is speaking");
    driver.windows(20, 0.01);
    driver.transcript("I have a question.");
    assert.equal(driver.types.filter((type) => type === CREATED).length, 1);
    const { request } = effectIn(driver.effects, "respond");
    assert.deepEqual(request.items.map(itemText), ["Wait.", "I have a question."]);
  });

  it("is the only one at a time, except outside the conversation", () => {
    const driver = afterTurn();
    assert.equal(errorIn(driver.respond()).code, "conversation_already_has_active_response");
    const response: ResponseOptions = { conversation: "none", metadata: { a: "1" } };
    const [created] = sentIn(driver.client({ type: "response.create", response }));
    assert.equal(created!.type, CREATED);
    assert.deepEqual((created!.response as ResponseOptions).metadata, { a: "1" });
    driver.replyWord("aside", 0);
    driver.completeReply();
    assert.ok(driver.session.items.every((item) => itemText(item) !== "aside"));
  });

  it("cannot be cancelled if none is active, with the message that clients look for", () => {
    const { code, message } = errorIn(new SessionDriver().client({ type: "response.cancel" }));
    assert.equal(code, "response_cancel_not_active");
    assert.equal(message, "Cancellation failed: no active response found");
  });

  it("is created after the idle time-out", () => {
    const driver = afterTurn("Hello.", { turnDetection: { type: "server_vad", idle_timeout_ms: 5_000 } });
    driver.replyWord("Yes", 0);
    const { atMs } = effectIn(driver.completeReply(), "set_timer");
    assert.equal(atMs, driver.nowMs + 400 + 5_000);
    driver.nowMs += 5_400;
    assert.deepEqual(typesIn(driver.wake()), ["input_audio_buffer.timeout_triggered", CREATED]);
  });
});

/** A session whose response has sent no audio yet while the user may start to speak again. */
function aboutToReply(): SessionDriver {
  const driver = afterTurn("Is it?");
  driver.windows(1, 0.99);
  return driver;
}

describe("a response whose user may still be speaking", () => {
  const firstAudioIn = (effects: readonly SessionEffect[]) =>
    effects.filter(({ type }) => type === "first_audio");

  it("measures its latency up to the first audio sent, not made", () => {
    const driver = aboutToReply();
    driver.nowMs += 100;
    assert.deepEqual(firstAudioIn(driver.replyWord("Yes,", 0)), []);
    // The speech had 20 windows, and 22 have come since.
    const afterMs = 22 * WINDOW_MS + 100;
    assert.deepEqual(firstAudioIn(driver.windows(1, 0.01)), [{ type: "first_audio", afterMs }]);
    assert.deepEqual(firstAudioIn(driver.replyWord("it", 1)), []);
  });

  it("is held back and starts with the next silent window", () => {
    const driver = aboutToReply();
    assert.deepEqual(typesIn(driver.replyWord("Yes,", 0)), []);
    assert.deepEqual(typesIn(driver.replyWord("it", 1)), []);
    assert.equal(typesIn(driver.windows(1, 0.01)).filter((type) => type === DELTA).length, 2);
    assert.equal(typesIn(driver.completeReply()).at(-1), "response.done");
  });

  it("is cancelled unheard if the user goes on, and both turns are answered", () => {
    const driver = aboutToReply();
    driver.replyWord("Yes,", 0);
    const effects = driver.windows(2, 0.99);
    assert.equal(typesIn(effects)[0], STARTED);
    assert.ok(typesIn(effects).includes("response.done"));
    const more = driver.windows(20, 0.01);
    assert.deepEqual(firstAudioIn([...effects, ...more]), []);
    assert.ok(typesIn(driver.transcript("Tell me.")).includes(CREATED));
    assert.ok(!driver.types.includes(DELTA));
  });

  it("ends after its held audio", () => {
    const driver = aboutToReply();
    driver.replyWord("Yes.", 0);
    assert.deepEqual(typesIn(driver.completeReply()), []);
    const types = typesIn(driver.windows(1, 0.01));
    assert.ok(types.indexOf(DELTA) >= 0 && types.indexOf("response.done") > types.indexOf(DELTA));
  });

  it("drops its held audio when it is cancelled", () => {
    const driver = aboutToReply();
    driver.replyWord("Yes.", 0);
    driver.completeReply();
    const types = typesIn(driver.client({ type: "response.cancel" }));
    assert.ok(types.includes("response.done") && !types.includes(DELTA));
    assert.deepEqual(typesIn(driver.windows(1, 0.01)), []);
  });

  it("starts at its timer if the microphone sends nothing", () => {
    const driver = aboutToReply();
    driver.nowMs = effectIn(driver.replyWord("Yes.", 0), "set_timer").atMs!;
    assert.ok(typesIn(driver.wake()).includes(DELTA));
  });

  it("starts at its timer if the detector returns nothing for new audio", () => {
    const driver = aboutToReply();
    driver.replyWord("Yes.", 0);
    driver.nowMs += 200;
    driver.appended += 4_800;
    driver.client({ type: "input_audio_buffer.append", audio: "AAAA" });
    assert.ok(typesIn(driver.wake()).includes(DELTA));
  });

  it("is not held back if the session does not allow interruptions", () => {
    const driver = afterTurn("Is it?", UNINTERRUPTED);
    driver.windows(1, 0.99);
    assert.ok(typesIn(driver.replyWord("Yes.", 0)).includes(DELTA));
  });

  it("continues if it has started already", () => {
    const driver = afterTurn("Is it?");
    driver.replyWord("Yes,", 0);
    driver.windows(1, 0.99);
    assert.ok(typesIn(driver.replyWord("it", 1)).includes(DELTA));
  });
});

/** A session whose client sends a function's output and requests a response while the user speaks. */
function requestedWhileSpeaking(settings: Partial<SessionSettings> = {}, response: ResponseOptions = {}) {
  const driver = new SessionDriver({ turnDetection: { type: "server_vad" }, ...settings });
  driver.windows(10, 0.99);
  for (const item of [
    { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "It rains." },
  ] as const)
    driver.client({ type: "conversation.item.create", item });
  return { driver, effects: driver.client({ type: "response.create", response }) };
}

const updateDetection = (turn_detection: object | null) =>
  ({ type: "session.update", session: { audio: { input: { turn_detection } } } }) as ClientEvent;

describe("a response requested while the user speaks", () => {
  it("waits for the end of the turn and answers it as well", () => {
    const { driver, effects } = requestedWhileSpeaking();
    assert.deepEqual(typesIn(effects), [CREATED]);
    assert.deepEqual(requestsIn(driver.windows(20, 0.99)), []);
    assert.deepEqual(requestsIn(driver.windows(20, 0.01)), []);
    const [request, ...more] = requestsIn(driver.transcript("And tomorrow?"));
    assert.deepEqual(more, []);
    const items = request!.items.map((item) => (item.type === "message" ? itemText(item) : item.type));
    assert.deepEqual(items, ["function_call", "function_call_output", "And tomorrow?"]);
    assert.ok(typesIn(driver.replyWord("Rain.", 0)).includes(DELTA));
    assert.equal(typesIn(driver.completeReply()).at(-1), "response.done");
    assert.equal(driver.types.filter((type) => type === CREATED).length, 1);
  });

  it("is generated if the turn has no words", () => {
    const { driver } = requestedWhileSpeaking();
    driver.windows(20, 0.01);
    const [request] = requestsIn(driver.transcript(""));
    const types = request!.items.map(({ type }) => type);
    assert.deepEqual(types, ["function_call", "function_call_output"]);
  });

  for (const [what, event] of [
    ["clears the buffer", { type: "input_audio_buffer.clear" }],
    ["turns detection off", updateDetection(null)],
    ["forbids interruptions", updateDetection({ type: "server_vad", interrupt_response: false })],
  ] as const) {
    it(`is generated when the client ${what}`, () => {
      assert.equal(requestsIn(requestedWhileSpeaking().driver.client(event)).length, 1);
    });
  }

  it("answers a turn that the client commits", () => {
    const { driver } = requestedWhileSpeaking();
    assert.deepEqual(requestsIn(driver.commit()), []);
    assert.equal(requestsIn(driver.transcript("And tomorrow?")).length, 1);
  });

  it("is generated at once without interruptions, in text, and outside the conversation", () => {
    for (const { effects } of [
      requestedWhileSpeaking(UNINTERRUPTED),
      requestedWhileSpeaking({}, { output_modalities: ["text"] }),
      requestedWhileSpeaking({}, { conversation: "none" }),
    ])
      assert.equal(requestsIn(effects).length, 1);
  });

  it("is interrupted by speech before the transcript, and both turns are answered", () => {
    const { driver } = requestedWhileSpeaking();
    driver.windows(20, 0.01);
    const first = effectIn(driver.effects, "transcribe");
    assert.deepEqual(doneIn(driver.windows(10, 0.99)), TURN_DETECTED);
    assert.deepEqual(requestsIn(driver.transcript("And", first)), []);
    driver.windows(20, 0.01);
    const [request] = requestsIn(driver.transcript("tomorrow?"));
    assert.equal(request!.items.length, 4);
  });

  it("can be cancelled, and the turn is still answered", () => {
    const { driver } = requestedWhileSpeaking();
    assert.ok(typesIn(driver.client({ type: "response.cancel" })).includes("response.done"));
    driver.windows(20, 0.01);
    assert.equal(requestsIn(driver.transcript("And tomorrow?")).length, 1);
  });

  it("comes first if it has its own input, and the turn is answered after it", () => {
    const content = [{ type: "input_text", text: "Sing." }] as const;
    const input = [{ type: "message", role: "user", content }] as unknown as ResponseOptions["input"];
    const { driver, effects } = requestedWhileSpeaking({}, { input: input! });
    assert.deepEqual(requestsIn(effects), []);
    const [own] = requestsIn(driver.windows(20, 0.01));
    assert.equal(own!.items.length, 1);
    assert.deepEqual(requestsIn(driver.transcript("And tomorrow?")), []);
    const ended = driver.completeReply();
    assert.equal(requestsIn(ended).length, 1);
    assert.ok(typesIn(ended).indexOf(CREATED) > typesIn(ended).indexOf("response.done"));
  });
});
