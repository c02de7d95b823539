import { FRAME_S } from "../../../audio/format.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import type { SpeakerLabel } from "../../../core/conversation.ts";
import type { SpokenFrame, SpokenTurn } from "../codec-language-model.ts";
import type { CodeFrame } from "../mimi/frame-decoder.ts";

/** What was spoken of an utterance: its newest parts, as turns that its next part goes on from. */
export class SpokenHistory {
  readonly #speaker: SpeakerLabel;
  readonly #maxS: number;
  #turns: SpokenTurn[] = [];

  /** @param maxS how much is kept; the newest part is, however long it is, unless this is 0 */
  constructor(speaker: SpeakerLabel, maxS: number) {
    this.#speaker = speaker;
    this.#maxS = maxS;
  }

  get turns(): readonly SpokenTurn[] {
    return this.#turns;
  }

  /** A part that is spoken next. */
  begin(): SegmentRecorder {
    return new SegmentRecorder(this.#maxS > 0);
  }

  add(part: SegmentRecorder, text: string): void {
    if (this.#maxS === 0 || part.count === 0) return;
    const { codes, audio } = part.speech;
    const turns = [...this.#turns, { speaker: this.#speaker, text, audio, codes }];
    let frames = 0;
    const tooOld = turns.findLastIndex((turn) => {
      frames += turn.codes!.length;
      return frames * FRAME_S > this.#maxS;
    });
    this.#turns = turns.slice(Math.min(tooOld + 1, turns.length - 1));
  }
}

/** What was spoken in one go, without the silence behind it. */
interface RecordedSpeech {
  readonly codes: readonly CodeFrame[];
  readonly audio: Float32Array;
}

/** Gathers what is spoken in one go. */
class SegmentRecorder {
  readonly #keeps: boolean;
  readonly #silence = new SilenceDetector();
  readonly #frames: SpokenFrame[] = [];
  #count = 0;

  /** @param keeps whether what is spoken is asked for behind it */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  add(frame: SpokenFrame): void {
    this.#count += 1;
    if (this.#keeps) this.#frames.push(frame);
    this.#silence.push(frame.samples);
  }

  /** Frames so far. */
  get count(): number {
    return this.#count;
  }

  /** Frames since something was heard. */
  get silentFrames(): number {
    return this.#silence.silentFrames;
  }

  /** All but silence that is longer than a pause. */
  get speech(): RecordedSpeech {
    const spare = Math.max(0, this.#silence.silentFrames - PAUSE_FRAMES);
    const kept = this.#frames.slice(0, this.#frames.length - spare);
    return { codes: kept.map(({ codes }) => codes), audio: joinSamples(kept.map(({ samples }) => samples)) };
  }
}

/** Between two sentences: 160 ms at least. */
export const PAUSE_FRAMES = 2;

/** Root mean square of a full-scale square wave is 1: this is 50 dB below it, and what is less nobody hears. */
const SILENCE_RMS = 0.003;
/** So far below the loudest frame, 40 dB, nobody speaks. */
const SILENCE_SHARE = 0.01;
/** Nobody pauses as long within a few sentences. */
const MAX_PAUSE_S = 3;

/** Whether there is anything to hear in some samples. */
export function isSilent(samples: Float32Array): boolean {
  return rootMeanSquare(samples) < SILENCE_RMS;
}

/** Watches speech for silence. */
export class SilenceDetector {
  #loudest = 0;
  #frames = 0;

  push(samples: Float32Array): void {
    const level = rootMeanSquare(samples);
    this.#loudest = Math.max(this.#loudest, level);
    const isQuiet = level < Math.max(SILENCE_RMS, SILENCE_SHARE * this.#loudest);
    this.#frames = isQuiet ? this.#frames + 1 : 0;
  }

  /** Frames since something was heard. */
  get silentFrames(): number {
    return this.#frames;
  }

  /** Whether speech began and then nothing was heard for longer than anybody pauses. */
  get hasEnded(): boolean {
    return this.#loudest >= SILENCE_RMS && this.#frames * FRAME_S >= MAX_PAUSE_S;
  }
}

/** Root mean square. */
function rootMeanSquare(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}
