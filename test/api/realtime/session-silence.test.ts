import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import { Table, typesIn } from "./events.ts";

const SEMANTIC = { turnDetection: { type: "semantic_vad" as const } };
const wakeIn = (effects: readonly SessionEffect[]) => {
  const wake = effects.findLast(({ type }) => type === "set_timer");
  return wake?.type === "set_timer" ? wake.atMs : undefined;
};

/** The turn that was committed: what is metered of it, and what is recognised. */
function committedIn(effects: readonly SessionEffect[]) {
  const committed = effects.find(({ type }) => type === "turn_committed");
  const recognise = effects.find(({ type }) => type === "transcribe");
  assert.ok(committed?.type === "turn_committed" && recognise?.type === "transcribe");
  assert.equal(committed.revision, recognise.revision);
  return { seconds: committed.seconds, from: recognise.from, to: recognise.to };
}

/** Time passes, and the session is woken as it asked for. */
function pass(table: Table, ms: number): readonly SessionEffect[] {
  const untilMs = table.nowMs + ms;
  const all: SessionEffect[] = [];
  let atMs = wakeIn(table.effects) ?? null;
  while (atMs !== null && atMs <= untilMs) {
    table.nowMs = Math.max(table.nowMs, atMs);
    const effects = table.tell({ type: "timer", isBehind: false });
    all.push(...effects);
    // A timer goes off once.
    atMs = wakeIn(effects) ?? null;
  }
  table.nowMs = untilMs;
  return all;
}

describe("a client that is muted", () => {
  it("has ended its turn after 750 ms without sound", () => {
    const table = new Table();
    table.windows(20, 0.99);
    assert.deepEqual(typesIn(pass(table, 700)), []);
    const types = typesIn(pass(table, 100));
    assert.ok(types.includes("input_audio_buffer.committed"), `${types}`);
    assert.equal(table.sent.find(({ type }) => type.endsWith("speech_stopped"))!.audio_end_ms, 640);
  });

  it("goes on with its turn while the server is behind with what it sent", () => {
    const table = new Table();
    table.windows(20, 0.99);
    table.nowMs += 5_000;
    assert.deepEqual(typesIn(table.tell({ type: "timer", isBehind: true })), []);
    table.windows(20, 0.99);
    table.windows(16, 0.01);
    const stopped = table.sent.filter(({ type }) => type.endsWith("speech_stopped"));
    assert.deepEqual(
      stopped.map(({ audio_end_ms }) => audio_end_ms),
      [40 * 32],
    );
  });

  it("has ended it, too, where it goes on to append what has no sound in it", () => {
    const table = new Table();
    table.windows(20, 0.99);
    for (let ms = 0; ms < 800; ms += 100) {
      table.client({ type: "input_audio_buffer.append", audio: "" });
      pass(table, 100);
    }
    assert.ok(table.sent.some(({ type }) => type === "input_audio_buffer.committed"));
  });

  it("has ended it, where it sounds unfinished, after as long a silence as another", () => {
    const table = new Table(SEMANTIC);
    table.windows(40, 0.99);
    const judged = pass(table, 800).some(({ type }) => type === "judge");
    assert.ok(judged);
    assert.ok(!typesIn(pass(table, 3_000)).includes("input_audio_buffer.committed"));
    assert.ok(typesIn(pass(table, 400)).includes("input_audio_buffer.committed"));
  });

  it("goes on with its turn when sound comes again, at its place", () => {
    const table = new Table(SEMANTIC);
    table.windows(40, 0.99);
    pass(table, 1_000);
    table.windows(10, 0.99);
    table.windows(126, 0.01);
    const [stopped] = table.sent.filter(({ type }) => type.endsWith("speech_stopped"));
    assert.equal(stopped!.audio_end_ms, 50 * 32);
  });

  it("is not listened for when it says nothing", () => {
    const table = new Table();
    table.windows(20, 0.01);
    assert.deepEqual(pass(table, 60_000), []);
  });
});

describe("a long silence", () => {
  it("has the detector begin anew every 5 s, but not where it is not clear", () => {
    const table = new Table();
    const count = (effects: readonly SessionEffect[]) =>
      effects.filter(({ type }) => type === "refresh_detector").length;
    assert.equal(count(table.windows(1_560, 0.01)), 10);
    assert.equal(count(table.windows(1_560, 0.3)), 0);
  });

  it("is forgotten but for what may belong to the next turn", () => {
    const table = new Table();
    table.windows(1_000, 0.01);
    const forget = table.effects.findLast(({ type }) => type === "forget_audio");
    assert.ok(forget?.type === "forget_audio");
    assert.ok(forget.before > 900 * 512 && forget.before <= 1_000 * 512 - 300 * 16);
  });
});

describe("what is committed", () => {
  it("is metered from the turn's beginning, not from the end of the one before", () => {
    const table = new Table();
    table.windows(200, 0.01);
    table.turn("Hello.");
    const committed = table.effects.find(({ type }) => type === "turn_committed");
    assert.ok(committed?.type === "turn_committed");
    assert.ok(Math.abs(committed.seconds - (0.64 + 0.3)) < 0.001);
  });

  it("has of a long silence only what was kept of it", () => {
    const table = new Table();
    table.windows(9_375, 0.01);
    const effects = table.client({ type: "input_audio_buffer.commit" });
    const { seconds, from, to } = committedIn(effects);
    assert.ok(seconds >= 0.62 && seconds < 0.62 + 32 * 0.032, `${seconds} s`);
    const forget = table.effects.slice(0, -effects.length).findLast(({ type }) => type === "forget_audio");
    assert.ok(forget?.type === "forget_audio");
    assert.deepEqual([from, to], [forget.before, table.appended]);
  });

  it("is the newest two minutes where the client commits later than that", () => {
    const table = new Table({ turnDetection: null });
    table.windows(5_000, 0.99);
    const { seconds, from, to } = committedIn(table.client({ type: "input_audio_buffer.commit" }));
    assert.deepEqual([seconds, from, to], [120, table.appended - 120 * 16_000, table.appended]);
    table.windows(10, 0.99);
    assert.equal(committedIn(table.client({ type: "input_audio_buffer.commit" })).seconds, 0.32);
  });

  it("is heard once more where hearing its pause failed", () => {
    const table = new Table();
    table.windows(20, 0.99);
    table.windows(5, 0.01);
    table.heard(null);
    assert.equal(table.windows(15, 0.01).filter(({ type }) => type === "transcribe").length, 1);
    assert.ok(typesIn(table.heard("Hello.")).includes("response.created"));
  });
});
