import type { Following, Words } from "./dictionary.ts";
import type { Endings } from "./endings.ts";
import type { Stress } from "./stress.ts";

/** Reads a word that is not listed by its listed stem. */
type SuffixRule = (
  word: string,
  tag: string | null,
  stress: Stress,
  following: Following | null,
) => string | null;

export interface SuffixRules {
  readonly s: SuffixRule;
  readonly ed: SuffixRule;
  readonly ing: SuffixRule;
}

export function createSuffixRules(words: Pick<Words, "known" | "look">, endings: Endings): SuffixRules {
  const { known, look } = words;
  const ending =
    (stemOf: (word: string) => string | null, add: Endings["ing"]): SuffixRule =>
    (word, tag, stress, following) => {
      const stem = stemOf(word);
      const phonemes = stem === null ? null : look(stem, tag, stress, following);
      return phonemes === null || stem === null ? null : add(phonemes, stem);
    };
  return {
    s: ending(stemOfS, endings.s),
    ed: ending(stemOfEd, endings.ed),
    ing: ending(stemOfIng, endings.ing),
  };

  function stemOfS(word: string): string | null {
    if (word.length < 3 || !word.endsWith("s")) return null;
    if (!word.endsWith("ss") && known(word.slice(0, -1))) return word.slice(0, -1);
    const es = word.length > 4 && word.endsWith("es") && !word.endsWith("ies");
    if ((word.endsWith("'s") || es) && known(word.slice(0, -2))) return word.slice(0, -2);
    const y = `${word.slice(0, -3)}y`;
    return word.length > 4 && word.endsWith("ies") && known(y) ? y : null;
  }

  function stemOfEd(word: string): string | null {
    if (word.length < 4 || !word.endsWith("d")) return null;
    if (!word.endsWith("dd") && known(word.slice(0, -1))) return word.slice(0, -1);
    const ed = word.length > 4 && word.endsWith("ed") && !word.endsWith("eed");
    return ed && known(word.slice(0, -2)) ? word.slice(0, -2) : null;
  }

  function stemOfIng(word: string): string | null {
    if (word.length < 5 || !word.endsWith("ing")) return null;
    return endings.ingStems(word).find(known) ?? null;
  }
}
