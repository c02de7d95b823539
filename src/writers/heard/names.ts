import { plain } from "./sentences.ts";

const TITLE = /^(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? /;
/** A name, perhaps a title before it and others after it, as a regular expression. */
export const NAME =
  "((?:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\\.? )?\\p{Lu}(?:'\\p{Lu})?[\\p{L}-]+(?: (?!I\\b)\\p{Lu}[\\p{L}-]+){0,2})";
const AFTER_A_NAME = "(?=[.!?,;:]|$| and\\b| by the way\\b)";
const CALLS_ITSELF =
  "(?:\\b[Mm]y name(?:'s| is)|\\bI(?:'m| am) called|(?:^|[.!?,;:] |\\b(?:can|just|please|to|friends|people|everyone) )[Cc]all me)";
/** How somebody says what they are called, from the plainest to what may mean something else. */
const NAMED: readonly RegExp[] = [
  new RegExp(`${CALLS_ITSELF} ${NAME}`, "gu"),
  // As speech is transcribed, or typed in haste.
  new RegExp(`${CALLS_ITSELF} ([\\p{L}-]{2,})${AFTER_A_NAME}`, "giu"),
  new RegExp(
    `(?:\\bI'm|\\bI am|\\b[Ii]m|(?:^|[.!,] )[Tt]his is) ${NAME}(?!,? (?:my|our|his|her|the)\\b)${AFTER_A_NAME}`,
    "gu",
  ),
];

/** What somebody calls themselves in the newest of these texts that tells it. */
export function ownName(said: readonly string[]): string | null {
  for (const text of said) {
    for (const form of NAMED) {
      const name = namesIn(text, form).at(-1);
      if (name !== undefined) return name;
    }
  }
  return null;
}

/** What speakers say that they are called, in small letters: the first names of all that were told. */
export function namesTold(said: readonly string[]): ReadonlySet<string> {
  const names = said.flatMap((text) => NAMED.flatMap((form) => namesIn(plain(text), form)));
  return new Set(names.map((name) => (name.replace(TITLE, "").split(" ")[0] ?? "").toLowerCase()));
}

/** The names that a form with one group finds. */
export function namesIn(text: string, form: RegExp): string[] {
  return [...text.matchAll(form)]
    .map((match) => spelt(match[1] ?? match[2] ?? ""))
    .filter((name) => !NO_NAMES.has((/^\p{L}+/u.exec(name.replace(TITLE, ""))?.[0] ?? "").toLowerCase()));
}

/** Whether a word that stands where a name might is none. */
export function isNoName(word: string): boolean {
  return NO_NAMES.has(word.toLowerCase()) || MONTHS.has(word.toLowerCase());
}

const MONTHS: ReadonlySet<string> = new Set(
  "january february march april may june july august september october november december christmas easter".split(
    " ",
  ),
);

/** As a name is written. */
function spelt(name: string): string {
  const isPlain = name.length > 2 && (name === name.toLowerCase() || name === name.toUpperCase());
  return isPlain ? name.charAt(0).toUpperCase() + name.slice(1).toLowerCase() : name;
}

/** Said after "I'm" or "my name is", and no name. */
const NO_NAMES = new Set(
  (
    "i not just sorry so very really fine good well from in at on a an the here back then ok okay great happy sad tired " +
    "bored hungry ready done late sick new dr mr mrs ms miss prof adhd hiv ocd lgbt usa " +
    "hard difficult easy short long common rare weird unusual spelled spelt pronounced written too also quite pretty " +
    "later tomorrow tonight today now again up never still already mud nobody none no something anything whatever " +
    "monday tuesday wednesday thursday friday saturday sunday " +
    "italian german french english spanish american british irish polish indian chinese japanese canadian scottish welsh " +
    "dutch mexican australian christian jewish muslim catholic swedish finnish danish norwegian turkish portuguese russian " +
    "ukrainian greek czech hungarian romanian brazilian korean vietnamese thai swiss austrian belgian israeli african asian " +
    "european pakistani iranian egyptian nigerian hindu buddhist sikh republican vegan vegetarian"
  ).split(" "),
);
