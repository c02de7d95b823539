import type { RunManner } from "../../core/marked-text.ts";
import type { Script } from "../../core/script.ts";
import { drawProsody, editContour, editEnergy, editTiming, type Register } from "./delivery.ts";
import { widenMarkPauses } from "./mark-pauses.ts";
import { type Plan, type PlanningNetwork, planContour, planTiming } from "./plan.ts";
import { createRandom } from "./random.ts";
import { bend, registerIn } from "./rhythm/bend.ts";
import { pace } from "./rhythm/pace.ts";
import { type Rhythm, varied } from "./rhythm/rhythm.ts";
import { editRates, moveWords, withGains } from "./run-manners.ts";
import { silenceAround } from "./speech-span.ts";

/** What is a speaker's own in a plan. */
export interface PlannedSpeaker {
  readonly register: Register;
  /** Above 1 is faster. */
  readonly tempo: number;
  /** How far loud and soft sounds are apart: a factor on the energy's distance from its median. */
  readonly dynamics: number;
  /** Length of the silence at marks and between sentences, as a factor. */
  readonly pause: number;
  /** Energy of the room in which the speaker was recorded, where that is heard: around a sentence it is taken for silence. */
  readonly roomEnergy?: number;
}

/** What is planned: a sentence, or a part of one. */
export interface PlannedText {
  readonly ids: readonly number[];
  readonly rhythm: Rhythm;
  /** How each of its words is said, where the text says so; `null` or absent, as everything is. */
  readonly manners?: readonly RunManner[] | null;
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
  { ids, rhythm, manners = null }: PlannedText,
  { speaker, temperature, liveliness, rate, seed }: PlanStyle,
  index: number,
): Promise<Plan> {
  const strength = ROOM * liveliness * temperature;
  const asked = varied(rhythm, strength, createRandom(seed, index, "rhythm"));
  const prosody = drawProsody(ids, strength, createRandom(seed, index, "delivery"));
  const timing = await planTiming(network, ids);
  editTiming(timing, prosody, rate);
  if (manners !== null) editRates(timing, manners, rate);
  pace(timing, { ...asked, tempo: asked.tempo * speaker.tempo }, { stretch: prosody.stretch, rate });
  const plan = await planContour(network, timing);
  if (speaker.roomEnergy !== undefined) silenceAround(plan, speaker.roomEnergy);
  editContour(plan, prosody, registerIn(asked, speaker.register));
  editEnergy(plan, speaker.dynamics);
  bend(plan, asked);
  if (manners !== null) moveWords(plan, manners);
  const widened = widenMarkPauses(
    plan,
    prosody.stretch.map((stretch) => stretch * speaker.pause),
  );
  return manners === null ? widened : withGains(widened, manners);
}

/** A temperature of 1 is a little livelier than what was first measured as harmless. */
const ROOM = 1.3;
