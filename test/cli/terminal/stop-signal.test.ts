import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { onStopSignal, SAME_SIGNAL_MS, type Signalled } from "../../../src/cli/terminal/stop-signal.ts";

/** Returns what follows from signals at the given times. */
function signals(...sent: readonly [atMs: number, signal: "SIGINT" | "SIGTERM"][]) {
  return signalsWithDelays(0, ...sent);
}

/** The same, where `cuts` later signals find a delay to skip. */
function signalsWithDelays(cuts: number, ...sent: readonly [atMs: number, signal: "SIGINT" | "SIGTERM"][]) {
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
    happened.push("skipped the delay");
    return true;
  };
  const release = onStopSignal((signal) => happened.push(`stopped by ${signal}`), hurry, signalled);
  for (const [atMs, signal] of sent) {
    nowMs = 50_000 + atMs;
    emitter.emit(signal, signal);
  }
  release();
  assert.deepEqual(emitter.eventNames(), [], "no listener is left");
  return happened;
}

describe("onStopSignal", () => {
  it("stops at the first signal", () => {
    assert.deepEqual(signals([0, "SIGTERM"]), ["stopped by SIGTERM"]);
    assert.deepEqual(signals([0, "SIGINT"]), ["stopped by SIGINT"]);
  });

  it("ignores a repeated signal, as from the terminal and from npm", () => {
    assert.deepEqual(signals([0, "SIGINT"], [0, "SIGINT"]), ["stopped by SIGINT"]);
    assert.deepEqual(signals([0, "SIGINT"], [40, "SIGINT"], [SAME_SIGNAL_MS - 1, "SIGTERM"]), [
      "stopped by SIGINT",
    ]);
  });

  it("ends the program at a later signal", () => {
    const later = signals([0, "SIGINT"], [1, "SIGINT"], [SAME_SIGNAL_MS, "SIGTERM"]);
    assert.deepEqual(later, ["stopped by SIGINT", "ended by SIGTERM"]);
  });

  it("skips the delay at a later signal, and ends at the next", () => {
    assert.deepEqual(
      signalsWithDelays(
        1,
        [0, "SIGTERM"],
        [SAME_SIGNAL_MS, "SIGINT"],
        [SAME_SIGNAL_MS + 40, "SIGINT"],
        [2 * SAME_SIGNAL_MS, "SIGINT"],
      ),
      ["stopped by SIGTERM", "skipped the delay", "ended by SIGINT"],
    );
  });
});
