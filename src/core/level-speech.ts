import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { LoudnessMeter } from "../audio/loudness.ts";
import { normaliseLoudness } from "../audio/normalise-loudness.ts";
import { PeakLimiter } from "../audio/peak-limiter.ts";
import type { Frame, SpeechModel } from "./speech-model.ts";

type Speech = ReturnType<SpeechModel["speak"]>;

/**
 * Returns the model with its speech at about a loudness, frame by frame: from what voices usually have, corrected slowly
 * by what is measured of each.
 */
export function levelSpeech(model: SpeechModel, targetLufs: number): SpeechModel {
  const levels = new Map<string, VoiceLevel>();
  return {
    speak(script, signal) {
      const parts = script.voice?.map((part) => ("id" in part ? part.id : part.sample.clip.digest));
      const name = parts?.join() ?? script.speaker;
      const level = levels.get(name) ?? new VoiceLevel(targetLufs, script.manner?.figures.levelDb);
      levels.set(name, level);
      return levelFrames(model.speak(script, signal), level);
    },
    close: () => model.close(),
  };
}

/** Holds a frame back until the next one, which the limiter looks at. */
async function* levelFrames(speech: Speech, level: VoiceLevel): Speech {
  const limiter = new PeakLimiter();
  let [held, gain, isOver]: [Frame | null, number, boolean] = [null, 1, false];
  try {
    for (;;) {
      const step = await speech.next();
      isOver = step.done === true;
      const samples = limiter.push(step.done ? null : level.amplified(step.value.samples));
      level.measure(samples.map((sample) => sample / gain));
      if (held !== null) yield { ...held, samples };
      if (step.done) return step.value;
      [held, gain] = [step.value, level.gain];
    }
  } finally {
    if (!isOver) await speech.return({ stop: "length", spoken: "" });
  }
}

/** Loudness of voices here, within 2 LU, and how many seconds of measuring it weighs as much as. */
const USUAL_LUFS = -26.5;
const USUAL_WEIGHT_S = 0.5;
/** How fast the gain may change once a few seconds are measured, and how far by measuring the first ones. */
const MAX_DB_PER_S = 1.5;
const MAX_FIRST_DB = 4;
const MAX_GAIN_DB = 30;
/** Measuring takes time in proportion to the speech, so it is repeated only after this growth. */
const MEASURED_GROWTH = 1.02;

/** Gain of one voice. */
class VoiceLevel {
  readonly #meter = new LoudnessMeter(SAMPLE_RATE_HZ);
  readonly #targetLufs: number;
  #pushed = 0;
  #measured = { lufs: 0, durationS: 0 };
  /** Samples at the last measurement. */
  #measuredAt = 0;
  #gainDb: number;
  /** The gain before anything is measured. */
  readonly #usualDb: number;

  /** @param mannerDb that the voice is louder than usual */
  constructor(targetLufs: number, mannerDb = 0) {
    this.#targetLufs = targetLufs;
    const plainDb = targetLufs - USUAL_LUFS - mannerDb;
    // Speech loses about this to the limiter.
    this.#usualDb = plainDb + Math.min(12, 0.14 * Math.max(0, plainDb - 8.5) ** 2);
    this.#gainDb = this.#usualDb;
  }

  get gain(): number {
    return 10 ** (this.#gainDb / 20);
  }

  /** Returns samples with the gain, which moves towards the one that the measured loudness needs. */
  amplified(samples: Float32Array): Float32Array<ArrayBuffer> {
    const { lufs, durationS } = this.#measured;
    const measuredDb = durationS * (this.#targetLufs - lufs);
    const neededDb = (USUAL_WEIGHT_S * this.#usualDb + measuredDb) / (USUAL_WEIGHT_S + durationS);
    const speedDb = durationS > 0 ? Math.max(MAX_DB_PER_S, MAX_FIRST_DB / durationS) : 0;
    const mostDb = (speedDb * samples.length) / SAMPLE_RATE_HZ;
    const changeDb = Math.max(-MAX_GAIN_DB, Math.min(MAX_GAIN_DB, neededDb)) - this.#gainDb;
    const before = this.gain;
    this.#gainDb += Math.max(-mostDb, Math.min(mostDb, changeDb));
    const step = (this.gain - before) / samples.length;
    return Float32Array.from(samples, (sample, n) => sample * (before + step * (n + 1)));
  }

  /** Measures limited samples as they are without their gain. */
  measure(samples: Float32Array): void {
    this.#meter.push(samples);
    this.#pushed += samples.length;
    if (this.#pushed < MEASURED_GROWTH * this.#measuredAt) return;
    this.#measuredAt = this.#pushed;
    this.#measured = this.#meter.measure() ?? { lufs: 0, durationS: 0 };
  }
}

/** Brings speech to a loudness exactly. All of it is held in memory first. */
export async function* normaliseSpeech(speech: Speech, targetLufs: number): Speech {
  const frames: Frame[] = [];
  let step = await speech.next();
  for (; !step.done; step = await speech.next()) frames.push(step.value);
  const read = async function* () {
    for (const { samples } of frames) yield samples;
  };
  const all = frames.values();
  for await (const samples of normaliseLoudness(read, targetLufs))
    if (samples.length > 0) yield { ...all.next().value!, samples };
  return step.value;
}
