import { join } from "node:path";
import { clipSource } from "../../src/core/audio-source.ts";
import { debianRecordings } from "../debian-recordings.ts";
import { CLIPS_OF_LANGUAGES } from "../hearing/human-clips.ts";
import { withRecogniser } from "../hearing/recogniser.ts";
import { readClip } from "../read-clip.ts";
import type { Row } from "../row.ts";
import { plainWords } from "../word-errors.ts";

const never = new AbortController().signal;
const TRANSLATE = {
  task: "translate",
  language: null,
  prompt: null,
  draft: null,
  wantsWords: false,
} as const;

/**
 * Eight prompts exist in English too: words of the English one, as recognised, that occur in the
 * translation. A translation may be right in other words, so there is no goal.
 */
export const hearingTranslation: Row = {
  id: "hearing-translation",
  what: "words of an English prompt that are in the translation of the same prompt in Spanish, French, Italian and Russian; clips of six languages that are given no words",
  goal: "–",
  measure: ({ isQuick, python, note }) =>
    withRecogniser(async (hears, recogniser) => {
      const folder = await debianRecordings("hearing-languages", CLIPS_OF_LANGUAGES, python, note);
      const clipOf = (name: string) => readClip(join(folder, `${name}.wav`));
      const foreign = CLIPS_OF_LANGUAGES.filter(({ language }) => language !== "en");
      const clips = foreign.filter((_, at) => !isQuick || at % 6 === 0);
      const found = new Map<string, readonly [words: number, of: number]>();
      let wordless = 0;
      for (const { name, language } of clips) {
        const { text } = await recogniser.recognise(clipSource(await clipOf(name)), TRANSLATE, never);
        note(`${name}: ${text}`);
        if (text === "") wordless++;
        const prompt = name.slice(language.length + 1);
        if (!CLIPS_OF_LANGUAGES.some((other) => other.name === `en-${prompt}`)) continue;
        const english = plainWords((await hears(await clipOf(`en-${prompt}`))).text);
        const [words, of] = found.get(language) ?? [0, 0];
        found.set(language, [words + wordsIn(english, plainWords(text)), of + english.length]);
      }
      const each = [...found].map(([language, [words, of]]) => `${language} ${words} of ${of}`).join(", ");
      return { measured: `${each}; no words ${wordless} of ${clips.length}`, isMet: true };
    }),
};

/** How many of the one are in the other, each as often as it is there. */
function wordsIn(wanted: readonly string[], text: readonly string[]): number {
  const left = [...text];
  return wanted.filter((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  }).length;
}
