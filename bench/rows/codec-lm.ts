import { join } from "node:path";
import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { type SpeakingTimes, speakingTimes } from "../codec-lm/speaking.ts";
import { writeRandomCsm, writeRandomQwen3Tts } from "../random-checkpoint.ts";
import type { Finding, Row } from "../row.ts";
import { CACHE, TOP } from "../top.ts";

const FOLDER = join(CACHE, "codec-lm");
const COMMON = { precision: "int4", cacheFolder: join(FOLDER, "quantised") } as const;
/** Of the time of frames against that in onnxruntime. */
const OVERHEAD = 1.1;
/** Frames that the first may take, without its prompt. */
const FIRST_FRAMES = 1.2;

/** Frames of each utterance. */
const lengthOf = (isQuick: boolean): number => (isQuick ? 10 : 50);

/**
 * Random weights of CSM-1B's shapes (6.6 GB, made once in `bench/.cache`): noise, at the speed of a trained
 * model. Fifty frames of each utterance. Overhead is the time of the frames ÷ the time in onnxruntime.
 */
export const csmFrames: Row = {
  id: "codec-lm-csm",
  what: "CSM-1B's shapes (dice for weights), int4: a frame of one utterance, and of eight at once; the first frame behind a prompt of about 100 positions",
  goal: "one: a frame in 92 ms; eight: 2.5 times real time; overhead 1.10; first: prompt + 1.2 frames",
  async measure({ isQuick, note }) {
    const folder = join(FOLDER, "csm-f32");
    note("a checkpoint of 6.6 GB, if it is not there yet");
    await writeRandomCsm(folder, join(TOP, "test/golden/csm/csm-tiny"));
    const times = await speakingTimes({
      ...COMMON,
      folder,
      streams: [1, 8],
      frames: lengthOf(isQuick),
      history: [],
    });
    return finding(times, 92, 2.5);
  },
};

/** Measures what `codec-lm-csm` does, with the shapes of Qwen3-TTS-0.6B (2.5 GB). */
export const qwen3TtsFrames: Row = {
  id: "codec-lm-qwen3-tts",
  what: "Qwen3-TTS-0.6B's shapes (dice for weights), int4 talker and int8 predictor, a reference of 5 s: a frame of one utterance, and of four at once; the first frame",
  goal: "one: a frame in 80 ms; four: 1.6 times real time; overhead 1.10; first: prompt + 1.2 frames",
  async measure({ isQuick, note }) {
    const folder = join(FOLDER, "qwen3-tts-0.6b");
    note("a checkpoint of 2.5 GB, if it is not there yet");
    await writeRandomQwen3Tts(folder, "0.6b");
    const audio = Float32Array.from({ length: 5 * SAMPLE_RATE_HZ }, (_, at) => 0.2 * Math.sin(at / 30));
    const times = await speakingTimes({
      ...COMMON,
      folder,
      streams: [1, 4],
      frames: lengthOf(isQuick),
      history: [{ speaker: "0", text: "It was like that, and nobody said a word.", audio, digest: "clip" }],
    });
    return finding(times, 80, 1.6);
  },
};

function finding({ firstMs, promptMs, streams }: SpeakingTimes, mostMs: number, least: number): Finding {
  const [one, several] = streams as [SpeakingTimes["streams"][0], SpeakingTimes["streams"][0]];
  const told = streams.map(
    ({ count, tickMs, timesRealTime, overhead }) =>
      `${count}: ${tickMs.toFixed(0)} ms, ${timesRealTime.toFixed(2)} times real time, overhead ${overhead.toFixed(2)}`,
  );
  const isFirstMet = firstMs <= promptMs + FIRST_FRAMES * one.tickMs;
  const isOverheadMet = streams.every(({ overhead }) => overhead <= OVERHEAD);
  return {
    measured: `${told.join("; ")}; first frame ${firstMs.toFixed(0)} ms, of which the prompt ${promptMs.toFixed(0)}`,
    isMet: isFirstMet && isOverheadMet && one.tickMs <= mostMs && several.timesRealTime >= least,
  };
}
