import { medianPitchHz } from "../../../planning/delivery.ts";
import { VOICED_ABOVE_HZ } from "../../../planning/frames.ts";
import { planContour, planTiming, type Timing } from "../../../planning/plan.ts";
import type { SegmentReader } from "../../../planning/segments.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { BANDS } from "../listen/bands.ts";
import { percentile } from "../listen/statistics.ts";
import type { Work } from "../listen/work.ts";
import type { Network } from "../network.ts";
import { PLAIN } from "../waveform.ts";
import { decodeCalibration, measureCalibration } from "./calibration.ts";
import { codebookOf } from "./tract.ts";

/** The voice as others are compared with it, found out when that is first asked for. */
export interface OwnVoice {
  /** The calibration sentences as the network reads them, and their pitch. */
  plans(): Promise<{ readonly timings: readonly Timing[]; readonly pitch: OwnPitch }>;
  /** The voiced sounds of the voice as it was trained. */
  codebook(): Promise<Float32Array>;
}

export interface OwnVoiceParts {
  readonly network: Network;
  readonly kernel: Kernel;
  readonly reader: SegmentReader;
  run<T>(work: Work<T>): Promise<T>;
}

export function createOwnVoice({ network, kernel, reader, run }: OwnVoiceParts): OwnVoice {
  const plans = once(async () => {
    const timings: Timing[] = [];
    for (const sentence of CALIBRATION_SENTENCES) {
      for (const { ids } of await reader.read(sentence)) timings.push(await planTiming(network, ids));
    }
    return { timings, pitch: await ownPitch(network, timings) };
  });
  const codebook = once(async () => {
    const asTrained = { centreHz: (medianHz: number) => medianHz, spread: (deviation: number) => deviation };
    const decoded = await decodeCalibration(network, (await plans()).timings, { register: asTrained });
    return codebookOf(voicedOnly(await run(measureCalibration(kernel, decoded, () => PLAIN))));
  });
  return { plans, codebook };
}

/** The voiced frames of a sound. */
export function voicedOnly({
  sound,
  isVoiced,
}: {
  readonly sound: Float32Array;
  readonly isVoiced: Uint8Array;
}): Float32Array {
  return sound.filter((_, at) => isVoiced[Math.floor(at / BANDS)] === 1);
}

/** The pitch that the network gives one sentence. */
export interface SentencePitch {
  /** Natural logarithm of its median in hertz. */
  readonly centre: number;
  /** How far the logarithm of each frame that is heard as voiced is from that. */
  readonly deviations: Float32Array;
}

/** The voice's own pitch over the calibration sentences. */
export interface OwnPitch {
  /** Median of the sentences' medians, as natural logarithm of hertz. */
  readonly centre: number;
  /** Of all sentences, sorted. */
  readonly deviations: Float32Array;
  readonly sentences: readonly SentencePitch[];
}

/** Finds something out once; when that fails, again the next time. */
function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  return () => {
    found ??= find().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
}

/** Sentences that the voice plans to know its own pitch, and of which it says the first few aloud to itself. */
export const CALIBRATION_SENTENCES: readonly string[] = [
  "Good coffee, fresh bread, a view of the harbour: what more could you ask?",
  "Please put the yellow box beside the window.",
  "Rain fell on the roof all night, but the fields were dry by noon.",
  "Nobody knows why the cat sleeps in that huge green jar.",
  "Yes, of course we can.",
  "She thought about the change for a week, and then she joined them.",
  "He told us the way to the station, and it was wrong.",
  "My father used to say that a good road is worth a long wait.",
  "They sell fish and cheese on the square each Thursday.",
  "We should have asked the doctor.",
  "Bring me the smaller one, and leave the rest.",
  "Thank you, that is very kind.",
  "The letters lay in the bottom drawer.",
  "Most of the children had already gone home when it began to snow.",
];

async function ownPitch(network: Network, timings: readonly Timing[]): Promise<OwnPitch> {
  const sentences: SentencePitch[] = [];
  for (const timing of timings) {
    const { pitchHz, energy } = await planContour(network, timing);
    const centre = Math.log(medianPitchHz(pitchHz) ?? 1);
    const heard = pitchHz.filter((hz, frame) => hz > VOICED_ABOVE_HZ && energy[frame]! >= SUNG_ENERGY);
    sentences.push({ centre, deviations: heard.map((hz) => Math.log(hz) - centre) });
  }
  return {
    centre: percentile(
      sentences.map((sentence) => sentence.centre),
      0.5,
    ),
    deviations: Float32Array.from(sentences.flatMap(({ deviations }) => [...deviations])).sort(),
    sentences,
  };
}

/** Below this a voiced frame is not heard as one. */
const SUNG_ENERGY = 2;
