import { abortable } from "../../src/core/abortable.ts";
import type { AudioSource } from "../../src/core/audio-source.ts";
import type {
  RecogniseOptions,
  Recogniser,
  Transcript,
  TranscriptSegment,
} from "../../src/core/recogniser.ts";
import { type HeardSound, readWhole } from "./read-whole.ts";

/** Returns scripted segments for any audio, one at a time; on {@link ScriptedRecogniser.hold}, after `release`. */
export class ScriptedRecogniser implements Recogniser {
  readonly name = "scripted-recogniser";
  readonly memoryBytesPerS = 0;
  canTranslate = true;
  readonly clips: HeardSound[] = [];
  readonly asked: RecogniseOptions[] = [];
  /** Abort reasons. */
  readonly stopped: unknown[] = [];
  isClosed = false;
  #segments: readonly TranscriptSegment[];
  #failure: Error | null = null;
  #wait: Promise<void> | null = null;
  #release: () => void = () => {};

  constructor(segments: readonly TranscriptSegment[] = SEGMENTS) {
    this.#segments = segments;
  }

  /** Makes all calls wait for {@link release}. */
  hold(): void {
    this.#wait = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release();
    this.#wait = null;
  }

  hear(segments: readonly TranscriptSegment[]): void {
    this.#segments = segments;
  }

  /** Makes further calls fail; `null` ends that. */
  fail(error: Error | null): void {
    this.#failure = error;
  }

  async recognise(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    const clip = await readWhole(sound, signal);
    this.clips.push(clip);
    this.asked.push(options);
    try {
      await abortable(this.#wait ?? Promise.resolve(), signal);
    } catch (error) {
      this.stopped.push(error);
      throw error;
    }
    if (this.#failure !== null) throw this.#failure;
    const { startAtS = 0 } = options;
    const own = this.#segments.filter(({ startS }) => startS >= startAtS);
    for (const [at, { endS }] of own.entries()) {
      if (at + 1 < own.length) options.onPartial?.(transcriptOf(own.slice(0, at + 1), endS, options));
    }
    const whole = transcriptOf(own, clip.durationS, options);
    options.onPartial?.(whole);
    return whole;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

function transcriptOf(
  told: readonly TranscriptSegment[],
  heardS: number,
  { language, wantsWords }: RecogniseOptions,
): Transcript {
  const segments = told.map((segment) => ({ ...segment, words: wantsWords ? segment.words : null }));
  return {
    text: segments.map(({ text }) => text).join(" "),
    language: language ?? "en",
    languageProbability: 0.9,
    speechProbability: segments.length === 0 ? 0 : 0.75,
    meanLogProbability: segments.length === 0 ? null : -0.25,
    segments,
    transcribedS: heardS,
  };
}

/** Two sentences, 0.2 s a word. */
export const SEGMENTS: readonly TranscriptSegment[] = [
  segmentOf("One way & another.", 0),
  segmentOf("Two --> <three>.", 1.5),
];

/** A segment of words without pauses. */
export function segmentOf(text: string, startS: number): TranscriptSegment {
  const words = text.split(" ").map((word, index) => ({
    text: word,
    startS: startS + index / 5,
    endS: startS + (index + 1) / 5,
    probability: 0.9,
  }));
  return { startS, endS: words.at(-1)!.endS, text, words, meanLogProbability: -0.25 };
}
