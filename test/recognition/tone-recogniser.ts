import { setImmediate as turn } from "node:timers/promises";
import type { AudioSource } from "../../src/core/audio-source.ts";
import type { Clip } from "../../src/core/conversation.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type TranscribedWord,
  type Transcript,
  type TranscriptSegment,
} from "../../src/core/recogniser.ts";
import { clipOf } from "./clips.ts";
import { readWhole } from "./read-whole.ts";

const FRAME_S = 0.02;
/** RMS. */
const LOUD = 0.05;
/** Words this far apart belong to two segments. */
const PAUSE_S = 0.3;
/** The word for a tone up to a frequency; outside of them is no speech. */
const WORDS: readonly (readonly [uptoHz: number, word: string | null])[] = [
  [60, null],
  [250, "low"],
  [500, "middle"],
  [2_500, "high"],
  [Number.POSITIVE_INFINITY, null],
];

/** Transcribes tones as words, without a network. Translations are upper-case. */
export class ToneRecogniser implements Recogniser {
  readonly name = "tones";
  readonly memoryBytesPerS = 0;
  readonly canTranslate: boolean;
  #isClosed = false;

  constructor(options: { readonly canTranslate?: boolean } = {}) {
    this.canTranslate = options.canTranslate ?? true;
  }

  async recognise(
    sound: AudioSource,
    { task, wantsWords, language, startAtS = 0, onPartial }: RecogniseOptions,
    signal: AbortSignal,
  ): Promise<Transcript> {
    signal.throwIfAborted();
    const isTranslation = task === "translate";
    if (isTranslation && !this.canTranslate)
      throw new RecogniserError("tones are not translated: ask for a transcription", { refused: "task" });
    const { samples, sampleRateHz, durationS } = await readWhole(sound, signal);
    const words: TranscribedWord[] = [];
    const step = Math.max(1, Math.round(FRAME_S * sampleRateHz));
    let burst: { from: number; crossings: number } | null = null;
    for (let at = Math.round(startAtS * sampleRateHz); at < samples.length + step; at += step) {
      if (this.#isClosed) throw new RecogniserError("the recogniser was closed: retry");
      const frame = samples.subarray(at, at + step);
      if (isLoud(frame)) {
        burst ??= { from: at, crossings: 0 };
        burst.crossings += crossingsIn(frame);
      } else if (burst !== null) {
        words.push(...wordOf(burst.from / sampleRateHz, at / sampleRateHz, burst.crossings, durationS));
        burst = null;
      }
      await turn();
      signal.throwIfAborted();
    }
    if (this.#isClosed) throw new RecogniserError("the recogniser was closed: retry");
    const said = segmentsOf(words, wantsWords && !isTranslation);
    const segments = isTranslation ? said.map((each) => ({ ...each, text: each.text.toUpperCase() })) : said;
    const isSpeech = segments.length > 0;
    const heard: Transcript = {
      text: segments.map(({ text }) => text).join(" "),
      language: isSpeech ? (language ?? "en") : null,
      languageProbability: isSpeech ? 1 : null,
      speechProbability: isSpeech ? 1 : 0,
      meanLogProbability: isSpeech ? -0.25 : null,
      segments,
      transcribedS: durationS,
    };
    onPartial?.(heard);
    return heard;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}

/** Two sentences of tones, and their words. */
export function toneSpeech(): { readonly clip: Clip; readonly words: readonly string[] } {
  const tones = [150, 400, 1_000, 0, 0, 400, 150, 1_000];
  const clip = clipOf(tones.length / 2, (timeS) => {
    const toneHz = timeS % 0.5 < 0.4 ? tones[Math.floor(2 * timeS)]! : 0;
    return 0.4 * Math.sin(2 * Math.PI * toneHz * timeS);
  });
  return { clip, words: ["low", "middle", "high", "middle", "low", "high"] };
}

function isLoud(frame: Float32Array): boolean {
  const energy = frame.reduce((sum, sample) => sum + sample * sample, 0);
  return frame.length > 0 && energy / frame.length > LOUD ** 2;
}

function crossingsIn(frame: Float32Array): number {
  let crossings = 0;
  for (let at = 1; at < frame.length; at++) if (frame[at - 1]! < 0 !== frame[at]! < 0) crossings++;
  return crossings;
}

function wordOf(startS: number, endS: number, crossings: number, durationS: number): TranscribedWord[] {
  const toneHz = crossings / 2 / (endS - startS);
  const text = WORDS.find(([uptoHz]) => toneHz <= uptoHz)![1];
  return text === null ? [] : [{ text, startS, endS: Math.min(endS, durationS), probability: 1 }];
}

function segmentsOf(words: readonly TranscribedWord[], wantsWords: boolean): TranscriptSegment[] {
  const groups: TranscribedWord[][] = [];
  for (const word of words) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && word.startS - last.endS < PAUSE_S) groups.at(-1)!.push(word);
    else groups.push([word]);
  }
  return groups.map((group) => ({
    startS: group[0]!.startS,
    endS: group.at(-1)!.endS,
    text: group.map(({ text }) => text).join(" "),
    words: wantsWords ? group : null,
    meanLogProbability: -0.25,
  }));
}
