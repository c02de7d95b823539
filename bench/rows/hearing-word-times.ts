import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { joinSamples } from "../../src/audio/pcm.ts";
import { harvardSentences, written } from "../harvard.ts";
import { sayTimed, type TimedSpeech } from "../hearing/known-times.ts";
import { withRecogniser } from "../hearing/recogniser.ts";
import { sameWords } from "../hearing/same-words.ts";
import { clipOf } from "../hearing/sounds.ts";
import { median, percentile } from "../load/percentile.ts";
import type { Row } from "../row.ts";
import { plainWords } from "../word-errors.ts";

/**
 * Pairs of Harvard sentences by our voices, with silence around them. True times are those of the plan;
 * misheard words are left out.
 */
export const hearingWordTimes: Row = {
  id: "hearing-word-times",
  what: "how far off a word's time is, against those that our own voice planned, two sentences a clip: beginnings, ends, median and p95; all together",
  goal: "median ≤ 60 ms",
  measure: ({ isQuick }) =>
    withRecogniser(async (hears) => {
      const sentences = (await harvardSentences()).slice(0, isQuick ? 6 : 60).map(written);
      const said = await sayTimed(["0", "1"], sentences);
      const starts: number[] = [];
      const ends: number[] = [];
      let words = 0;
      for (let at = 0; at + 1 < said.length; at += 2) {
        const clip = twoSentences(said[at]!, said[at + 1]!);
        words += clip.words.length;
        const { segments } = await hears(clipOf(clip.samples, "", SAMPLE_RATE_HZ), true);
        const heard = segments
          .flatMap((segment) => segment.words ?? [])
          .flatMap((word) => plainWords(word.text).map((text) => ({ ...word, text })));
        const texts = (of: readonly { readonly text: string }[]) => of.map(({ text }) => text);
        for (const [own, other] of sameWords(texts(clip.words), texts(heard))) {
          starts.push(1_000 * (heard[other]!.startS - clip.words[own]!.startS));
          ends.push(1_000 * (heard[other]!.endS - clip.words[own]!.endS));
        }
      }
      const off = (values: readonly number[]) => values.map(Math.abs);
      const shown = (values: readonly number[]) =>
        `${median(off(values)).toFixed(0)} ms, ${percentile(off(values), 0.95).toFixed(0)} ms (${median(values).toFixed(0)} ms late in the middle)`;
      const all = median(off([...starts, ...ends]));
      return {
        measured: `${shown(starts)}; ${shown(ends)}; ${all.toFixed(0)} ms; ${starts.length} of ${words} words heard as said`,
        isMet: all <= 60,
      };
    }),
};

/** With silence before, between and behind, as people leave it. */
function twoSentences(first: TimedSpeech, second: TimedSpeech): TimedSpeech {
  const silence = (lengthS: number) => new Float32Array(Math.round(lengthS * SAMPLE_RATE_HZ));
  const [before, between, behind] = [silence(0.3), silence(0.5), silence(0.4)];
  const moved = ({ words }: TimedSpeech, samples: number) =>
    words.map(({ text, startS, endS }) => ({
      text,
      startS: startS + samples / SAMPLE_RATE_HZ,
      endS: endS + samples / SAMPLE_RATE_HZ,
    }));
  const secondAt = before.length + first.samples.length + between.length;
  return {
    samples: joinSamples([before, first.samples, between, second.samples, behind]),
    words: [...moved(first, before.length), ...moved(second, secondAt)],
  };
}
