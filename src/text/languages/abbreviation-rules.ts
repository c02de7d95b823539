import { type Rule, rule } from "./rule.ts";

export interface Abbreviations {
  /** Before names. */
  readonly titles: ReadonlyMap<string, string>;
  /** Before numbers. */
  readonly numbered: ReadonlyMap<string, string>;
  readonly others: ReadonlyMap<string, string>;
  /** Abbreviations of several words: "p. ej." is listed as "p.ej". */
  readonly initials: ReadonlyMap<string, string>;
}

/** Makes a rule that reads the longest listed beginning of "p. ej. la". */
export function initialsRule({ initials }: Abbreviations): Rule {
  return rule("(?<![\\p{L}\\p{N}.])\\p{L}{1,2}(?:\\. ?\\p{L}{1,2}){1,4}\\.?(?!\\p{L})", (match) => {
    const ends = Array.from(match.matchAll(/(?<=\p{L})(?=\.|$)/gu), ({ index }) => index).reverse();
    for (const end of ends) {
      const said = initials.get(match.slice(0, end).replaceAll(" ", ""));
      if (said !== undefined) return said + match.slice(end).replace(/^\./, "");
    }
    return match;
  });
}

/**
 * Makes a rule for abbreviations with a full stop, which stays only where it also ends the sentence.
 *
 * @param word the source of the pattern of an abbreviation without its last stop
 */
export function abbreviationRule({ titles, numbered, others }: Abbreviations, word: string): Rule {
  return rule(
    `(?<![\\p{L}\\p{N}.])(${word})\\.(?=( ?[\\p{L}\\p{N}¿¡]|))`,
    (match, short = "", next = "", at = "", all = "") => {
      const space = next.startsWith(" ") ? "" : " ";
      // "Dott.ssa" is one word.
      if (/^\p{Ll}/u.test(next)) return match;
      const title = titles.get(short);
      if (title !== undefined && /^ ?\p{Lu}/u.test(next)) return title + space;
      const counted = numbered.get(short) ?? numbered.get(short.toLowerCase());
      if (counted !== undefined && /^ ?[\dIVXLC]/.test(next)) return counted + space;
      const lone = short.length > 2 ? (title ?? counted) : short.length > 1 ? title : undefined;
      const said = others.get(short) ?? others.get(short.toLowerCase()) ?? lone;
      if (said === undefined) return match;
      const isLast = Number(at) + match.length === all.length;
      return isLast || /^ [\p{Lu}¿¡]/u.test(next) ? `${said}.` : said;
    },
  );
}
