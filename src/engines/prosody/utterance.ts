import { FRAME_SAMPLES, type Samples, samplesIn, wholeSamples } from "../../audio/format.ts";
import { type Frame, NothingToSpeakError, type SpeechReport } from "../../core/speech-model.ts";
import { type PrecedingTurn, type Rhythm, rhythmOf } from "./intonation/rhythm.ts";
import { MouthTimeline, mouthPlan } from "./mouth-timeline.ts";
import { TAIL_S } from "./pauses.ts";
import type { GapMarks, SegmentStyle } from "./piece-marks.ts";
import type { Plan } from "./plan.ts";
import type { PlannedText } from "./plan-sentence.ts";
import type { SegmentSource, SpokenSegment } from "./segments.ts";
import { type Placement, ScaledAudio, type SentenceAudio } from "./sentence-audio.ts";
import { wordCount } from "./spoken-words.ts";
import { type FramedMark, frameWords, spokenTimes, WordTimeline } from "./word-timeline.ts";

export interface SentenceVoice {
  /** @param index of the sentence in its utterance */
  plan(sentence: PlannedText, index: number): Promise<Plan>;
  /** Returns the samples of a planned sentence, made on demand. */
  audio(plan: Plan, index: number): SentenceAudio;
  /** Factor by which it is played faster than planned, at the same pitch: 0.5 to 2. Default: 1. */
  readonly timeScale?: number;
  readonly pause: number;
  readonly gain: number;
}

export interface UtterancePlan {
  readonly source: SegmentSource;
  readonly voice: SentenceVoice;
  /** Returns the voice of a segment with a style of its own. */
  voiceIn(style: SegmentStyle): Promise<SentenceVoice>;
  readonly precedingTurn: PrecedingTurn;
  readonly maxFrames: number;
  /** Returns the phoneme of an id; `null` unless the mouth is asked for. */
  readonly phonemeOf: ((id: number) => string) | null;
  readonly signal: AbortSignal;
  readonly onFirstFrame: () => void;
}

/** Speaks segment by segment, planning one ahead. @throws NothingToSpeakError if there is no segment */
export async function* speakSegments(utterance: UtterancePlan): AsyncGenerator<Frame, SpeechReport, void> {
  const { source, maxFrames } = utterance;
  const planner = new SegmentPlanner(utterance);
  const output = new UtteranceOutput(utterance);
  const { builder } = output;
  const cutShort = (): SpeechReport => ({ stop: "length", spoken: output.words.spokenText(source.text) });
  let current = await planner.next();
  if (current === null) {
    throw new NothingToSpeakError(
      "the text holds nothing that this voice can pronounce: it reads Latin letters and digits",
    );
  }
  while (current !== null) {
    const { segment, rhythm, plan, number, voice } = current;
    const { timeScale = 1 } = voice;
    const planned = voice.audio(plan, number);
    const audio = timeScale === 1 ? planned : new ScaledAudio(planned, timeScale);
    if (number > 0 || segment.gap !== undefined)
      yield* output.gap(segment.gap ?? NO_GAP, audio.samplesBefore);
    const atSample = output.samples;
    let isPlaced = false;
    while (!output.isCapped || audio.isSounding) {
      if (output.isCapped) return cutShort();
      const count = await audio.fill(builder.samples, builder.filled);
      if (count === 0) break;
      if (!isPlaced)
        output.place(current, { atSample, frame: audio.firstFrame, endFrame: audio.endFrame, timeScale });
      isPlaced = true;
      builder.settle(count);
      if (!builder.isFull) continue;
      if (output.frames + 1 === maxFrames && audio.isSounding) builder.fadeEnd();
      yield* output.emit();
      planner.start();
    }
    const pauseS = (segment.pauseS * rhythm.pause * voice.pause) / timeScale;
    output.owed = { samples: samplesIn(pauseS), given: audio.samplesAfter };
    current = await planner.next();
    if (current === null && !(yield* output.tail(TAIL_S / timeScale))) return cutShort();
  }
  if (!builder.isEmpty) yield* output.emit();
  return { stop: "finished", spoken: source.text };
}

interface PlannedSegment {
  readonly segment: SpokenSegment;
  readonly number: number;
  readonly rhythm: Rhythm;
  readonly voice: SentenceVoice;
  readonly plan: Plan;
}

class SegmentPlanner {
  readonly #utterance: UtterancePlan;
  #ahead: Promise<PlannedSegment | null> | null = null;
  #count = 0;

  constructor(utterance: UtterancePlan) {
    this.#utterance = utterance;
  }

  /** Starts to plan the next segment. {@link next} throws what fails. */
  start(): void {
    if (this.#ahead !== null) return;
    this.#ahead = this.#plan();
    this.#ahead.catch(() => {});
  }

  next(): Promise<PlannedSegment | null> {
    const next = this.#ahead ?? this.#plan();
    this.#ahead = null;
    return next;
  }

  async #plan(): Promise<PlannedSegment | null> {
    const { source, voice: usual, voiceIn, precedingTurn } = this.#utterance;
    const segment = await source.next();
    if (segment === null) return null;
    const number = this.#count++;
    const { ids, marks } = segment;
    const rhythm = rhythmOf({ ...segment, wordsInside: wordCount(ids) }, precedingTurn);
    const style = marks?.style ?? null;
    const voice = style === null ? usual : await voiceIn(style);
    const plan = await voice.plan({ ids, rhythm, manners: marks?.manners ?? null }, number);
    return { segment, number, rhythm, voice, plan: amplified(plan, voice.gain / usual.gain) };
  }
}

class UtteranceOutput {
  readonly builder: FrameBuilder;
  readonly words: WordTimeline;
  /** Samples of silence due before the next sound, and how many of them the previous sound already contains. */
  owed = { samples: 0, given: 0 };
  frames = 0;
  readonly #utterance: UtterancePlan;
  readonly #mouth: MouthTimeline | null;

  constructor(utterance: UtterancePlan) {
    const { voice, maxFrames, phonemeOf } = utterance;
    this.#utterance = utterance;
    this.builder = new FrameBuilder(voice.gain);
    this.words = new WordTimeline(maxFrames * FRAME_SAMPLES);
    this.#mouth = phonemeOf === null ? null : new MouthTimeline(maxFrames * FRAME_SAMPLES);
  }

  get samples(): number {
    return this.frames * FRAME_SAMPLES + this.builder.filled;
  }

  get isCapped(): boolean {
    return this.frames === this.#utterance.maxFrames && this.builder.isEmpty;
  }

  place({ segment, plan }: PlannedSegment, placement: Placement): void {
    const { source, phonemeOf } = this.#utterance;
    this.words.place(frameWords(plan, segment.sources), source.text, placement, framedMarks(segment, plan));
    if (phonemeOf !== null) this.#mouth?.place(mouthPlan(plan, phonemeOf), placement);
  }

  *emit(): Generator<Frame, void, void> {
    const { maxFrames, onFirstFrame, signal } = this.#utterance;
    const end = this.samples;
    this.frames += 1;
    if (this.frames === 1) onFirstFrame();
    // If the cap cuts the audio at the start of a pause, no segment follows that would place the mouth's rest.
    if (this.frames === maxFrames) this.#mouth?.rest(end);
    const words = this.words.take(end);
    const mouth = this.#mouth;
    yield { ...this.builder.take(), words, ...(mouth === null ? {} : { mouth: mouth.take(end) }) };
    signal.throwIfAborted();
  }

  *gap({ breakS, names }: GapMarks, samplesBefore: number): Generator<Frame, void, void> {
    const from = this.samples - this.owed.given;
    for (const { name, at, afterS, restS } of names)
      if (breakS !== null && restS > 0) this.#mark(name, from + samplesIn(afterS), at);
    const samples = breakS === null ? this.owed.samples : samplesIn(breakS);
    yield* this.#silence(wholeSamples(samples - this.owed.given - samplesBefore));
  }

  /** Emits the silence after the last segment. @returns whether the frame cap left room for a break that the text asks for */
  *tail(tailS: number): Generator<Frame, boolean, void> {
    const { breakS, names } = this.#utterance.source.tail;
    const samples = wholeSamples(samplesIn(Math.max(tailS, breakS ?? 0)) - this.owed.given);
    const end = this.samples + samples;
    // Marks at the very end are reported just before it.
    for (const { name, at, afterS } of names)
      this.#mark(name, Math.min(end - 1, this.samples - this.owed.given + samplesIn(afterS)), at);
    yield* this.#silence(samples);
    return breakS === null || this.samples >= end;
  }

  #mark(name: string, sample: number, at: number): void {
    this.words.mark(name, sample, this.#utterance.source.text, at);
  }

  *#silence(samples: Samples): Generator<Frame, void, void> {
    this.#mouth?.rest(this.samples + samples);
    for (let left = samples; left > 0 && !this.isCapped; ) {
      left = this.builder.addSilence(left);
      if (this.builder.isFull) yield* this.emit();
    }
  }
}

const NO_GAP: GapMarks = { breakS: null, names: [] };

function amplified(plan: Plan, factor: number): Plan {
  if (factor === 1) return plan;
  const gain = plan.gain ?? new Float32Array(plan.frames).fill(1);
  return { ...plan, gain: gain.map((each) => each * factor) };
}

/** Returns a segment's named marks by frames of its plan. Those in the silence before it are reported already. */
function framedMarks({ gap = NO_GAP, marks }: SpokenSegment, plan: Plan): FramedMark[] {
  const before = gap.names.filter(({ restS }) => gap.breakS === null || restS === 0);
  const inside = marks?.inside ?? [];
  if (before.length + inside.length === 0) return [];
  const times = spokenTimes(plan);
  const frameOf = (word: number) => times[word]?.fromFrame ?? plan.frames;
  return [
    ...before.map(({ name, at }) => ({ name, at, frame: frameOf(0) })),
    ...inside.map(({ name, at, words }) => ({ name, at, frame: frameOf(words) })),
  ];
}

/** Cuts samples and silence into frames of 80 ms. */
export class FrameBuilder {
  readonly #gain: number;
  samples = new Float32Array(FRAME_SAMPLES);
  #filled: Samples = NONE;

  constructor(gain = 1) {
    this.#gain = gain;
  }

  /** Samples of the frame that are final. */
  get filled(): Samples {
    return this.#filled;
  }

  get isEmpty(): boolean {
    return this.#filled === 0;
  }

  get isFull(): boolean {
    return this.#filled === FRAME_SAMPLES;
  }

  /** Marks samples as final that were written to {@link samples} after the final ones. */
  settle(samples: Samples): void {
    this.#filled = wholeSamples(this.#filled + samples);
  }

  /** Adds silence while there is room. @returns the rest */
  addSilence(samples: Samples): Samples {
    const count = wholeSamples(Math.min(samples, FRAME_SAMPLES - this.#filled));
    this.settle(count);
    return wholeSamples(samples - count);
  }

  /** Fades out the last 5 ms, so that a cut does not click. */
  fadeEnd(): void {
    for (let i = 0; i < FADE_SAMPLES; i++) this.samples[this.#filled - 1 - i]! *= i / FADE_SAMPLES;
  }

  /** Returns the frame so far, limited to [-1, 1], and begins the next. */
  take(): Frame {
    const { samples } = this;
    const filled = this.#filled;
    for (let i = 0; i < filled; i++) samples[i] = limited(this.#gain * samples[i]!);
    this.samples = new Float32Array(FRAME_SAMPLES);
    this.#filled = NONE;
    return { samples: filled === FRAME_SAMPLES ? samples : samples.slice(0, filled) };
  }
}

const NONE = wholeSamples(0);
const FADE_SAMPLES = 120;

/** Compresses samples above 0.8, so that a rare peak is not clipped. */
function limited(sample: number): number {
  const beyond = Math.abs(sample) - KNEE;
  if (beyond <= 0) return sample;
  return Math.sign(sample) * (KNEE + (1 - KNEE) * Math.tanh(beyond / (1 - KNEE)));
}

const KNEE = 0.8;
