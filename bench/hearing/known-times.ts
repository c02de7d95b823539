import { joined } from "../../src/audio/joined.ts";
import { wholeSamples } from "../../src/audio/samples.ts";
import { embeddedCheckpoint } from "../../src/catalogue/embedded-checkpoint.ts";
import { FRAME_S, FRAMES_PER_STEP, HOP_SAMPLES } from "../../src/engines/parametric/geometry.ts";
import { createKernel } from "../../src/engines/parametric/kernel/kernel.ts";
import { openNetwork } from "../../src/engines/parametric/network.ts";
import type { Plan } from "../../src/engines/parametric/plan.ts";
import { openTextReader } from "../../src/engines/parametric/read-text.ts";
import { EVEN } from "../../src/engines/parametric/rhythm/rhythm.ts";
import { planSentence, sentenceAudio } from "../../src/engines/parametric/sentence.ts";
import { createVoices } from "../../src/engines/parametric/speakers.ts";
import { speechSpan } from "../../src/engines/parametric/speech-span.ts";
import { wordSpans } from "../../src/engines/parametric/spoken-words.ts";
import { loadTextTables } from "../../src/text/tables.ts";
import { plainWords } from "../word-errors.ts";

/** A word and when it was to be said, in seconds from the beginning of the samples. */
export interface TimedWord {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
}

/** A sentence whose words' times are known, because our own voice planned them. */
export interface TimedSpeech {
  /** 24 kHz. */
  readonly samples: Float32Array;
  readonly words: readonly TimedWord[];
}

/**
 * Has a voice say sentences at temperature 0, and takes the times of their words from its plan: the lengths of the
 * phonemes, and what is known of how the sound lies to them. Sentences whose phonemes have another number of words than their text are left out.
 */
export async function sayTimed(
  speakers: readonly string[],
  sentences: readonly string[],
): Promise<readonly TimedSpeech[]> {
  const voiceDir = embeddedCheckpoint.dir;
  const network = await openNetwork(voiceDir);
  const reader = await openTextReader(voiceDir, { tables: await loadTextTables(voiceDir) });
  const kernel = await createKernel();
  const voices = createVoices();
  const found: TimedSpeech[] = [];
  try {
    for (const speaker of speakers) {
      const manner = {
        speaker: voices.get(speaker)!,
        delivery: { temperature: 0, acousticTemperature: 0, quality: "high" as const },
        preset: {},
        seed: 1n,
      };
      for (const sentence of sentences) {
        const ids = (await reader.read(sentence))[0]?.ids ?? [];
        const texts = plainWords(sentence);
        const plan = await planSentence(network, { ids, rhythm: EVEN }, manner, 0);
        const times = heardTimes(plan);
        if (times.length !== texts.length) continue;
        const audio = sentenceAudio(network, kernel, plan, manner, 0);
        const hops: Float32Array[] = [];
        let firstFrame = 0;
        for (;;) {
          const hop = new Float32Array(HOP_SAMPLES);
          const count = await audio.fill(hop, wholeSamples(0));
          if (count === 0) break;
          if (hops.length === 0) firstFrame = audio.frame - 1;
          hops.push(hop);
        }
        const beginS = firstFrame * FRAME_S;
        found.push({
          samples: joined(hops),
          words: texts.map((text, at) => ({
            text,
            startS: times[at]![0] - beginS,
            endS: times[at]![1] - beginS,
          })),
        });
      }
    }
    return found;
  } finally {
    await Promise.all([network.close(), reader.close()]);
  }
}

/**
 * When each word is heard in a planned sentence without marks inside, in seconds. The length of a space is the beginning of
 * the word after it, and the last word ends with the sound.
 */
function heardTimes(plan: Plan): (readonly [startS: number, endS: number])[] {
  const { onset, last } = speechSpan(plan);
  const [firstS, lastS] = [onset * FRAME_S, (last + 1) * FRAME_S];
  const endsS: number[] = [];
  let atS = -LATE_S;
  for (const length of plan.steps) {
    atS += length * FRAMES_PER_STEP * FRAME_S;
    endsS.push(atS);
  }
  const spans = wordSpans(plan.ids);
  return spans.map(({ to }, at) => [
    at === 0 ? firstS : endsS[spans[at - 1]!.to - 1]!,
    at === spans.length - 1 ? lastS : endsS[to - 1]!,
  ]);
}

/**
 * The voice sounds a little before its plan. Measured where it can be seen, at words that end with "s" or "sh" before a
 * voiced sound (16 ends by both speakers: 35 to 60 ms, median 43) or begin with them (20 beginnings: 87 to 128 ms before
 * the planned one, which is that and the length of the space).
 */
const LATE_S = 0.045;
