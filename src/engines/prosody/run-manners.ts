import type { RunManner } from "../../core/marked-text.ts";
import { clampPitch, medianPitchHz } from "./delivery.ts";
import { FRAMES_PER_STEP, VOICED_ABOVE_HZ } from "./frames.ts";
import { SPOKEN_RATES } from "./options.ts";
import type { Plan, Timing } from "./plan.ts";
import { wordSpans } from "./spoken-words.ts";

/** Makes words faster or slower: between a plan's two halves. @param rate how fast everything is planned */
export function editRates({ ids, steps }: Timing, manners: readonly RunManner[], rate: number): void {
  for (const [index, word] of wordOfEach(ids).entries()) {
    const asked = manners[word]?.rate ?? 1;
    if (asked === 1) continue;
    const { min, max } = SPOKEN_RATES;
    steps[index]! *= rate / Math.min(Math.max(max, rate), Math.max(Math.min(min, rate), rate * asked));
  }
}

/** Moves the pitch of words, from what is planned for all of them. */
export function moveWords({ ids, owner, pitchHz }: Plan, manners: readonly RunManner[]): void {
  const median = medianPitchHz(pitchHz);
  if (median === null) return;
  const words = wordOfEach(ids);
  for (let frame = 0; frame < pitchHz.length; frame++) {
    const manner = manners[words[owner[Math.floor(frame / FRAMES_PER_STEP)]!]!];
    if (manner === undefined || pitchHz[frame]! <= VOICED_ABOVE_HZ) continue;
    const { pitch, pitchHz: centre, addedHz } = manner;
    if (pitch === 1 && centre === null && addedHz === 0) continue;
    const moved = pitchHz[frame]! * ((centre ?? median) / median) * pitch + addedHz;
    pitchHz[frame] = clampPitch(moved);
  }
}

/** The plan with how loud its words are. */
export function withGains(plan: Plan, manners: readonly RunManner[]): Plan {
  if (manners.every(({ gain }) => gain === 1)) return plan;
  const words = wordOfEach(plan.ids);
  const gain = Float32Array.from(
    { length: plan.frames },
    (_, frame) => manners[words[plan.owner[Math.floor(frame / FRAMES_PER_STEP)]!]!]?.gain ?? 1,
  );
  return { ...plan, gain };
}

/** Which word each phoneme belongs to: one between two words to that before it, what comes before all to the first. */
function wordOfEach(ids: readonly number[]): number[] {
  const spans = wordSpans(ids);
  let word = 0;
  return ids.map((_, index) => {
    if (index >= (spans[word + 1]?.from ?? Number.POSITIVE_INFINITY)) word += 1;
    return word;
  });
}
