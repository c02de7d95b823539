import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SPECTRUM_PART, SPECTRUM_VALUES } from "../../src/engines/embedded/kernel/layout.ts";
import { openNetwork } from "../../src/engines/embedded/network.ts";
import { BINS, VOICED_ABOVE_HZ } from "../../src/engines/prosody/frames.ts";
import { planContour, planTiming } from "../../src/engines/prosody/plan.ts";
import { openTextReader } from "../../src/engines/prosody/read-text.ts";
import { embeddedCheckpoint } from "../../src/models/installed-checkpoint.ts";
import { loadTextTables } from "../../src/text/tables/text-tables.ts";
import { decoded } from "../../test/engines/embedded/goldens.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

const GOAL = { lengthShare: 0.002, pitchSemitones: 0.2, filterDb: 0.5 };
const SENTENCES = 400;

/** The voice in 8 bits beside the voice in float32. */
export const rounding: Row = {
  id: "rounding",
  what: `${SENTENCES} sentences in 8 bits against float32: length of all; phonemes of another length, by at most; F0 where both are voiced, and the filter of the same plan, root mean squares`,
  goal: `≤ ${100 * GOAL.lengthShare} %; ≤ ${GOAL.pitchSemitones} semitones, ≤ ${GOAL.filterDb} dB`,
  async measure({ isQuick }) {
    const voiceDir = embeddedCheckpoint.dir;
    const reader = await openTextReader(voiceDir, { tables: await loadTextTables(voiceDir) });
    const exact = await openNetwork(voiceDir, "fp32");
    const rounded = await openNetwork(voiceDir, "int8");
    const frames = { exact: 0, rounded: 0 };
    const phonemes = { all: 0, other: 0, most: 0 };
    const [pitch, filter] = [new Squares(), new Squares()];
    try {
      for (const text of sentences().slice(0, isQuick ? 40 : SENTENCES)) {
        const ids = (await reader.read(text))[0]?.ids ?? [];
        if (ids.length === 0) continue;
        const timing = await planTiming(exact, ids);
        const plan = await planContour(exact, timing);
        const ownTiming = await planTiming(rounded, ids);
        const own = await planContour(rounded, ownTiming);
        frames.exact += plan.frames;
        frames.rounded += own.frames;
        phonemes.all += plan.steps.length;
        plan.steps.forEach((steps, at) => {
          const apart = Math.abs(steps - own.steps[at]!);
          if (apart > 0) phonemes.other += 1;
          phonemes.most = Math.max(phonemes.most, apart);
        });
        const steps = Float32Array.from(plan.steps);
        const sameLength = await planContour(rounded, { ...ownTiming, steps });
        plan.pitchHz.forEach((hz, frame) => {
          const other = sameLength.pitchHz[frame]!;
          if (Math.min(hz, other) > VOICED_ABOVE_HZ) pitch.add(12 * Math.log2(other / hz));
        });
        const [wanted, found] = [await decoded(exact, plan), await decoded(rounded, plan)];
        for (let frame = 0; frame < plan.frames; frame++)
          for (let bin = 0, at = frame * SPECTRUM_VALUES + SPECTRUM_PART.pulseGain; bin < BINS; bin++, at++)
            filter.add((found[at]! - wanted[at]!) * DB_PER_NEPER);
      }
    } finally {
      await Promise.all([exact.close(), rounded.close(), reader.close()]);
    }
    const lengthShare = frames.rounded / frames.exact - 1;
    return {
      measured:
        `${(100 * lengthShare).toFixed(2)} %; ${phonemes.other} of ${phonemes.all} phonemes, ${25 * phonemes.most} ms; ` +
        `${pitch.mean.toFixed(3)} semitones, ${filter.mean.toFixed(2)} dB`,
      isMet:
        Math.abs(lengthShare) <= GOAL.lengthShare &&
        pitch.mean <= GOAL.pitchSemitones &&
        filter.mean <= GOAL.filterDb,
    };
  },
};

const DB_PER_NEPER = 20 / Math.LN10;

/** A root mean square of what is added. */
class Squares {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value * value;
    this.#count += 1;
  }

  get mean(): number {
    return Math.sqrt(this.#sum / Math.max(1, this.#count));
  }
}

/** Different ones of the goldens of the text side, evenly spread. */
function sentences(): readonly string[] {
  const lines = readFileSync(join(TOP, "test", "golden", "text", "cases.jsonl"), "utf8")
    .trim()
    .split("\n");
  const texts = [...new Set(lines.map((line) => (JSON.parse(line) as { readonly text: string }).text))];
  return Array.from({ length: SENTENCES }, (_, at) => texts[Math.floor((at * texts.length) / SENTENCES)]!);
}
