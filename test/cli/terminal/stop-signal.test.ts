import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { onStopSignal, SAME_SIGNAL_MS, type Signalled } from "../../../src/cli/terminal/stop-signal.ts";

/** Returns what follows from signals at the given times. */
function heard(...sent: readonly [atMs: number, signal: "SIGINT" | "SIGTERM"][]) {
  return heardHurrying(0, ...sent);
}

/** The same, where `cuts` later signals find a delay to skip. */
function heardHurrying(cuts: number, ...sent: readonly [atMs: number, signal: "SIGINT" | "SIGTERM"][]) {
  const emitter = new EventEmitter();
  const happened: string[] = [];
  let nowMs = 50_000;
  const signalled: Signalled = {
    on: (signal, listener) => emitter.on(signal, listener),
    removeListener: (signal, listener) => emitter.removeListener(signal, listener),
    endBy: (signal) => happened.push(`ended by ${signal}`),
    nowMs: () => nowMs,
  };
  const hurry = () => {
    if (cuts-- <= 0) return false;
    happened.push("hurried");
    return true;
  };
  const release = onStopSignal((signal) => happened.push(`told by ${signal}`), hurry, signalled);
  for (const [atMs, signal] of sent) {
    nowMs = 50_000 + atMs;
    emitter.emit(signal, signal);
  }
  release();
  assert.deepEqual(emitter.eventNames(), [], "nobody listens after its release");
  return happened;
}

describe("onStopSignal", () => {
  it("stops at the first signal", () => {
    assert.deepEqual(heard([0, "SIGTERM"]), ["told by SIGTERM"]);
    assert.deepEqual(heard([0, "SIGINT"]), ["told by SIGINT"]);
  });

  it("ignores a repeated signal, as from the terminal and from npm", () => {
    assert.deepEqual(heard([0, "SIGINT"], [0, "SIGINT"]), ["told by SIGINT"]);
    assert.deepEqual(heard([0, "SIGINT"], [40, "SIGINT"], [SAME_SIGNAL_MS - 1, "SIGTERM"]), [
      "told by SIGINT",
    ]);
  });

  it("ends the program at a later signal", () => {
    const later = heard([0, "SIGINT"], [1, "SIGINT"], [SAME_SIGNAL_MS, "SIGTERM"]);
    assert.deepEqual(later, ["told by SIGINT", "ended by SIGTERM"]);
  });

  it("skips the delay at a later signal, and ends at the next", () => {
    assert.deepEqual(
      heardHurrying(
        1,
        [0, "SIGTERM"],
        [SAME_SIGNAL_MS, "SIGINT"],
        [SAME_SIGNAL_MS + 40, "SIGINT"],
        [2 * SAME_SIGNAL_MS, "SIGINT"],
      ),
      ["told by SIGTERM", "hurried", "ended by SIGINT"],
    );
  });
});
