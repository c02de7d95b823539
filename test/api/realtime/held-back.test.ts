import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import { Table, typesIn, WINDOW_MS } from "./events.ts";

const DELTA = "response.output_audio.delta";

/** A reply that nothing was heard of yet, and somebody who may begin to speak. */
function aboutToReply(): Table {
  const table = new Table();
  table.turn("Is it?");
  table.windows(1, 0.99);
  return table;
}

const answersIn = (effects: readonly SessionEffect[]) => effects.filter(({ type }) => type === "first_audio");

describe("a reply that is about to begin while somebody may go on", () => {
  it("has answered when its first sound is sent, and not when that is made", () => {
    const table = aboutToReply();
    table.nowMs += 100;
    assert.deepEqual(answersIn(table.says("Yes,", 0)), []);
    const told = table.windows(1, 0.01);
    // The speech was 20 windows, and 22 have come since.
    const afterMs = 22 * WINDOW_MS + 100;
    assert.deepEqual(answersIn(told), [{ type: "first_audio", afterMs }]);
    assert.deepEqual(answersIn(table.says("it", 1)), [], "once");
  });

  it("has answered nobody if they do", () => {
    const table = aboutToReply();
    table.says("Yes,", 0);
    assert.deepEqual(answersIn(table.windows(10, 0.99)), []);
  });

  it("is held back, and begins with the next window if nobody does", () => {
    const table = aboutToReply();
    assert.deepEqual(typesIn(table.says("Yes,", 0)), []);
    assert.deepEqual(typesIn(table.says("it", 1)), []);
    const told = typesIn(table.windows(1, 0.01));
    assert.deepEqual(
      told.filter((type) => type === DELTA),
      [DELTA, DELTA],
    );
    assert.deepEqual(typesIn(table.ends()).at(-1), "response.done");
  });

  it("is never heard if they do, and what they say is one turn more that is answered", () => {
    const table = aboutToReply();
    table.says("Yes,", 0);
    const told = typesIn(table.windows(2, 0.99));
    assert.equal(told[0], "input_audio_buffer.speech_started");
    assert.ok(told.includes("response.done"));
    table.windows(20, 0.01);
    assert.ok(typesIn(table.heard("Tell me.")).includes("response.created"));
    assert.ok(!table.types.includes(DELTA));
  });

  it("ends after what was held back of it", () => {
    const table = aboutToReply();
    table.says("Yes.", 0);
    assert.deepEqual(typesIn(table.ends()), []);
    const told = typesIn(table.windows(1, 0.01));
    assert.ok(told.indexOf(DELTA) >= 0 && told.indexOf("response.done") > told.indexOf(DELTA));
  });

  it("is cancelled with what was held back of it", () => {
    const table = aboutToReply();
    table.says("Yes.", 0);
    table.ends();
    const told = typesIn(table.client({ type: "response.cancel" }));
    assert.ok(told.includes("response.done") && !told.includes(DELTA));
    assert.deepEqual(typesIn(table.windows(1, 0.01)), []);
  });

  it("does not begin within 288 ms of the speech that it answers, where a judge ended that", () => {
    const table = new Table({ turnDetection: { type: "semantic_vad" } });
    table.windows(20, 0.99);
    const judged = table.windows(6, 0.01).find(({ type }) => type === "judge");
    assert.ok(judged?.type === "judge");
    table.heard("Is it?");
    table.tell({ type: "verdict", revision: judged.revision, finished: 0.9 });
    const wake = table.says("Yes.", 0).find(({ type }) => type === "set_timer");
    assert.ok(wake?.type === "set_timer" && wake.atMs === table.nowMs + 96);
    assert.ok(!typesIn(table.windows(2, 0.01)).includes(DELTA));
    assert.ok(typesIn(table.windows(1, 0.01)).includes(DELTA));
  });

  it("begins after a while where the microphone says no more", () => {
    const table = aboutToReply();
    const wake = table.says("Yes.", 0).find(({ type }) => type === "set_timer");
    assert.ok(wake?.type === "set_timer" && wake.atMs !== null);
    table.nowMs = wake.atMs;
    assert.ok(typesIn(table.tell({ type: "timer", isBehind: false })).includes(DELTA));
  });

  it("begins after a while where the detector says no more, though sound comes", () => {
    const table = aboutToReply();
    table.says("Yes.", 0);
    table.nowMs += 200;
    table.appended += 4_800;
    table.client({ type: "input_audio_buffer.append", audio: "AAAA" });
    assert.ok(typesIn(table.tell({ type: "timer", isBehind: false })).includes(DELTA));
  });

  it("is not held back where nobody may interrupt it", () => {
    const table = new Table({ turnDetection: { type: "server_vad", interrupt_response: false } });
    table.turn("Is it?");
    table.windows(1, 0.99);
    assert.ok(typesIn(table.says("Yes.", 0)).includes(DELTA));
  });

  it("that is heard already goes on", () => {
    const table = new Table();
    table.turn("Is it?");
    table.says("Yes,", 0);
    table.windows(1, 0.99);
    assert.ok(typesIn(table.says("it", 1)).includes(DELTA));
  });
});
