import { isSpaceCode, SPACE } from "../characters.ts";
import type { NormaliserTables } from "../tables/tables.ts";
import type { Traced } from "../traced.ts";
import { type IsListed, withoutShouting } from "./capitals.ts";
import { createClassifier } from "./classifier.ts";
import { withRanges } from "./kind.ts";
import { withoutMarkup } from "./markup.ts";

/** Writes out what is not written as it is said: times, dates, money, measures, abbreviations, numerals, signs. */
export type Normaliser = (sentence: Traced) => Traced;

const SQUARED = /[\u3371-\u33df]/gu;
const BEHEADED = /(?<![a-z\d])['‘](?=(?:tis|twas|twere|twill|twould)(?![a-z']))/giu;
const SPACES = new RegExp(`[${SPACE}]+`, "gu");
/** Two or three hyphens within a sentence are the typewriter's dash: "left--or so I thought". */
const TYPED_DASH = withRanges(/(?<=[\p{L}\p{N}.,!?'"”’)])-{2,3}(?=["“”'‘(]?[\p{L}\p{Co}])/gu);
/** "I was--" she said. */
const BROKEN_OFF = withRanges(/(?<=\p{L}{2})-{2,3}(?=["”'’]?(?: |$))/gu);
/** "1914--1918": the printer's hyphens for a range. */
const TYPED_RANGE = /(?<=\d)--(?=\d)/g;
const SPACED_HYPHEN = /(?<=[^\s-]) --? (?=[^\s-])/g;

/** @param isListed tells words from initials among capitals */
export function createNormaliser(tables: NormaliserTables, isListed: IsListed = () => false): Normaliser {
  const classify = createClassifier(tables, isListed);
  return (sentence) => {
    const written = withoutShouting(tidySpaces(withoutMarkup(plain(tidy(sentence)))), isListed);
    const words = classify(written);
    return tidied(words.respelled(words.text.replaceAll("_", " ")))
      .replace(TYPED_DASH, " — ")
      .replace(BROKEN_OFF, "—")
      .replace(SPACED_HYPHEN, " — ");
  };
}

/** Single spaces, straight apostrophes, usual hyphens. */
function tidy(sentence: Traced): Traced {
  const tidier = tidySpaces(sentence);
  return tidier.respelled(
    tidier.text.replaceAll("’", "'").replaceAll("\u2012", "-").replaceAll("\u2015", "—"),
  );
}

function tidied(text: Traced): Traced {
  return tidySpaces(tidySpaces(text).replace(/ +(?=[,.;:!?])/g, ""));
}

/** Signs that are letters in one square ("㎏") as letters, "'Tis" without its mark, two hyphens for a range as one. */
function plain(text: Traced): Traced {
  return text
    .replace(SQUARED, (sign) => sign.normalize("NFKC"))
    .replace(BEHEADED, "")
    .replace(TYPED_RANGE, "–");
}

/** One space for each run of spaces, none at the ends. */
function tidySpaces(traced: Traced): Traced {
  const { text } = traced;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSpaceCode(code) && (code !== 0x20 || i === 0 || i === text.length - 1 || text[i - 1] === " ")) {
      return traced.replace(SPACES, " ").stripped();
    }
  }
  return traced;
}
