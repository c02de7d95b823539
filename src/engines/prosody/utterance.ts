import { FRAME_SAMPLES, type Samples, samplesIn, wholeSamples } from "../../audio/format.ts";
import { type Frame, NothingToSpeakError, type SpeechReport } from "../../core/speech-model.ts";
import { FrameBuilder } from "./frame-builder.ts";
import { MouthTimeline, mouthPlan } from "./mouth.ts";
import { TAIL_S } from "./pauses.ts";
import type { GapMarks, SegmentStyle } from "./piece-marks.ts";
import type { Plan } from "./plan.ts";
import type { PlannedText } from "./plan-sentence.ts";
import { Prefetch } from "./prefetch.ts";
import { type PrecedingTurn, rhythmOf } from "./rhythm/rhythm.ts";
import { ScaledAudio } from "./scaled-audio.ts";
import type { Segment, SegmentSource } from "./segments.ts";
import type { SentenceAudio } from "./sentence-audio.ts";
import { wordCount } from "./spoken-words.ts";
import { spokenTimes, type TimedName, timedWords, WordTimeline } from "./words.ts";

/** Speaks sentences: plans each, and makes its samples. */
export interface SentenceVoice {
  /** @param index of the sentence in its utterance */
  plan(sentence: PlannedText, index: number): Promise<Plan>;
  /** The samples of a planned sentence; none is made before it is asked for. */
  audio(plan: Plan, index: number): SentenceAudio;
  /** How much faster than planned all of it is heard, at the same pitch: 0.5 to 2; 1 unless given. */
  readonly timeScale?: number;
  /** Length of the silence between sentences, as a factor. */
  readonly pause: number;
  /** Factor on every sample. */
  readonly gain: number;
}

/** What one utterance is made of. */
export interface UtteranceParts {
  readonly source: SegmentSource;
  readonly voice: SentenceVoice;
  /** Who speaks a part of it that is marked to be spoken otherwise. */
  voiceIn(style: SegmentStyle): Promise<SentenceVoice>;
  /** What it answers. */
  readonly precedingTurn: PrecedingTurn;
  /** Frames of 80 ms that there may be at most. */
  readonly maxFrames: number;
  /** The phoneme that an id is, where the mouth is asked for. */
  readonly phonemeOf: ((id: number) => string) | null;
  readonly signal: AbortSignal;
  /** Called when the first frame is on its way. */
  readonly onHeard: () => void;
}

/**
 * Speaks segment by segment. While one is spoken the next is planned, and no more than that; and not before a frame of
 * this one is out.
 * @throws NothingToSpeakError when no segment comes.
 */
export async function* speakSegments(parts: UtteranceParts): AsyncGenerator<Frame, SpeechReport, void> {
  const { source, voice: usual, precedingTurn, maxFrames, phonemeOf, signal, onHeard } = parts;
  const builder = new FrameBuilder(usual.gain);
  const heard = new WordTimeline(maxFrames * FRAME_SAMPLES);
  const mouth = phonemeOf === null ? null : new MouthTimeline(maxFrames * FRAME_SAMPLES);
  let given = 0;
  let index = 0;

  const plans = new Prefetch(async () => {
    const segment = await source.next();
    if (segment === null) return null;
    const number = index++;
    const { ids, marks } = segment;
    const rhythm = rhythmOf({ ...segment, wordsInside: wordCount(ids) }, precedingTurn);
    const style = marks?.style ?? null;
    const voice = style === null ? usual : await parts.voiceIn(style);
    const plan = await voice.plan({ ids, rhythm, manners: marks?.manners ?? null }, number);
    return { segment, number, rhythm, voice, plan: amplified(plan, voice.gain / usual.gain) };
  });
  const isCapped = () => given === maxFrames && builder.isEmpty;
  function* emit(): Generator<Frame, void, void> {
    const end = atSample();
    given += 1;
    if (given === 1) onHeard();
    // A pause at whose beginning the audio is cut belongs to no segment any more.
    if (given === maxFrames) mouth?.rest(end);
    const words = heard.take(end);
    yield { ...builder.take(), words, ...(mouth === null ? {} : { mouth: mouth.take(end) }) };
    signal.throwIfAborted();
  }
  const atSample = () => given * FRAME_SAMPLES + builder.filled;
  function* silence(samples: Samples): Generator<Frame, void, void> {
    mouth?.rest(atSample() + samples);
    for (let left = samples; left > 0 && !isCapped(); ) {
      left = builder.addSilence(left);
      if (builder.isFull) yield* emit();
    }
  }

  /** Silence to the next sound, and how much of it is in the sound before already. */
  let owed = { samples: 0, given: 0 };
  function* gap({ breakS, names }: GapMarks, samplesBefore: number): Generator<Frame, void, void> {
    const from = atSample() - owed.given;
    for (const { name, at, afterS, restS } of names)
      if (breakS !== null && restS > 0) heard.mark(name, from + samplesIn(afterS), source.text, at);
    const samples = breakS === null ? owed.samples : samplesIn(breakS);
    yield* silence(wholeSamples(samples - owed.given - samplesBefore));
  }
  let current = await plans.next();
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
    if (number > 0 || segment.gap !== undefined) yield* gap(segment.gap ?? NO_GAP, audio.samplesBefore);
    const begin = atSample();
    let isPlaced = false;
    while (!isCapped() || audio.isSounding) {
      if (isCapped()) return { stop: "length", spoken: heard.textHeard(source.text) };
      const count = await audio.fill(builder.samples, builder.filled);
      if (count === 0) break;
      if (!isPlaced) {
        const placement = { atSample: begin, frame: audio.firstFrame, endFrame: audio.endFrame, timeScale };
        heard.place(timedWords(plan, segment.sources), source.text, placement, namesIn(segment, plan));
        if (phonemeOf !== null) mouth?.place(mouthPlan(plan, phonemeOf), placement);
      }
      isPlaced = true;
      builder.settle(count);
      if (!builder.isFull) continue;
      if (given + 1 === maxFrames && audio.isSounding) builder.fadeEnd();
      yield* emit();
      plans.start();
    }
    const pauseS = (segment.pauseS * rhythm.pause * voice.pause) / timeScale;
    owed = { samples: samplesIn(pauseS), given: audio.samplesAfter };
    current = await plans.next();
    if (current !== null) continue;
    const { breakS, names } = source.tail;
    const tail = wholeSamples(samplesIn(Math.max(TAIL_S / timeScale, breakS ?? 0)) - owed.given);
    const end = atSample() + tail;
    // What is come to at the very end is told before it.
    for (const { name, at, afterS } of names)
      heard.mark(name, Math.min(end - 1, atSample() - owed.given + samplesIn(afterS)), source.text, at);
    yield* silence(tail);
    if (breakS !== null && atSample() < end) return { stop: "length", spoken: heard.textHeard(source.text) };
  }
  if (!builder.isEmpty) yield* emit();
  return { stop: "finished", spoken: source.text };
}

const NO_GAP: GapMarks = { breakS: null, names: [] };

/** A plan whose voice is as much louder as the others are. */
function amplified(plan: Plan, factor: number): Plan {
  if (factor === 1) return plan;
  const gain = plan.gain ?? new Float32Array(plan.frames).fill(1);
  return { ...plan, gain: gain.map((each) => each * factor) };
}

/** The places with a name that a segment has, by the frames of its plan; those in the silence before it are told already. */
function namesIn({ gap = NO_GAP, marks }: Segment, plan: Plan): TimedName[] {
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
