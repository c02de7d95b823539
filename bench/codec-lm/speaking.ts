import { availableParallelism } from "node:os";
import { FRAME_S } from "../../src/audio/format.ts";
import type {
  CodecLanguageModel,
  Precision,
  Utterance,
} from "../../src/engines/codec-lm/codec-language-model.ts";
import { readCheckpoint } from "../../src/engines/codec-lm/read-checkpoint.ts";
import type { NativeGuard } from "../../src/onnx/session.ts";

/** What is spoken, by which checkpoint. */
export interface Speaking {
  readonly folder: string;
  readonly precision: Precision;
  readonly cacheFolder: string;
  /** Utterances at once, one number for each measurement. */
  readonly streams: readonly number[];
  /** Frames of each utterance. */
  readonly frames: number;
  readonly history: Utterance["history"];
}

export interface SpeakingTimes {
  /** From the request to the first frame, when nothing else is spoken; of it, reading the prompt. */
  readonly firstMs: number;
  readonly promptMs: number;
  readonly streams: readonly {
    readonly count: number;
    /** Of a frame of each, the median. */
    readonly tickMs: number;
    /** Speech that is made, against the time that it takes. */
    readonly timesRealTime: number;
    /** The time of frames against the time in onnxruntime. */
    readonly overhead: number;
  }[];
}

const TEXT = "Well, that depends on whom you ask, I suppose; but nobody has asked me for a while. ";
/** Frames that are not counted at the beginning: prompts are read meanwhile. */
const WARM_UP = 3;

/** Measures a checkpoint in this process, on all cores. */
export async function speakingTimes(speaking: Speaking): Promise<SpeakingTimes> {
  const { folder, precision, cacheFolder, streams } = speaking;
  const runs = new RunTimes();
  const checkpoint = await readCheckpoint(folder);
  const model = await checkpoint.open({
    threads: availableParallelism(),
    precision,
    cacheFolder,
    signal: new AbortController().signal,
    guard: runs,
    slots: Math.max(...streams),
    maxPrefixBytes: 0,
  });
  try {
    await one(model, speaking, 0, WARM_UP, () => {});
    runs.clear();
    const askedAt = performance.now();
    const frames: { readonly ms: number; readonly runs: number }[] = [];
    await one(model, speaking, 0, 2, () =>
      frames.push({ ms: performance.now() - askedAt, runs: runs.times.length }),
    );
    const [first, second] = frames as [(typeof frames)[0], (typeof frames)[0]];
    // Besides those of the first frame the second has one that reads it.
    const ofFirst = second.runs - first.runs - 1;
    const promptMs = sum(runs.times.slice(0, first.runs - ofFirst));
    const found = [];
    for (const count of streams) found.push(await together(model, speaking, count, runs));
    return { firstMs: first.ms, promptMs, streams: found };
  } finally {
    await model.close();
  }
}

async function together(model: CodecLanguageModel, speaking: Speaking, count: number, runs: RunTimes) {
  const given: number[] = Array(count).fill(0);
  const ends: number[] = [];
  let nativeMs = 0;
  const utterances = given.map((_, number) =>
    one(model, speaking, number, speaking.frames, (at) => {
      given[number] = at + 1;
      // The last of a tick.
      if (given.some((frames) => frames <= at)) return;
      ends.push(performance.now());
      if (at === WARM_UP) runs.clear();
      nativeMs = sum(runs.times);
    }),
  );
  await Promise.all(utterances);
  const counted = ends.slice(WARM_UP);
  const ticks = counted.slice(1).map((end, at) => end - counted[at]!);
  const wholeMs = counted.at(-1)! - counted[0]!;
  ticks.sort((a, b) => a - b);
  return {
    count,
    tickMs: ticks[ticks.length >> 1]!,
    timesRealTime: (count * ticks.length * FRAME_S * 1_000) / wholeMs,
    overhead: wholeMs / nativeMs,
  };
}

async function one(
  model: CodecLanguageModel,
  { history }: Speaking,
  number: number,
  frames: number,
  onFrame: (at: number) => void,
): Promise<void> {
  const utterance: Utterance = {
    history,
    open: { speaker: "0", text: TEXT.repeat(4) },
    sampling: { temperature: 0.9, topK: 50, maxFrames: frames },
    options: new Map(),
    uniforms: null,
    seed: BigInt(number),
  };
  const speech = model.speak(utterance, new AbortController().signal);
  for (let at = 0; !(await speech.next()).done; at++) onFrame(at);
}

/** How long each run of onnxruntime took, in milliseconds. */
class RunTimes implements NativeGuard {
  readonly times: number[] = [];
  #enteredAt = 0;

  enter(): void {
    this.#enteredAt = performance.now();
  }

  leave(): void {
    this.times.push(performance.now() - this.#enteredAt);
  }

  clear(): void {
    this.times.length = 0;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
