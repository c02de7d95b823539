import { SPACE } from "../characters.ts";
import { withoutMarkup } from "../normalise/markup.ts";
import { alternatives, withRanges } from "../normalise/rule.ts";
import type { RewrittenText } from "../rewritten-text.ts";
import { type Rule, rule } from "./rule.ts";

export interface NormaliserRules {
  /** In order: later ones see the words of earlier ones. */
  readonly rules: readonly Rule[];
  /** What signs are called. */
  readonly signs: ReadonlyMap<string, string>;
  /** Initials and acronyms, which signs may stand between. */
  readonly letters: readonly Rule[];
}

const SPACES = new RegExp(`[${SPACE}]+`, "gu");
const SHOUTED = withRanges(/\p{Lu}{2} \p{Lu}{2,40}(?!\p{N})/u);
const CAPITALS = withRanges(/\p{Lu}+/gu);
const SMALL = withRanges(/\p{Ll}/u);

/** Other spellings of what rules look for. */
const PLAIN: readonly Rule[] = [
  [/[Ee]-mail/g, "email"],
  [/(?<=\d)['’](?=\d)/g, ","],
  [/(?<=\d)['’](?=[ .,;]|$)/g, "′"],
  [/ ?½/g, " 1/2"],
  [/ ?¼/g, " 1/4"],
  [/ ?¾/g, " 3/4"],
  [/℃/g, "°C"],
  [/m2(?![\p{L}\p{N}])/gu, "m²"],
  [/m3(?![\p{L}\p{N}])/gu, "m³"],
  [/[\u2010\u2011\u2012]/g, "-"],
  [/(?<=\d) - (?=\d{1,20} =)/g, " −"],
  [/ -{1,3} |(?<=\S)--(?=\S)/g, " — "],
];
const TIDY: readonly Rule[] = [rule("[*_~^`|\\\\{}/]", " "), [/ {2,}/g, " "], [/ (?=[,.;:!?…])/g, ""]];

/** Returns a function that writes sentences in words and marks. */
export function createRewriter({
  rules,
  signs,
  letters,
}: NormaliserRules): (sentence: RewrittenText) => RewrittenText {
  const named = rule(alternatives(signs.keys()), (sign) => ` ${signs.get(sign)!} `);
  const passes: readonly Rule[] = [...PLAIN, ...rules, named, ...letters, ...TIDY];
  return (sentence) => {
    const spaced = withoutShouting(withoutMarkup(sentence.replace(SPACES, " ").stripped()));
    return passes
      .reduce((text, [pattern, words]) => text.replace(pattern, words as string), spaced)
      .stripped();
  };
}

/** Lowers a sentence that is written in capitals throughout. */
function withoutShouting(sentence: RewrittenText): RewrittenText {
  const { text } = sentence;
  const isShouted = SHOUTED.test(text) && !SMALL.test(text);
  return isShouted ? sentence.replace(CAPITALS, (word) => word.toLowerCase()) : sentence;
}

/** Returns a function that writes letters by their names: "DNI" is "de ene i". */
export function letterSpeller(names: ReadonlyMap<string, string>): (letters: string) => string {
  return (letters) => Array.from(letters.toLowerCase(), (letter) => names.get(letter) ?? letter).join(" ");
}

/** Makes the rules for "J. L." and "J L". */
export function initialsRules(spelled: (letters: string) => string): readonly Rule[] {
  const say = (match: string) => spelled(match.replace(/[. ]/g, ""));
  return [
    rule("(?<![\\p{L}\\d.])\\p{Lu}\\.(?: ?\\p{Lu}\\.){0,7}(?= ?\\p{L}|,)", say),
    rule("(?<![\\p{L}\\d.])\\p{Lu}(?:\\. ?\\p{Lu}){1,7}(?![\\p{L}\\d])", say),
  ];
}
