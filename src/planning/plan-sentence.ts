import type { Script } from "../model/script.ts";
import { drawProsody, editContour, editEnergy, editTiming, type Register } from "./delivery.ts";
import { widenMarkPauses } from "./mark-pauses.ts";
import { type Plan, type PlanningNetwork, planContour, planTiming } from "./plan.ts";
import { createRandom } from "./random.ts";
import { bend, registerIn } from "./rhythm/bend.ts";
import { pace } from "./rhythm/pace.ts";
import { type Rhythm, varied } from "./rhythm/rhythm.ts";

/** What is a speaker's own in a plan. */
export interface PlannedSpeaker {
  readonly register: Register;
  /** Above 1 is faster. */
  readonly tempo: number;
  /** How far loud and soft sounds are apart: a factor on the energy's distance from its median. */
  readonly dynamics: number;
  /** Length of the silence at marks, as a factor. */
  readonly pause: number;
}

/** How the sentences of one utterance are to be planned. */
export interface PlanStyle {
  readonly speaker: PlannedSpeaker;
  readonly temperature: Script["delivery"]["temperature"];
  /** 0 to 2: scales how far delivery departs from a plain reading as the temperature rises. */
  readonly liveliness: number;
  /** How fast it is spoken, as a factor. */
  readonly rate: number;
  readonly seed: bigint;
}

/**
 * Plans a sentence: the network's durations, edited, then its pitch, edited: by what the text asks for, its rhythm, and
 * by what the temperature draws. All that is random comes from the seed and the sentence's number in its utterance, so
 * it does not matter what was spoken before, or how much of it.
 */
export async function planSentence(
  network: PlanningNetwork,
  { ids, rhythm }: { readonly ids: readonly number[]; readonly rhythm: Rhythm },
  { speaker, temperature, liveliness, rate, seed }: PlanStyle,
  index: number,
): Promise<Plan> {
  const strength = ROOM * liveliness * temperature;
  const asked = varied(rhythm, strength, createRandom(seed, index, "rhythm"));
  const prosody = drawProsody(ids, strength, createRandom(seed, index, "delivery"));
  const timing = await planTiming(network, ids);
  editTiming(timing, prosody, rate);
  pace(timing, { ...asked, tempo: asked.tempo * speaker.tempo }, { stretch: prosody.stretch, rate });
  const plan = await planContour(network, timing);
  editContour(plan, prosody, registerIn(asked, speaker.register));
  editEnergy(plan, speaker.dynamics);
  bend(plan, asked);
  return widenMarkPauses(
    plan,
    prosody.stretch.map((stretch) => stretch * speaker.pause),
  );
}

/** A temperature of 1 is a little livelier than what was first measured as harmless. */
const ROOM = 1.3;
