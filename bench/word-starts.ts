import { SAMPLE_RATE_HZ } from "../src/audio/format.ts";
import { joined } from "../src/audio/joined.ts";
import { embeddedCheckpoint } from "../src/catalogue/embedded-checkpoint.ts";
import { HOP_SAMPLES } from "../src/engines/parametric/geometry.ts";
import { createParametricModel } from "../src/engines/parametric/model.ts";
import { type OwnedNetwork, openNetwork } from "../src/engines/parametric/network.ts";
import { PassageSource } from "../src/engines/parametric/passages.ts";
import type { Plan } from "../src/engines/parametric/plan.ts";
import { openTextReader, type TextReader } from "../src/engines/parametric/read-text.ts";
import { occasionOf } from "../src/engines/parametric/rhythm/occasion.ts";
import { rhythmOf } from "../src/engines/parametric/rhythm/rhythm.ts";
import { planSentence } from "../src/engines/parametric/sentence.ts";
import { createVoices } from "../src/engines/parametric/speakers.ts";
import { wordSpans } from "../src/engines/parametric/spoken-words.ts";
import { frameStarts } from "../src/engines/parametric/word-times.ts";
import type { SpeechModel, SpokenWord } from "../src/model/speech-model.ts";
import { plainScript } from "./plain-script.ts";

/** A sentence as it was said, and when the voice says that its words were. */
export interface TimedSpeech {
  /** Mono, 24 kHz. */
  readonly samples: Float32Array;
  readonly words: readonly SpokenWord[];
  /** When the words begin by the plan, as the plan's energy is found in the sound, in seconds. */
  readonly plannedS: readonly number[];
}

/** Says sentences of one passage, a word written for each that is spoken, and finds their plans in the sound. */
export class WordStarts {
  readonly #model: SpeechModel;
  readonly #network: OwnedNetwork;
  readonly #reader: TextReader;

  private constructor(model: SpeechModel, network: OwnedNetwork, reader: TextReader) {
    this.#model = model;
    this.#network = network;
    this.#reader = reader;
  }

  static async open(): Promise<WordStarts> {
    const { dir: voiceDir } = embeddedCheckpoint;
    return new WordStarts(
      await createParametricModel({ voiceDir }),
      await openNetwork(voiceDir),
      await openTextReader(voiceDir),
    );
  }

  async of(sentence: string, speaker: string): Promise<TimedSpeech> {
    const frames: Float32Array[] = [];
    const words: SpokenWord[] = [];
    const signal = new AbortController().signal;
    for await (const frame of this.#model.speak(plainScript(sentence, speaker), signal)) {
      frames.push(frame.samples);
      words.push(...(frame.words ?? []));
    }
    const samples = joined(frames);
    const plan = await this.#plan(sentence, speaker);
    const begin = beginningIn(samples, plan);
    const starts = frameStarts(plan.steps);
    const plannedS = wordSpans(plan.ids).map(
      ({ from }) => (begin + starts[from]! * HOP_SAMPLES) / SAMPLE_RATE_HZ,
    );
    return { samples, words, plannedS };
  }

  async close(): Promise<void> {
    await Promise.all([this.#model.close(), this.#network.close(), this.#reader.close()]);
  }

  async #plan(sentence: string, speaker: string): Promise<Plan> {
    const script = plainScript(sentence, speaker);
    const signal = new AbortController().signal;
    const passage = (await new PassageSource(script.text, this.#reader, signal).next())!;
    const words = wordSpans(passage.ids).length;
    const rhythm = rhythmOf({ ...passage, wordsInside: words }, occasionOf(script));
    const { delivery, preset, seed } = script;
    const manner = { speaker: createVoices().get(speaker)!, delivery, preset, seed };
    return planSentence(this.#network, { ids: passage.ids, rhythm }, manner, 0);
  }
}

/**
 * The sample at which a plan's first frame would begin: where the energy of the sound goes best with the plan's
 * (correlation of its logarithm, in steps of 1.25 ms). The network's frames are centred on multiples of the hop.
 */
function beginningIn(samples: Float32Array, { energy, frames }: Plan): number {
  const sums = new Float64Array(samples.length + 1);
  for (let i = 0; i < samples.length; i++) sums[i + 1] = sums[i]! + samples[i]! ** 2;
  const sumTo = (place: number) => sums[Math.max(0, Math.min(samples.length, place))]!;
  const level = (centre: number) =>
    Math.log(1e-7 + (sumTo(centre + HOP_SAMPLES) - sumTo(centre - HOP_SAMPLES)) / (2 * HOP_SAMPLES));
  let [best, most] = [0, Number.NEGATIVE_INFINITY];
  for (let lag = -0.6 * SAMPLE_RATE_HZ; lag < 0.1 * SAMPLE_RATE_HZ; lag += 30) {
    const heard = Array.from({ length: frames }, (_, frame) => level(lag + frame * HOP_SAMPLES));
    const found = correlation(heard, energy);
    if (found > most) [best, most] = [lag, found];
  }
  return best - HOP_SAMPLES / 2;
}

function correlation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const count = a.length;
  let [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    const [x, y] = [a[i]!, b[i]!];
    sumA += x;
    sumB += y;
    sumAA += x * x;
    sumBB += y * y;
    sumAB += x * y;
  }
  const spread = Math.sqrt((count * sumAA - sumA ** 2) * (count * sumBB - sumB ** 2));
  return spread === 0 ? 0 : (count * sumAB - sumA * sumB) / spread;
}
