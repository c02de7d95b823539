import type { RunManner } from "../../core/marked-text.ts";
import type { Script } from "../../core/script.ts";
import { applyWordGains, applyWordPitch, applyWordRates } from "./apply-manner.ts";
import { drawProsody, editContour, editEnergy, editTiming, type PlannedSpeaker } from "./delivery.ts";
import { applyIntonation, shiftRegister } from "./intonation/apply-intonation.ts";
import { applyPace, type Rhythm, varyRhythm } from "./intonation/rhythm.ts";
import { lengthenMarkPauses } from "./pauses.ts";
import { type Plan, type PlanningNetwork, planContour, planTiming, silenceRoomNoise } from "./plan.ts";
import { createRandom } from "./random.ts";

export interface PlannedText {
  readonly ids: readonly number[];
  readonly rhythm: Rhythm;
  readonly manners?: readonly RunManner[] | null;
}

export interface PlanStyle {
  readonly speaker: PlannedSpeaker;
  readonly temperature: Script["delivery"]["temperature"];
  /** 0 to 2: scales how far delivery departs from a plain reading as the temperature rises. */
  readonly liveliness: number;
  readonly rate: number;
  readonly seed: bigint;
}

/**
 * Plans a sentence: edits the network's durations, then its pitch, by what the text asks for and by what the
 * temperature draws. All randomness derives from the seed and the sentence's index, so earlier speech has no
 * influence.
 */
export async function planSentence(
  network: PlanningNetwork,
  { ids, rhythm, manners = null }: PlannedText,
  { speaker, temperature, liveliness, rate, seed }: PlanStyle,
  index: number,
): Promise<Plan> {
  const strength = STRENGTH_AT_TEMPERATURE_1 * liveliness * temperature;
  const asked = varyRhythm(rhythm, strength, createRandom(seed, index, "rhythm"));
  const prosody = drawProsody(ids, strength, createRandom(seed, index, "delivery"));
  const timing = await planTiming(network, ids);
  editTiming(timing, prosody, rate);
  if (manners !== null) applyWordRates(timing, manners, rate);
  applyPace(timing, { ...asked, tempo: asked.tempo * speaker.tempo }, { stretch: prosody.stretch, rate });
  const plan = await planContour(network, timing);
  if (speaker.roomEnergy !== undefined) silenceRoomNoise(plan, speaker.roomEnergy);
  editContour(plan, prosody, shiftRegister(asked, speaker.register));
  editEnergy(plan, speaker.dynamics);
  applyIntonation(plan, asked);
  if (manners !== null) applyWordPitch(plan, manners);
  const widened = lengthenMarkPauses(
    plan,
    prosody.stretch.map((stretch) => stretch * speaker.pause),
  );
  return manners === null ? widened : applyWordGains(widened, manners);
}

/** Strength of the variation at a temperature of 1: slightly above the level that was first measured as harmless. */
const STRENGTH_AT_TEMPERATURE_1 = 1.3;
