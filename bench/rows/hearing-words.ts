import { join } from "node:path";
import { debianRecordings } from "../debian-recordings.ts";
import { CLIPS_WITH_WORDS } from "../hearing/human-clips.ts";
import { withRecogniser } from "../hearing/recogniser.ts";
import { type SaidAndHeard, saidAndHeard, shownRate, together } from "../hearing/said-and-heard.ts";
import { overTelephone } from "../hearing/telephone.ts";
import { readClip } from "../read-clip.ts";
import type { Row } from "../row.ts";

/**
 * The clips of `words`, language unknown, by the embedded Whisper base (8 bits, greedy). Telephone: 300 Hz
 * to 3.4 kHz, white noise, 8-bit µ-law.
 */
export const hearingWords: Row = {
  id: "hearing-words",
  what: "the embedded recogniser's word error rate, 60 Harvard sentences: speaker 0, speaker 1; both over a telephone with noise 30, 20, 10 and 0 dB below them",
  goal: "≤ 0.045, ≤ 0.045; –",
  measure: ({ renderings, note }) =>
    withRecogniser(async (hears) => {
      const plain: (readonly SaidAndHeard[])[] = [];
      const telephone = NOISE_DB.map((): SaidAndHeard[] => []);
      for (const speaker of ["0", "1"]) {
        const clips = await Promise.all(
          (await renderings.by(speaker)).map(async ({ sentence, path }, at) => ({
            name: `${speaker}-${at}`,
            said: sentence,
            clip: await readClip(path),
          })),
        );
        const own = await saidAndHeard(hears, clips);
        plain.push(own);
        for (const { name, heard } of own.filter(({ errors }) => errors > 0)) note(`${name}: ${heard}`);
        for (const [at, noiseDb] of NOISE_DB.entries()) {
          const lines = clips.map(({ clip, ...rest }) => ({ ...rest, clip: overTelephone(clip, noiseDb) }));
          telephone[at]!.push(...(await saidAndHeard(hears, lines)));
        }
      }
      return {
        measured: `${plain.map(shownRate).join(", ")}; ${telephone.map(shownRate).join(", ")}`,
        isMet: plain.every((clips) => together(clips).rate <= MOST),
      };
    }),
};

const NOISE_DB = [30, 20, 10, 0];
const MOST = 0.045;

/**
 * 21 clips (`bench/hearing/human-clips.ts`) from LibriVox, Asterisk's prompts, playing cards, short phrases
 * and a radio. A phrase of numbers alone is not counted, because it can be written in several ways.
 */
export const hearingPeople: Row = {
  id: "hearing-people",
  what: "the same of people who speak English: LibriVox; telephone prompts; short phrases and numbers; over a radio",
  goal: "≤ 0.06 in all, without the numbers that may be written in more ways than one",
  measure: ({ python, note }) =>
    withRecogniser(async (hears) => {
      const folder = await debianRecordings("hearing-words", CLIPS_WITH_WORDS, python, note);
      const clips = await Promise.all(
        CLIPS_WITH_WORDS.map(async ({ name, transcript }) => ({
          name,
          said: transcript!,
          clip: await readClip(join(folder, `${name}.wav`)),
        })),
      );
      const all = await saidAndHeard(hears, clips);
      for (const { name, errors, words, heard } of all) note(`${name}: ${errors} of ${words}: ${heard}`);
      const of = (kind: string) => all.filter(({ name }) => name.startsWith(kind));
      const counted = all.filter(({ name }) => !AMBIGUOUS.has(name));
      return {
        measured:
          `${shownRate(counted)} in ${counted.length} clips; ` +
          ["librivox", "allison", "dhd", "cards", "radio"]
            .map((kind) => `${kind} ${shownRate(of(kind))}`)
            .join(", "),
        isMet: together(counted).rate <= 0.06,
      };
    }),
};

/** "Thirty three four six ninety two" is as well 33, 46, 92. */
const AMBIGUOUS: ReadonlySet<string> = new Set(["dhd-numbers"]);
