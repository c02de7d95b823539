import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import { SpeechFailedError, type SpeechModel } from "../../src/core/speech-model.ts";
import type { NativeCallGuard } from "../../src/workers/calls/native-gate.ts";

/** Options of {@link createModel}, with counters shared between threads. */
export interface FaultyOptions {
  readonly counters: Int32Array;
  /** Makes `createModel` throw and leave a handle open. */
  readonly startError?: string;
  /** Number of threads that start before the bad ones. */
  readonly goodStarts?: number;
  /** Number of bad starts. Default: all further ones. */
  readonly badStarts?: number;
  /** Bad starts hang instead of exiting. */
  readonly isBadStartHung?: boolean;
}

export const COUNT = {
  starts: 0,
  frames: 1,
  left: 2,
  detached: 3,
  held: 4,
  gate: 5,
  analysed: 6,
  aborted: 7,
  native: 8,
} as const;

export function counters(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * Object.keys(COUNT).length));
}

/**
 * A model that follows the commands in its text. `speak` yields and counts endless frames; `views` yields views into
 * one buffer; `hold` blocks its thread after one frame until the gate opens; `native` does so within a native call;
 * `exit`, `throw` and `eat` end the thread after one frame; `spin`, `block` and `never` hang it after one frame.
 * `analyseHistory` follows the last turn's text: `long` runs until it is aborted, `deaf` throws, `mute` makes `speak`
 * throw too, `crash` ends the thread.
 */
export async function createModel(options: FaultyOptions, guard: NativeCallGuard): Promise<SpeechModel> {
  const { counters: count } = options;
  const starts = Atomics.add(count, COUNT.starts, 1);
  if (options.startError !== undefined) {
    setInterval(() => {}, 1_000);
    throw new Error(options.startError);
  }
  const { goodStarts = Number.POSITIVE_INFINITY, badStarts = Number.POSITIVE_INFINITY } = options;
  if (starts >= goodStarts && starts < goodStarts + badStarts) {
    if (options.isBadStartHung === true) block();
    process.exit(7);
  }
  return {
    async analyseHistory({ history }, signal) {
      Atomics.add(count, COUNT.analysed, 1);
      const command = history.at(-1)?.text;
      if (command === "crash") process.exit(3);
      if (command === "deaf" || command === "mute") throw new Error(`it is ${command}`);
      if (command !== "long") return;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      Atomics.add(count, COUNT.aborted, 1);
      throw signal.reason;
    },
    async *speak(script) {
      if (script.history.at(-1)?.text === "mute") throw new SpeechFailedError("it does not speak");
      let command = "";
      for await (const piece of script.text) command += piece;
      const ring = new Float32Array(2 * FRAME_SAMPLES);
      let last: Float32Array | null = null;
      try {
        for (let index = 0; ; index++) {
          if (index === 1) await misbehave(command, count, guard);
          if (last?.byteLength === 0) Atomics.add(count, COUNT.detached, 1);
          last = command === "views" ? ring.subarray(0, FRAME_SAMPLES) : new Float32Array(FRAME_SAMPLES);
          last.fill(index / 1000);
          if (command === "speak" || command === "hold") Atomics.add(count, COUNT.frames, 1);
          yield { samples: last };
        }
      } finally {
        Atomics.add(count, COUNT.left, 1);
      }
    },
    async close() {},
  };
}

async function misbehave(command: string, count: Int32Array, guard: NativeCallGuard): Promise<void> {
  if (command === "exit") process.exit(3);
  if (command === "throw") queueMicrotask(() => fail());
  if (command === "eat") eat();
  if (command === "hold") hold(count);
  if (command === "native") {
    guard.enter();
    hold(count);
    Atomics.add(count, COUNT.native, 1);
    guard.leave();
  }
  if (command === "spin" || command === "block" || command === "never") Atomics.add(count, COUNT.held, 1);
  if (command === "spin") spin();
  if (command === "block") block();
  if (command === "never") await new Promise(() => {});
}

function hold(count: Int32Array): void {
  Atomics.add(count, COUNT.held, 1);
  Atomics.wait(count, COUNT.gate, 0);
}

function spin(): never {
  for (;;);
}

function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function fail(): never {
  throw new RangeError("an uncaught error");
}

function eat(): void {
  const eaten: number[][] = [];
  for (;;) eaten.push(new Array(10_000).fill(eaten.length));
}
