import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { itemPayload, itemText } from "../../../src/api/realtime/conversation-items.ts";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import { sentIn, Table, typesIn } from "./events.ts";

/** Adds a message of the user's, after another where one is named; what is sent then. */
function created(table: Table, id: string, text: string, previous_item_id?: string) {
  return sentIn(
    table.client({
      type: "conversation.item.create",
      ...(previous_item_id === undefined ? {} : { previous_item_id }),
      item: { id, type: "message", role: "user", content: [{ type: "input_text", text }] },
    }),
  );
}

const SEMANTIC = { turnDetection: { type: "semantic_vad" as const } };

describe("a turn of the user's", () => {
  it("begins with speech, ends with silence, is heard and answered, in the order that clients rely on", () => {
    const table = new Table();
    table.turn("Hello.");
    assert.deepEqual(table.types.slice(1), [
      "input_audio_buffer.speech_started",
      "input_audio_buffer.speech_stopped",
      "input_audio_buffer.committed",
      "conversation.item.added",
      "conversation.item.done",
      "response.created",
    ]);
    const [started, stopped] = table.sent.slice(1, 3);
    assert.equal(started!.audio_start_ms, 0, "with what comes before it");
    assert.equal(stopped!.audio_end_ms, 640);
    assert.equal(started!.item_id, stopped!.item_id);
  });

  it("of less than 96 ms is none", () => {
    const table = new Table();
    table.windows(2, 0.99);
    table.windows(30, 0.01);
    assert.deepEqual(table.types, ["session.created"]);
  });

  it("goes on after a short pause, and what was heard in that is void", () => {
    const table = new Table();
    table.windows(10, 0.99);
    table.windows(5, 0.01);
    table.heard("I want");
    table.windows(10, 0.99);
    const effects = table.windows(16, 0.01);
    assert.equal(effects.filter(({ type }) => type === "transcribe").length, 1);
    assert.ok(!typesIn(effects).includes("response.created"), "its words are not known yet");
    assert.deepEqual(typesIn(table.heard("I want a pizza.")), ["response.created"]);
    const [item] = table.session.items;
    assert.equal(itemText(item!), "I want a pizza.");
  });

  it("is heard in its last pause, and answered the moment that ends it", () => {
    const table = new Table();
    table.windows(20, 0.99);
    table.windows(5, 0.01);
    table.heard("Hello.");
    assert.ok(typesIn(table.windows(15, 0.01)).includes("response.created"));
  });

  it("ends when it sounds finished, where that is judged", () => {
    const table = new Table(SEMANTIC);
    table.windows(20, 0.99);
    const judged = table.windows(6, 0.01).find(({ type }) => type === "judge");
    assert.ok(judged?.type === "judge");
    table.heard("Hello.");
    const ended = table.tell({ type: "verdict", revision: judged.revision, finished: 0.9 });
    assert.deepEqual(typesIn(ended).slice(0, 2), [
      "input_audio_buffer.speech_stopped",
      "input_audio_buffer.committed",
    ]);
    assert.ok(typesIn(ended).includes("response.created"));
  });

  it("is not ended by a verdict about an earlier pause, or an unsure one, but by a long silence", () => {
    const table = new Table(SEMANTIC);
    table.windows(20, 0.99);
    const early = table.windows(6, 0.01).find(({ type }) => type === "judge");
    table.windows(5, 0.99);
    table.windows(3, 0.01);
    assert.ok(early?.type === "judge");
    assert.deepEqual(table.tell({ type: "verdict", revision: early.revision, finished: 1 }), []);
    const late = table.windows(3, 0.01).find(({ type }) => type === "judge");
    assert.ok(late?.type === "judge");
    assert.deepEqual(table.tell({ type: "verdict", revision: late.revision, finished: 0.4 }), []);
    assert.ok(typesIn(table.windows(125, 0.01)).includes("input_audio_buffer.committed"));
  });

  for (const [text, isSentence] of [
    ["Did you sleep well?", true],
    ['He said "No."', true],
    ["I would like", false],
    ["I would like...", false],
    ["Well,", false],
    [null, false],
  ] as const) {
    it(`that sounds unfinished ${isSentence ? "ends" : "goes on"} after 1.5 s of silence with these words: ${text}`, () => {
      const table = new Table(SEMANTIC);
      table.windows(20, 0.99);
      const judged = table.windows(6, 0.01).find(({ type }) => type === "judge");
      assert.ok(judged?.type === "judge");
      table.heard(text);
      table.tell({ type: "verdict", revision: judged.revision, finished: 0.1 });
      assert.deepEqual(typesIn(table.windows(40, 0.01)), []);
      assert.equal(typesIn(table.windows(1, 0.01)).includes("input_audio_buffer.committed"), isSentence);
    });
  }

  it("without words is taken back, and answered by nobody", () => {
    const table = new Table();
    table.turn("");
    assert.equal(table.types.at(-1), "conversation.item.deleted");
    assert.deepEqual(table.session.items, []);
  });

  it("without words has no transcript: whoever asked for the item then would not find it", () => {
    const table = new Table({ transcription: {} });
    table.turn("");
    assert.equal(table.types.at(-1), "conversation.item.deleted");
    assert.ok(!table.types.some((type) => type.includes("transcription")));
  });

  it("ends with silence however low the threshold is", () => {
    const table = new Table({ turnDetection: { type: "server_vad", threshold: 0 } });
    table.windows(20, 0.99);
    table.windows(20, 0.001);
    assert.ok(table.types.includes("input_audio_buffer.committed"));
  });

  it("is heard in a language that there is, by its code or its name", () => {
    const table = new Table();
    const languageAfter = (language: string) => {
      const transcription = { model: "whisper-1", language };
      table.client({ type: "session.update", session: { audio: { input: { transcription } } } });
      return table.session.settings.transcription?.language;
    };
    assert.equal(languageAfter("English"), "en");
    assert.equal(languageAfter("pt-BR"), "pt");
    assert.equal(languageAfter("klingon"), "pt");
    const { error } = table.sent.at(-1) as unknown as { error: { param: string } };
    assert.equal(error.param, "session.audio.input.transcription.language");
    assert.equal(languageAfter(""), undefined);
  });

  it("that the recogniser failed on is told where transcripts are asked for", () => {
    const table = new Table({ transcription: {} });
    table.windows(20, 0.99);
    table.windows(20, 0.01);
    const [failed] = sentIn(table.heard(null));
    assert.equal(failed!.type, "conversation.item.input_audio_transcription.failed");
  });

  it("that the recogniser failed on in the pause is recognised again when it is over", () => {
    const table = new Table({ transcription: {} });
    table.windows(20, 0.99);
    table.windows(4, 0.01);
    table.heard(null);
    const asked = table.windows(20, 0.01).filter(({ type }) => type === "transcribe");
    assert.equal(asked.length, 1);
    table.heard("Hello.");
    assert.ok(table.types.includes("response.created"));
  });

  it("has a transcript where one is asked for", () => {
    const table = new Table({ transcription: { model: "whisper-1" } });
    table.turn("Hello.");
    const completed = table.sent.find(({ type }) => type.endsWith("transcription.completed"));
    assert.equal(completed?.transcript, "Hello.");
    assert.deepEqual(completed?.usage, { type: "duration", seconds: 1 });
  });

  it("is the client's own to end where nothing is detected", () => {
    const table = new Table({ turnDetection: null });
    assert.deepEqual(table.windows(20, 0.99), []);
    const effects = table.client({ type: "input_audio_buffer.commit" });
    assert.deepEqual(typesIn(effects)[0], "input_audio_buffer.committed");
    assert.deepEqual(typesIn(table.heard("Hello.")), []);
    assert.deepEqual(typesIn(table.client({ type: "response.create" })), ["response.created"]);
    const [empty] = sentIn(table.client({ type: "input_audio_buffer.commit", event_id: "e7" }));
    assert.deepEqual(
      [(empty!.error as { code: string }).code, (empty!.error as { event_id: string }).event_id],
      ["input_audio_buffer_commit_empty", "e7"],
    );
  });
});

describe("a reply that is asked for at once after a commit", () => {
  const respondsIn = (effects: readonly SessionEffect[]) => effects.filter(({ type }) => type === "respond");

  it("is begun, and made when the words are known", () => {
    const table = new Table({ turnDetection: null });
    table.windows(20, 0.99);
    table.client({ type: "input_audio_buffer.commit" });
    const asked = table.client({ type: "response.create" });
    assert.deepEqual(typesIn(asked), ["response.created"]);
    assert.deepEqual(respondsIn(asked), []);
    const [respond, ...more] = respondsIn(table.heard("Hello."));
    assert.ok(respond?.type === "respond" && more.length === 0);
    assert.deepEqual(respond.request.items.map(itemText), ["Hello."]);
  });

  it("is made all the same where they are not found out", () => {
    const table = new Table({ turnDetection: null });
    table.windows(20, 0.99);
    table.client({ type: "input_audio_buffer.commit" });
    table.client({ type: "response.create" });
    assert.equal(respondsIn(table.heard(null)).length, 1);
  });

  it("is not made once it was cancelled", () => {
    const table = new Table({ turnDetection: null });
    table.windows(20, 0.99);
    table.client({ type: "input_audio_buffer.commit" });
    table.client({ type: "response.create" });
    table.client({ type: "response.cancel" });
    assert.deepEqual(respondsIn(table.heard("Hello.")), []);
  });

  it("answers the turn, which is not answered twice", () => {
    const table = new Table();
    table.windows(20, 0.99);
    table.windows(20, 0.01);
    table.client({ type: "response.create" });
    assert.equal(respondsIn(table.heard("Hello.")).length, 1);
    assert.deepEqual(respondsIn(table.ends()), []);
  });
});

describe("a reply", () => {
  it("is told in the order that clients rely on", () => {
    const table = new Table();
    table.turn("Hello.");
    const from = table.sent.length - 1;
    table.says("One", 0);
    table.says("two", 1);
    table.ends();
    assert.deepEqual(table.types.slice(from), [
      "response.created",
      "response.output_item.added",
      "conversation.item.added",
      "response.content_part.added",
      "response.output_audio_transcript.delta",
      "response.output_audio.delta",
      "response.output_audio_transcript.delta",
      "response.output_audio.delta",
      "response.output_audio.done",
      "response.output_audio_transcript.done",
      "response.content_part.done",
      "conversation.item.done",
      "response.output_item.done",
      "response.done",
    ]);
    const done = table.sent.at(-1)!.response as { status: string; output: unknown[] };
    assert.equal(done.status, "completed");
    assert.equal(done.output.length, 1);
  });

  it("that is spoken into ends at once, and what was heard of it is what was said", () => {
    const table = new Table();
    table.turn("Hello.");
    for (const [at, word] of ["one,", "two,", "six,", "ten."].entries()) table.says(word, at);
    table.nowMs += 760;
    const effects = table.windows(5, 0.99);
    const types = typesIn(effects);
    assert.equal(types[0], "input_audio_buffer.speech_started");
    assert.ok(!types.some((type) => type.endsWith(".delta")));
    assert.ok(effects.some(({ type }) => type === "cancel"));
    const done = sentIn(effects).at(-1)!.response as { status: string; status_details: unknown };
    assert.deepEqual(
      [done.status, done.status_details],
      ["cancelled", { type: "cancelled", reason: "turn_detected" }],
    );
    assert.equal(itemText(table.session.items.at(-1)!), "one, two,");
    assert.deepEqual(table.says("seven", 4), [], "what comes too late is nobody's");
  });

  it("that was made and is still played is cut as well", () => {
    const table = new Table();
    table.turn("Hello.");
    for (const [at, word] of ["one,", "two,", "six,", "ten."].entries()) table.says(word, at);
    table.ends();
    table.nowMs += 300;
    const effects = table.windows(5, 0.99);
    assert.deepEqual(typesIn(effects), ["input_audio_buffer.speech_started"]);
    assert.equal(itemText(table.session.items.at(-1)!), "one,");
  });

  it("is cut where the client says, which knows better than the clock here", () => {
    const table = new Table();
    table.turn("Hello.");
    for (const [at, word] of ["one,", "two,", "six,", "ten."].entries()) table.says(word, at);
    table.ends();
    const item = table.session.items.at(-1)!;
    const cut = (ms: number) =>
      sentIn(
        table.client({
          type: "conversation.item.truncate",
          item_id: item.id,
          content_index: 0,
          audio_end_ms: ms,
        }),
      )[0];
    assert.equal(cut(1_250.5)!.audio_end_ms, 1_250);
    assert.equal(itemText(item), "one, two, six,");
    assert.equal(cut(99_999)!.audio_end_ms, 1_250, "it never grows");
    assert.equal(cut(500)!.audio_end_ms, 500);
    assert.deepEqual((itemPayload(item).content as unknown[])[0], {
      type: "output_audio",
      transcript: "one,",
    });
  });

  it("goes on where an interruption is none", () => {
    const table = new Table({ turnDetection: { type: "server_vad", interrupt_response: false } });
    table.turn("Hello.");
    table.says("one", 0);
    assert.deepEqual(typesIn(table.windows(6, 0.99)), ["input_audio_buffer.speech_started"]);
    assert.ok(typesIn(table.says("two", 1)).includes("response.output_audio.delta"));
  });

  it("is owed to both of two turns, once, where the second came before the answer", () => {
    const table = new Table();
    table.windows(20, 0.99);
    table.windows(20, 0.01);
    const first = table.effects.findLast(({ type }) => type === "transcribe");
    table.windows(20, 0.99);
    assert.ok(first?.type === "transcribe");
    table.tell({ type: "transcript", revision: first.revision, text: "Wait.", seconds: 1 });
    assert.ok(!table.types.includes("response.created"), "somebody speaks");
    table.windows(20, 0.01);
    table.heard("I have a question.");
    assert.equal(table.types.filter((type) => type === "response.created").length, 1);
    const asked = table.effects.findLast(({ type }) => type === "respond");
    assert.ok(asked?.type === "respond");
    assert.deepEqual(asked.request.items.map(itemText), ["Wait.", "I have a question."]);
  });

  it("is one at a time, but beside the conversation", () => {
    const table = new Table();
    table.turn("Hello.");
    const [refused] = sentIn(table.client({ type: "response.create" }));
    assert.equal((refused!.error as { code: string }).code, "conversation_already_has_active_response");
    const [created] = sentIn(
      table.client({ type: "response.create", response: { conversation: "none", metadata: { a: "1" } } }),
    );
    assert.equal(created!.type, "response.created");
    assert.deepEqual((created!.response as { metadata: unknown }).metadata, { a: "1" });
    table.says("aside", 0);
    table.ends();
    assert.ok(table.session.items.every((item) => itemText(item) !== "aside"));
  });

  it("that is not there cannot be cancelled, in the words that clients look for", () => {
    const table = new Table();
    const [refused] = sentIn(table.client({ type: "response.cancel" }));
    const { code, message } = refused!.error as { code: string; message: string };
    assert.deepEqual(
      [code, message],
      ["response_cancel_not_active", "Cancellation failed: no active response found"],
    );
  });

  it("calls a function between its words", () => {
    const table = new Table();
    table.turn("What is the weather?");
    table.says("Let", 0);
    const call = { callId: "call_1", name: "weather", arguments: '{"city":"Graz"}' };
    const effects = table.tell({
      type: "response_delta",
      responseId: table.responseId,
      delta: { text: "", audio: null, call },
    });
    const types = typesIn(effects);
    assert.deepEqual(types.slice(-6), [
      "response.output_item.added",
      "conversation.item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "conversation.item.done",
      "response.output_item.done",
    ]);
    table.ends();
    assert.deepEqual(
      table.session.items.map(({ type }) => type),
      ["message", "message", "function_call"],
    );
  });

  it("is asked for by silence, where a session wants that", () => {
    const table = new Table({ turnDetection: { type: "server_vad", idle_timeout_ms: 5_000 } });
    table.turn("Hello.");
    table.says("Yes", 0);
    const wake = table.ends().find(({ type }) => type === "set_timer");
    assert.deepEqual(wake, { type: "set_timer", atMs: table.nowMs + 400 + 5_000 });
    table.nowMs += 5_400;
    assert.deepEqual(typesIn(table.tell({ type: "timer", isBehind: false })), [
      "input_audio_buffer.timeout_triggered",
      "response.created",
    ]);
  });
});

describe("a session", () => {
  it("tells all that holds, and changes what is given alone", () => {
    const table = new Table();
    const [done] = sentIn(
      table.client({
        type: "session.update",
        session: {
          instructions: "Be brief.",
          audio: { input: { turn_detection: { type: "semantic_vad", eagerness: "high" } } },
        },
      }),
    );
    const session = done!.session as { instructions: string; audio: { input: unknown; output: unknown } };
    assert.equal(session.instructions, "Be brief.");
    assert.deepEqual(session.audio.input, {
      format: { type: "audio/pcm", rate: 24_000 },
      turn_detection: {
        type: "semantic_vad",
        eagerness: "high",
        create_response: true,
        interrupt_response: true,
      },
    });
    assert.deepEqual(session.audio.output, {
      format: { type: "audio/pcm", rate: 24_000 },
      voice: "alloy",
      speed: 1,
    });
  });

  it("has the voices that there are, and refuses others at once", () => {
    const table = new Table();
    const asked = (voice: string | { id: string }) =>
      sentIn(table.client({ type: "session.update", session: { audio: { output: { voice } } } }))[0]!;
    const openAis = "alloy ash ballad cedar coral echo marin sage shimmer verse".split(" ");
    const own = ["anna", "voice_0123456789"];
    for (const voice of ["0", "1", "Alloy", { id: "ash" }, ...own, "echo(2)+1", ...openAis])
      assert.equal(asked(voice).type, "session.updated");
    const { message, ...error } = asked({ id: "nobody" }).error as { message: string };
    assert.deepEqual(error, {
      type: "invalid_request_error",
      code: "invalid_value",
      param: "session.audio.output.voice",
    });
    assert.match(
      message,
      /^session\.audio\.output\.voice "nobody" is unknown: the voices are "0" \(or alloy, nova/,
    );
    for (const voice of ["alloy+ash", "alloy(0)", "Ann", "", "anna+ash"]) {
      const { param, code } = asked(voice).error as { param: string; code: string };
      assert.deepEqual([param, code], ["session.audio.output.voice", "invalid_value"], voice);
    }
    assert.equal(table.session.settings.voice, "verse");
  });

  it("tells the speed that is spoken at", () => {
    const table = new Table();
    const told = [0.25, 1.5, 1.1].map((speed) => {
      const [event] = sentIn(
        table.client({ type: "session.update", session: { audio: { output: { speed } } } }),
      );
      return (event!.session as { audio: { output: { speed: number } } }).audio.output.speed;
    });
    assert.deepEqual(told, [0.5, 1.5, 1.1]);
  });

  it("keeps its voice once that was heard", () => {
    const table = new Table();
    table.turn("Hello.");
    table.says("Yes", 0);
    const [refused] = sentIn(
      table.client({ type: "session.update", session: { audio: { output: { voice: "ash" } } } }),
    );
    assert.equal((refused!.error as { param: string }).param, "session.audio.output.voice");
  });

  it("tells what it forgets of a conversation that has grown too long, which is never what comes in", () => {
    const table = new Table();
    const create = (id: string, text: string, after?: string) =>
      created(table, id, text, after).map(({ type, item_id, previous_item_id: previous }) => [
        type,
        item_id ?? previous,
      ]);
    for (let n = 0; n < 1_000; n += 1) create(`item${n}`, "text");
    const told = (forgotten: readonly string[], previous: string | null) => [
      ...forgotten.map((id) => ["conversation.item.deleted", id]),
      ["conversation.item.added", previous],
      ["conversation.item.done", previous],
    ];
    assert.deepEqual(create("first", "text", "root"), told(["item0"], null));
    assert.deepEqual(
      create("second", "text", "first"),
      told(["first"], null),
      "which it follows, but it is the oldest",
    );
    assert.deepEqual(create("last", "text"), told(["second"], "item999"));
    assert.equal(table.session.items.length, 1_000);
    for (let n = 0; n < 9; n += 1) create(`long${n}`, "x".repeat(100_000));
    const all = create("longest", "x".repeat(100_000));
    assert.equal(all.length, 1_000 - 9 + 2);
    assert.equal(table.session.items.length, 10);
  });

  it("puts items where the client wants them, and refuses what is there twice", () => {
    const table = new Table();
    const create = (id: string, text: string, after?: string) => created(table, id, text, after)[0]!;
    assert.equal(create("b", "second").previous_item_id, null);
    assert.equal(create("a", "first", "root").previous_item_id, null);
    assert.equal(create("c", "between", "a").previous_item_id, "a");
    assert.equal((create("a", "again").error as { code: string }).code, "item_create_duplicate_item_id");
    assert.equal(create("d", "lost", "nowhere").type, "error");
    assert.deepEqual(table.session.items.map(itemText), ["first", "between", "second"]);
  });
});
