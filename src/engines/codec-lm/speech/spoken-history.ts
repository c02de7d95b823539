import { FRAME_S } from "../../../audio/format.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import type { SpeakerLabel } from "../../../core/conversation.ts";
import type { SpokenFrame, SpokenTurn } from "../codec-language-model.ts";
import type { CodeFrame } from "../mimi/frame-decoder.ts";

/** The newest segments of an utterance as turns, which the next segment continues. */
export class SpokenHistory {
  readonly #speaker: SpeakerLabel;
  readonly #maxS: number;
  #turns: SpokenTurn[] = [];

  /** @param maxS limit; the newest segment is always kept, unless this is 0 */
  constructor(speaker: SpeakerLabel, maxS: number) {
    this.#speaker = speaker;
    this.#maxS = maxS;
  }

  get turns(): readonly SpokenTurn[] {
    return this.#turns;
  }

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

class SegmentRecorder {
  readonly #keeps: boolean;
  readonly #silence = new SilenceDetector();
  readonly #frames: SpokenFrame[] = [];
  #count = 0;

  /** @param keeps whether to keep the speech as context for the next segment */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  add(frame: SpokenFrame): void {
    this.#count += 1;
    if (this.#keeps) this.#frames.push(frame);
    this.#silence.push(frame.samples);
  }

  get count(): number {
    return this.#count;
  }

  get silentFrames(): number {
    return this.#silence.silentFrames;
  }

  /** The speech, with at most a pause of trailing silence. */
  get speech(): { readonly codes: readonly CodeFrame[]; readonly audio: Float32Array } {
    const spare = Math.max(0, this.#silence.silentFrames - PAUSE_FRAMES);
    const kept = this.#frames.slice(0, this.#frames.length - spare);
    return { codes: kept.map(({ codes }) => codes), audio: joinSamples(kept.map(({ samples }) => samples)) };
  }
}

/** Minimum pause between two sentences: 160 ms. */
export const PAUSE_FRAMES = 2;

/** 50 dB below a full-scale square wave: inaudible. */
const SILENCE_RMS = 0.003;
/** 40 dB below the loudest frame: no speech. */
const SILENCE_SHARE = 0.01;
/** Longer than any pause within a few sentences. */
const MAX_PAUSE_S = 3;

export function isSilent(samples: Float32Array): boolean {
  return rootMeanSquare(samples) < SILENCE_RMS;
}

export class SilenceDetector {
  #loudest = 0;
  #frames = 0;

  push(samples: Float32Array): void {
    const level = rootMeanSquare(samples);
    this.#loudest = Math.max(this.#loudest, level);
    const isQuiet = level < Math.max(SILENCE_RMS, SILENCE_SHARE * this.#loudest);
    this.#frames = isQuiet ? this.#frames + 1 : 0;
  }

  get silentFrames(): number {
    return this.#frames;
  }

  /** Whether speech began, and then fell silent for longer than any pause. */
  get hasEnded(): boolean {
    return this.#loudest >= SILENCE_RMS && this.#frames * FRAME_S >= MAX_PAUSE_S;
  }
}

function rootMeanSquare(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}
