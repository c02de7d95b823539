import { FRAME_SAMPLES, type Samples, samplesIn, wholeSamples } from "../audio/format.ts";
import { type Frame, NothingToSpeakError, type SpeechReport } from "../model/speech-model.ts";
import { FrameBuilder } from "./frame-builder.ts";
import { MouthTimeline, mouthPlan } from "./mouth.ts";
import { TAIL_S } from "./pauses.ts";
import type { Plan } from "./plan.ts";
import { Prefetch } from "./prefetch.ts";
import { type PrecedingTurn, type Rhythm, rhythmOf } from "./rhythm/rhythm.ts";
import { ScaledAudio } from "./scaled-audio.ts";
import type { SegmentSource } from "./segments.ts";
import type { SentenceAudio } from "./sentence-audio.ts";
import { wordCount } from "./spoken-words.ts";
import { timedWords, WordTimeline } from "./words.ts";

/** Speaks sentences: plans each, and makes its samples. */
export interface SentenceVoice {
  /** @param index of the sentence in its utterance */
  plan(sentence: { readonly ids: readonly number[]; readonly rhythm: Rhythm }, index: number): Promise<Plan>;
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
  const { source, voice, precedingTurn, maxFrames, phonemeOf, signal, onHeard } = parts;
  const { timeScale = 1 } = voice;
  const builder = new FrameBuilder(voice.gain);
  const heard = new WordTimeline(maxFrames * FRAME_SAMPLES);
  const mouth = phonemeOf === null ? null : new MouthTimeline(maxFrames * FRAME_SAMPLES);
  let given = 0;
  let index = 0;

  const plans = new Prefetch(async () => {
    const segment = await source.next();
    if (segment === null) return null;
    const number = index++;
    const { ids } = segment;
    const rhythm = rhythmOf({ ...segment, wordsInside: wordCount(ids) }, precedingTurn);
    return { segment, number, rhythm, plan: await voice.plan({ ids, rhythm }, number) };
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

  let silenceOwed = wholeSamples(0);
  let current = await plans.next();
  if (current === null) {
    throw new NothingToSpeakError(
      "the text holds nothing that this voice can pronounce: it reads Latin letters and digits",
    );
  }
  while (current !== null) {
    const { segment, rhythm, plan, number } = current;
    const planned = voice.audio(plan, number);
    const audio = timeScale === 1 ? planned : new ScaledAudio(planned, timeScale);
    if (number > 0) yield* silence(wholeSamples(silenceOwed - audio.samplesBefore));
    const begin = atSample();
    let isPlaced = false;
    while (!isCapped() || audio.isSounding) {
      if (isCapped()) return { stop: "length", spoken: heard.textHeard(source.text) };
      const count = await audio.fill(builder.samples, builder.filled);
      if (count === 0) break;
      if (!isPlaced) {
        const placement = { atSample: begin, frame: audio.firstFrame, endFrame: audio.endFrame, timeScale };
        heard.place(timedWords(plan, segment.sources), source.text, placement);
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
    silenceOwed = wholeSamples(samplesIn(pauseS) - audio.samplesAfter);
    current = await plans.next();
    if (current === null) yield* silence(wholeSamples(samplesIn(TAIL_S) - audio.samplesAfter));
  }
  if (!builder.isEmpty) yield* emit();
  return { stop: "finished", spoken: source.text };
}
