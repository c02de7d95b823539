import { wholeSamples } from "../../src/audio/format.ts";
import { joinSamples } from "../../src/audio/pcm.ts";
import { createKernel } from "../../src/engines/embedded/kernel/kernel.ts";
import { openNetwork } from "../../src/engines/embedded/network.ts";
import { planStyleOf, sentenceAudio } from "../../src/engines/embedded/sentence.ts";
import { createVoices } from "../../src/engines/embedded/speakers.ts";
import { FRAME_S, HOP_SAMPLES } from "../../src/engines/prosody/frames.ts";
import { planSentence } from "../../src/engines/prosody/plan-sentence.ts";
import { openTextReader } from "../../src/engines/prosody/read-text.ts";
import { spokenTimes } from "../../src/engines/prosody/word-timeline.ts";
import { embeddedCheckpoint } from "../../src/models/installed-checkpoint.ts";
import { loadTextTables } from "../../src/text/tables/text-tables.ts";
import { EVEN } from "../../test/engines/embedded/even-rhythm.ts";
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
 * Has a voice say sentences at temperature 0, and takes the times of their words from its plan, as replies tell them.
 * Sentences whose phonemes have another number of words than their text are left out.
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
        const plan = await planSentence(network, { ids, rhythm: EVEN }, planStyleOf(manner), 0);
        const times = spokenTimes(plan);
        if (times.length !== texts.length) continue;
        const audio = sentenceAudio(network, kernel, plan, manner, 0);
        const hops: Float32Array[] = [];
        for (;;) {
          const hop = new Float32Array(HOP_SAMPLES);
          const count = await audio.fill(hop, wholeSamples(0));
          if (count === 0) break;
          hops.push(hop);
        }
        const beginS = audio.firstFrame * FRAME_S;
        found.push({
          samples: joinSamples(hops),
          words: texts.map((text, at) => ({
            text,
            startS: times[at]!.fromFrame * FRAME_S - beginS,
            endS: times[at]!.toFrame * FRAME_S - beginS,
          })),
        });
      }
    }
    return found;
  } finally {
    await Promise.all([network.close(), reader.close()]);
  }
}
