import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { Frame, SpeechEvents, SpokenWord, TimedName } from "../../core/speech-model.ts";
import { takeStartedBefore } from "../../core/speech-model.ts";

/** Amplitude below which a sample is silence: -60 dB. */
const SILENCE = 0.001;
/** Silence that is withheld, so that a gap after it can be shortened. */
const MAX_HELD_SAMPLES = SAMPLE_RATE_HZ;

/**
 * Joins the frames of several utterances into frames of 80 ms, with a gap of a given length from the last sound of one to the
 * first sound of the next. Shifts the times of words accordingly. Withholds up to a second of silence at the end.
 */
export class FrameJoiner {
  #samples = new Float32Array(2 * MAX_HELD_SAMPLES);
  #filled = 0;
  /** Samples that are ready: up to the last sound. */
  #ready = 0;
  /** Samples of the frames so far. */
  #sent = 0;
  /** Sample from which the current part's times count, from the first one of all. */
  #partFrom = 0;
  /** Seconds at which the current part begins, after a cut. */
  #jointS = 0;
  /** Seconds at which the last viseme ends, where the next one begins. */
  #visemesEndS = 0;
  #gap: { readonly at: number; readonly samples: number } | null = null;
  /** Events of the current part whose times depend on the gap. */
  #waiting: SpeechEvents[] = [];
  #words: SpokenWord[] = [];
  #phonemes: TimedName[] = [];
  #visemes: TimedName[] = [];
  #hasWords = false;
  #hasMouth = false;

  /** Frames so far, rounded up. */
  get frames(): number {
    return Math.ceil((this.#sent + this.#filled) / FRAME_SAMPLES);
  }

  /** Begins the next utterance. @param gapS `null` keeps the silence that the utterances have */
  beginPart(gapS: number | null): void {
    // A part without a sound is a pause between two gaps.
    if (this.#gap !== null) {
      this.#fitGap(this.#gap.at);
      this.#ready = this.#filled;
    }
    this.#takeWaiting();
    this.#partFrom = this.#sent + this.#filled;
    this.#jointS = this.#partFrom / SAMPLE_RATE_HZ;
    this.#gap = gapS === null ? null : { at: this.#filled, samples: Math.round(gapS * SAMPLE_RATE_HZ) };
  }

  /** Adds a frame of the current utterance. Yields those that are complete. */
  *push({ samples, words, mouth }: Frame): Generator<Frame, void, void> {
    const sound = samples.findIndex(isSound);
    this.#append(samples);
    if (sound >= 0) {
      this.#fitGap(this.#filled - samples.length + sound);
      this.#ready = this.#filled - samples.length + samples.findLastIndex(isSound) + 1;
    }
    if (this.#gap === null) this.#ready = Math.max(this.#ready, this.#filled - MAX_HELD_SAMPLES);
    this.#waiting.push({ ...(words && { words }), ...(mouth && { mouth }) });
    if (this.#gap === null) this.#takeWaiting();
    while (this.#ready >= FRAME_SAMPLES) yield this.#frame(FRAME_SAMPLES);
  }

  /** Yields the rest. */
  *end(): Generator<Frame, void, void> {
    this.#takeWaiting();
    while (this.#filled > 0) yield this.#frame(Math.min(FRAME_SAMPLES, this.#filled));
  }

  /** Lengthens or shortens the silence before a sound, if it is the first of its part. */
  #fitGap(soundAt: number): void {
    if (this.#gap === null) return;
    const { at, samples } = this.#gap;
    this.#gap = null;
    const missing = samples - (soundAt - this.#ready);
    this.#partFrom += missing;
    if (missing > 0) {
      this.#append(new Float32Array(missing));
      this.#samples.copyWithin(at + missing, at, this.#filled - missing);
      this.#samples.fill(0, at, at + missing);
      this.#cutEvents(at + missing);
      return;
    }
    // The end of the earlier utterance is cut first, then the beginning of the later one.
    const from = Math.max(this.#ready, at + missing);
    this.#samples.copyWithin(from, from - missing, this.#filled);
    this.#filled += missing;
    this.#cutEvents(from);
  }

  /** Ends the events of the earlier part where the current one begins. */
  #cutEvents(at: number): void {
    this.#jointS = (this.#sent + at) / SAMPLE_RATE_HZ;
    const cut = <T extends TimedEvent>(event: T): T => ({
      ...event,
      startS: Math.min(event.startS, this.#jointS),
      endS: Math.min(event.endS, this.#jointS),
    });
    this.#words = this.#words.map(cut);
    this.#phonemes = this.#phonemes.map(cut);
    const [waiting = { startS: this.#visemesEndS }] = this.#visemes;
    this.#visemesEndS = Math.min(this.#visemesEndS, Math.max(this.#jointS, waiting.startS));
    this.#visemes = this.#visemes.map(cut).filter(hasLength);
  }

  #append(samples: Float32Array): void {
    if (this.#filled + samples.length > this.#samples.length) {
      const longer = new Float32Array(2 * (this.#filled + samples.length));
      longer.set(this.#samples.subarray(0, this.#filled));
      this.#samples = longer;
    }
    this.#samples.set(samples, this.#filled);
    this.#filled += samples.length;
  }

  #takeWaiting(): void {
    for (const { words, mouth } of this.#waiting.splice(0)) {
      this.#hasWords ||= words !== undefined;
      this.#hasMouth ||= mouth !== undefined;
      this.#words.push(...(words ?? []).map((word) => this.#moved(word)));
      this.#phonemes.push(...(mouth?.phonemes ?? []).map((phoneme) => this.#moved(phoneme)));
      for (const viseme of mouth?.visemes ?? []) {
        const follows = { ...this.#moved(viseme), startS: this.#visemesEndS };
        if (!hasLength(follows)) continue;
        this.#visemes.push(follows);
        this.#visemesEndS = follows.endS;
      }
    }
  }

  #moved<T extends TimedEvent>(event: T): T {
    const byS = this.#partFrom / SAMPLE_RATE_HZ;
    const startS = Math.max(event.startS + byS, this.#jointS);
    return { ...event, startS, endS: Math.max(event.endS + byS, startS) };
  }

  #frame(length: number): Frame {
    const samples = this.#samples.slice(0, length);
    this.#samples.copyWithin(0, length, this.#filled);
    this.#filled -= length;
    this.#ready = Math.max(0, this.#ready - length);
    if (this.#gap !== null) this.#gap = { ...this.#gap, at: Math.max(0, this.#gap.at - length) };
    this.#sent += length;
    const endS = this.#sent / SAMPLE_RATE_HZ;
    const mouth = {
      phonemes: takeStartedBefore(this.#phonemes, endS),
      visemes: takeStartedBefore(this.#visemes, endS),
    };
    return {
      samples,
      ...(this.#hasWords && { words: takeStartedBefore(this.#words, endS) }),
      ...(this.#hasMouth && { mouth }),
    };
  }
}

type TimedEvent = Pick<TimedName, "startS" | "endS">;

function hasLength({ startS, endS }: TimedEvent): boolean {
  return endS > startS;
}

function isSound(sample: number): boolean {
  return Math.abs(sample) >= SILENCE;
}
