import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { itemText } from "../../../src/api/realtime/conversation-items.ts";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import type { SessionSettings } from "../../../src/api/realtime/session-settings.ts";
import type { ClientEvent, ResponseOptions } from "../../../src/contract/realtime/client-events.ts";
import { sentIn, Table, typesIn } from "./events.ts";

const CREATED = "response.created";
const DELTA = "response.output_audio.delta";

const requestsIn = (effects: readonly SessionEffect[]) =>
  effects.flatMap((effect) => (effect.type === "respond" ? [effect.request] : []));

/** Somebody speaks while a function's output comes, and its reply is asked for. */
function askedInATurn(settings: Partial<SessionSettings> = {}, response: ResponseOptions = {}) {
  const table = new Table({ turnDetection: { type: "server_vad" }, ...settings });
  table.windows(10, 0.99);
  table.client({
    type: "conversation.item.create",
    item: { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
  });
  table.client({
    type: "conversation.item.create",
    item: { type: "function_call_output", call_id: "call_1", output: "It rains." },
  });
  return { table, asked: table.client({ type: "response.create", response }) };
}

const INPUT: ResponseOptions = {
  input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Sing." }] }],
};

describe("a reply that is asked for while somebody speaks", () => {
  it("waits until they have ended, and answers what they say as well", () => {
    const { table, asked } = askedInATurn();
    assert.deepEqual(typesIn(asked), [CREATED]);
    assert.deepEqual(requestsIn(table.windows(20, 0.99)), []);
    assert.deepEqual(requestsIn(table.windows(20, 0.01)), []);
    const heard = table.heard("And tomorrow?");
    const [request, ...more] = requestsIn(heard);
    assert.deepEqual(more, []);
    assert.deepEqual(
      request!.items.map((item) => (item.type === "message" ? itemText(item) : item.type)),
      ["function_call", "function_call_output", "And tomorrow?"],
    );
    assert.ok(typesIn(table.says("Rain.", 0)).includes(DELTA));
    assert.equal(typesIn(table.ends()).at(-1), "response.done");
    assert.equal(table.types.filter((type) => type === CREATED).length, 1);
  });

  it("is made when they turn out to have said nothing", () => {
    const { table } = askedInATurn();
    table.windows(20, 0.01);
    const [request] = requestsIn(table.heard(""));
    assert.deepEqual(
      request!.items.map(({ type }) => type),
      ["function_call", "function_call_output"],
    );
  });

  const frees: readonly (readonly [string, ClientEvent])[] = [
    ["clears the buffer", { type: "input_audio_buffer.clear" }],
    [
      "switches turn detection off",
      { type: "session.update", session: { audio: { input: { turn_detection: null } } } },
    ],
    [
      "lets nobody interrupt any more",
      {
        type: "session.update",
        session: { audio: { input: { turn_detection: { type: "server_vad", interrupt_response: false } } } },
      },
    ],
  ];
  for (const [what, event] of frees) {
    it(`is made when the client ${what}`, () => {
      const { table } = askedInATurn();
      assert.equal(requestsIn(table.client(event)).length, 1);
    });
  }

  it("answers the turn that the client ends by itself", () => {
    const { table } = askedInATurn();
    assert.deepEqual(requestsIn(table.client({ type: "input_audio_buffer.commit" })), []);
    assert.equal(requestsIn(table.heard("And tomorrow?")).length, 1);
  });

  it("is made at once where nobody may interrupt, and where it is text", () => {
    const uninterrupted = { turnDetection: { type: "server_vad", interrupt_response: false } } as const;
    assert.equal(requestsIn(askedInATurn(uninterrupted).asked).length, 1);
    assert.equal(requestsIn(askedInATurn({}, { output_modalities: ["text"] }).asked).length, 1);
    assert.equal(requestsIn(askedInATurn({}, { conversation: "none" }).asked).length, 1);
  });

  it("is interrupted if they speak again before it is known what they said, and both turns are answered", () => {
    const { table } = askedInATurn();
    table.windows(20, 0.01);
    const first = table.effects.findLast((effect) => effect.type === "transcribe");
    const again = sentIn(table.windows(10, 0.99)).find(({ type }) => type === "response.done");
    const { status, status_details } = again!.response as Record<string, unknown>;
    assert.deepEqual([status, status_details], ["cancelled", { type: "cancelled", reason: "turn_detected" }]);
    assert.ok(first?.type === "transcribe");
    const { revision } = first;
    assert.deepEqual(requestsIn(table.tell({ type: "transcript", revision, text: "And", seconds: 1 })), []);
    table.windows(20, 0.01);
    const [request] = requestsIn(table.heard("tomorrow?"));
    assert.equal(request!.items.length, 4);
  });

  it("may be cancelled, and the turn is answered nevertheless", () => {
    const { table } = askedInATurn();
    assert.ok(typesIn(table.client({ type: "response.cancel" })).includes("response.done"));
    table.windows(20, 0.01);
    assert.equal(requestsIn(table.heard("And tomorrow?")).length, 1);
  });

  it("comes first, with items of its own for the conversation's, and the turn is answered behind it", () => {
    const { table, asked } = askedInATurn({}, INPUT);
    assert.deepEqual(requestsIn(asked), []);
    const [own] = requestsIn(table.windows(20, 0.01));
    assert.equal(own!.items.length, 1);
    assert.deepEqual(requestsIn(table.heard("And tomorrow?")), []);
    const ended = table.ends();
    assert.equal(requestsIn(ended).length, 1);
    assert.ok(typesIn(ended).indexOf(CREATED) > typesIn(ended).indexOf("response.done"));
  });
});
