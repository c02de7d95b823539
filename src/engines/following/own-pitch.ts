import { medianPitchHz } from "../prosody/delivery.ts";
import { VOICED_ABOVE_HZ } from "../prosody/frames.ts";
import { type Contour, type PlanningNetwork, planContour, type Timing } from "../prosody/plan.ts";
import { percentile } from "./analysis/statistics.ts";

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

/** Has a network intone sentences, and looks at their pitch. */
export async function ownPitch(network: PlanningNetwork, timings: readonly Timing[]): Promise<OwnPitch> {
  const sentences: SentencePitch[] = [];
  for (const timing of timings) {
    sentences.push(sentencePitch(await planContour(network, timing)));
  }
  return pitchOfSentences(sentences);
}

/** The pitch of a sentence that was intoned. */
export function sentencePitch({ pitchHz, energy }: Contour): SentencePitch {
  const centre = Math.log(medianPitchHz(pitchHz) ?? 1);
  const heard = pitchHz.filter((hz, frame) => hz > VOICED_ABOVE_HZ && energy[frame]! >= SUNG_ENERGY);
  return { centre, deviations: heard.map((hz) => Math.log(hz) - centre) };
}

/** What sentences have in common. */
export function pitchOfSentences(sentences: readonly SentencePitch[]): OwnPitch {
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
