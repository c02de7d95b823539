import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { abortable } from "../../src/core/abortable.ts";
import type { Script } from "../../src/core/script.ts";
import {
  type Frame,
  NothingToSpeakError,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
  type SpokenWord,
} from "../../src/core/speech-model.ts";
import { type Stopper, stopWith } from "../../src/core/stop-with.ts";
import { type PlainItem, type PlainScript, speakPlain } from "../../src/text/speak-plain.ts";

/** Length of the tone of one code point: 60 ms, about the pace of speech. */
export const CHARACTER_SAMPLES = 1_440;

export interface ToneOptions {
  /** Frame at which every utterance fails, counted from 0. */
  readonly failAtFrame?: number;
  /** Awaited before each frame. */
  readonly beforeFrame?: (index: number) => Promise<void> | void;
  /** Bytes to hold until `close`. */
  readonly memoryBytes?: number;
}

/**
 * The smallest speech model: each sentence is a tone as long as its characters. Speakers have 220 and 330 Hz; a
 * chosen voice is its first part's. Above temperature 0 the seed detunes each sentence by up to 2 %. History, quality
 * and preset change nothing.
 */
export async function createToneModel(options: ToneOptions = {}): Promise<SpeechModel> {
  let ballast: Uint8Array | null = new Uint8Array(options.memoryBytes ?? 0).fill(1);
  const open = new Set<Stopper>();

  return {
    async *speak(script, signal) {
      if (ballast === null) throw new SpeechFailedError("the tone model is closed");
      signal.throwIfAborted();
      const stop = stopWith([signal]);
      open.add(stop);
      try {
        return yield* speakPlain(script, (plain) => utterance(plain, stop.signal, options));
      } finally {
        stop.end();
        open.delete(stop);
      }
    },
    async close() {
      ballast = null;
      for (const stop of open) stop.abort(new SpeechFailedError("the tone model was closed"));
    },
  };
}

/** The export that a worker thread looks for. */
export { createToneModel as createModel };

const SPEAKABLE = /[\p{L}\p{N}]/u;
const WORDS = /[\p{L}\p{N}](?:\S*[\p{L}\p{N}])?/gu;
const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
const FADE_SAMPLES = 120;
const AMPLITUDE = 0.25;

async function* utterance(
  script: PlainScript,
  signal: AbortSignal,
  options: ToneOptions,
): AsyncGenerator<Frame, SpeechReport, void> {
  const { maxFrames } = script.delivery;
  let samples = new Float32Array(FRAME_SAMPLES);
  let filled = 0;
  let given = 0;
  let spoken = "";
  let characters = 0;
  let words: SpokenWord[] = [];
  let sentenceIndex = 0;

  const finish = async (length: number): Promise<Frame> => {
    if (options.beforeFrame) await abortable(Promise.resolve(options.beforeFrame(given)), signal);
    if (given === options.failAtFrame) throw new SpeechFailedError(`the tone model fails at frame ${given}`);
    const endS = ((given + 1) * FRAME_SAMPLES) / SAMPLE_RATE_HZ;
    const begun = words.filter(({ startS }) => startS < endS);
    words = words.slice(begun.length);
    const frame = { samples: length < FRAME_SAMPLES ? samples.slice(0, length) : samples, words: begun };
    samples = new Float32Array(FRAME_SAMPLES);
    filled = 0;
    given += 1;
    return frame;
  };

  for await (const sentence of sentences(script.text, signal)) {
    if (typeof sentence !== "string") {
      let left = Math.round(sentence.pauseS * SAMPLE_RATE_HZ);
      while (left > 0 && given < maxFrames) {
        const count = Math.min(FRAME_SAMPLES - filled, left);
        filled += count;
        left -= count;
        if (filled < FRAME_SAMPLES) continue;
        yield await finish(FRAME_SAMPLES);
        signal.throwIfAborted();
      }
      continue;
    }
    const lengthSamples = SPEAKABLE.test(sentence) ? [...sentence].length * CHARACTER_SAMPLES : 0;
    if (lengthSamples > 0 && given === maxFrames) return { stop: "length", spoken };
    spoken += sentence;
    const atSample = given * FRAME_SAMPLES + filled;
    if (lengthSamples > 0) words.push(...wordsOf(sentence, characters, atSample, maxFrames * FRAME_SAMPLES));
    characters += [...sentence].length;
    const pitchHz = detuned(speakerOf(script) === "0" ? 220 : 330, script, sentenceIndex++);
    for (let at = 0; at < lengthSamples; ) {
      if (given === maxFrames) return { stop: "length", spoken };
      const count = Math.min(FRAME_SAMPLES - filled, lengthSamples - at);
      for (let i = 0; i < count; i++) samples[filled + i] = toneAt(at + i, lengthSamples, pitchHz);
      filled += count;
      at += count;
      if (filled < FRAME_SAMPLES) continue;
      yield await finish(FRAME_SAMPLES);
      signal.throwIfAborted();
    }
  }
  if (filled > 0) yield await finish(filled);
  if (given === 0) {
    throw new NothingToSpeakError("the text has no letter or number, so there is nothing to speak");
  }
  return { stop: "finished", spoken };
}

/** Returns the chosen voice if it is one of ours, else the speaker. */
function speakerOf({ speaker, voice }: Pick<Script, "speaker" | "voice">): string {
  const [part] = voice ?? [];
  return part !== undefined && "id" in part ? part.id : speaker;
}

async function* sentences(
  text: AsyncIterable<PlainItem>,
  signal: AbortSignal,
): AsyncGenerator<PlainItem, void, void> {
  const pieces = text[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const piece = await abortable(pieces.next(), signal);
      if (piece.done) {
        ended = true;
        return;
      }
      if (typeof piece.value !== "string") yield piece.value;
      else for (const { segment } of SENTENCES.segment(piece.value)) yield segment;
    }
  } finally {
    // Not awaited, because a waiting source would delay the abort.
    if (!ended) void Promise.resolve(pieces.return?.()).catch(() => {});
  }
}

/** Returns the words that end before the audio does. @param before characters of the text before the sentence */
function wordsOf(sentence: string, before: number, atSample: number, maxSamples: number): SpokenWord[] {
  const words = [...sentence.matchAll(WORDS)].map(({ 0: word, index }): SpokenWord => {
    const characters = [...sentence.slice(0, index)].length;
    const length = [...word].length;
    const startS = (atSample + characters * CHARACTER_SAMPLES) / SAMPLE_RATE_HZ;
    const endS = startS + (length * CHARACTER_SAMPLES) / SAMPLE_RATE_HZ;
    return { word, startS, endS, offset: before + characters, length };
  });
  return words.filter(({ endS }) => endS <= maxSamples / SAMPLE_RATE_HZ);
}

function toneAt(index: number, lengthSamples: number, pitchHz: number): number {
  const fade = Math.min(1, index / FADE_SAMPLES, (lengthSamples - index) / FADE_SAMPLES);
  return AMPLITUDE * fade * Math.sin((2 * Math.PI * pitchHz * index) / SAMPLE_RATE_HZ);
}

function detuned(pitchHz: number, script: Pick<Script, "delivery" | "seed">, sentenceIndex: number): number {
  const { temperature } = script.delivery;
  if (temperature === 0) return pitchHz;
  return pitchHz * (1 + 0.02 * (temperature / 1.5) * (2 * unit(script.seed, sentenceIndex) - 1));
}

/** A number in [0, 1) from a seed and a counter (SplitMix64; Steele, Lea and Flood, 2014). */
function unit(seed: bigint, counter: number): number {
  let z = BigInt.asUintN(64, seed + BigInt(counter + 1) * 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
