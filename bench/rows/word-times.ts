import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { median } from "../../src/cli/bench/percentile.ts";
import { recogniserWeights } from "../../src/cli/pull-recogniser.ts";
import type { Recogniser } from "../../src/model/recogniser.ts";
import { openWhisper } from "../../src/recognisers/whisper/open-whisper.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { harvardSentences, written } from "../harvard.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import type { Row } from "../row.ts";
import { plainWords } from "../word-errors.ts";
import { type TimedSpeech, WordStarts } from "../word-starts.ts";

export const wordTimes: Row = {
  id: "word-times",
  what: "when words begin, by the reply: against the plan's own times, furthest; against Whisper's alignment, median",
  goal: "≤ 15 ms; ≤ 40 ms",
  async measure({ isQuick }) {
    const recogniser = await openRecogniser();
    const starts = await WordStarts.open();
    const fromPlan: number[] = [];
    const fromHeard: number[] = [];
    try {
      for (const sentence of (await harvardSentences()).slice(0, isQuick ? 6 : 60)) {
        for (const speaker of ["0", "1"]) {
          const speech = await starts.of(written(sentence), speaker);
          // A word is not said to begin before the sound does.
          if (speech.plannedS.length === speech.words.length)
            for (const [at, { startS }] of speech.words.entries())
              if (at > 0) fromPlan.push(startS - speech.plannedS[at]!);
          fromHeard.push(...(await heardLater(recogniser, speech)));
        }
      }
    } finally {
      await Promise.all([recogniser.close(), starts.close()]);
    }
    const furthestMs = 1_000 * Math.max(...fromPlan.map(Math.abs));
    const medianMs = 1_000 * median(fromHeard.map(Math.abs));
    const shift = (differences: readonly number[]) => (1_000 * median(differences)).toFixed(1);
    // Whisper lets a word begin where the one before has ended, so it is early as a rule: that tells nothing of our times.
    const apartMs = 1_000 * median(fromHeard.map((later) => Math.abs(later - median(fromHeard))));
    return {
      measured:
        `${furthestMs.toFixed(1)} ms of ${fromPlan.length} words (shifted by ${shift(fromPlan)} ms); ` +
        `${medianMs.toFixed(0)} ms of ${fromHeard.length} (shifted by ${shift(fromHeard)} ms, and ${apartMs.toFixed(0)} ms around that)`,
      isMet: furthestMs <= 15 && medianMs <= 40,
    };
  },
};

/** By how many seconds a reply's words begin later than they are heard to, where they are heard rightly. */
async function heardLater(recogniser: Recogniser, { samples, words }: TimedSpeech): Promise<number[]> {
  const clip = {
    samples,
    sampleRateHz: SAMPLE_RATE_HZ,
    durationS: samples.length / SAMPLE_RATE_HZ,
    digest: "",
  };
  const options = { language: "en", prompt: null, wantsWords: true, draft: null };
  const { segments } = await recogniser.recognise(clip, options, new AbortController().signal);
  const heard = segments.flatMap((segment) => segment.words ?? []);
  const same = (a: string, b: string) => plainWords(a).join(" ") === plainWords(b).join(" ");
  if (heard.length !== words.length) return [];
  return words.flatMap(({ word, startS }, at) =>
    same(word, heard[at]!.text) ? [startS - heard[at]!.startS] : [],
  );
}

async function openRecogniser(): Promise<Recogniser> {
  const { dataDir } = loadSettings({ env: process.env });
  const { signal } = new AbortController();
  const { dir, problem } = await recogniserWeights({ dataDir, pull: false, signal, observe: () => {} });
  if (problem !== null)
    throw new NotMeasuredError(
      `The recogniser is not installed: antiphon models pull recogniser. ${problem}`,
    );
  return openWhisper(dir);
}
