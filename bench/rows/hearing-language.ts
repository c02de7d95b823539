import { join } from "node:path";
import { debianRecordings } from "../debian-recordings.ts";
import { CLIPS_OF_LANGUAGES } from "../hearing/human-clips.ts";
import { withRecogniser } from "../hearing/recogniser.ts";
import { readClip } from "../read-clip.ts";
import type { Row } from "../row.ts";

/**
 * 62 clips of people, 3 to 10 s, six over a telephone, chosen by name and length from Debian's packages;
 * none is synthetic.
 */
export const hearingLanguage: Row = {
  id: "hearing-language",
  what: "clips of people, 3 to 10 s in seven languages, whose language the recogniser names right",
  goal: "≥ 95 %",
  measure: ({ isQuick, python, note }) =>
    withRecogniser(async (hears) => {
      const folder = await debianRecordings("hearing-languages", CLIPS_OF_LANGUAGES, python, note);
      const clips = CLIPS_OF_LANGUAGES.filter((_, at) => !isQuick || at % 6 === 0);
      const right = new Map<string, readonly [right: number, of: number]>();
      for (const { name, language } of clips) {
        const found = await hears(await readClip(join(folder, `${name}.wav`)));
        const isRight = found.language === language;
        if (!isRight) {
          const sure = found.languageProbability?.toFixed(2) ?? "–";
          note(`${name}: ${found.language} (${sure}): ${found.text}`);
        }
        const [before, of] = right.get(language) ?? [0, 0];
        right.set(language, [before + (isRight ? 1 : 0), of + 1]);
      }
      const sum = [...right.values()].reduce((total, [own]) => total + own, 0);
      const each = [...right].map(([language, [own, of]]) => `${language} ${own} of ${of}`).join(", ");
      const share = sum / clips.length;
      return {
        measured: `${(100 * share).toFixed(1)} % of ${clips.length}: ${each}`,
        isMet: share >= 0.95,
      };
    }),
};
