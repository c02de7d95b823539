import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import {
  isLatinVowel,
  isShortWord,
  nucleiOf,
  openOrClosed,
  withAccent,
  withoutAccents,
} from "./syllables.ts";

/** Marks where a word is stressed, and whether a stressed e or o is open: "perdono" is "perdóno". */
export interface StressTable {
  /** @param word lower-case letters; an accent that it has stays */
  accented(word: string): string;
  /** Returns whether the word, or a form of it, is listed by itself. */
  isListed(word: string): boolean;
}

const FILE = fileURLToPath(new URL("../../../../../lexicon/italian.txt", import.meta.url));
const BEFORE = "´";
/** Longer words are in no list and have no endings. Bounds the time. */
const MAX_LETTERS = 80;
const MAX_ENDING = 9;
const MAX_DERIVATIONS = 3;

const VERB_FORMS = "o i a ano ino";
const NOUN_FORMS = new Map([
  ["o", "a i e"],
  ["a", "e"],
  ["e", "i"],
]);

const ACCENT = /[àèéìòóù]/;
const PLURAL_VERB = /[ao]no$/;
/** "-iano" is a noun's or an adjective's ("siciliano"), unless its i only softens or hardens ("mangiano"). */
const NOUN_IANO = /(?<![cghl])iano$|(?<!g)liano$/;
const CLITIC = "(?:(?:me|te|se|ce|ve|glie)(?:lo|la|li|le|ne)|mi|ti|si|ci|vi|lo|la|li|le|ne|gli)";
const WITH_CLITIC = new RegExp(`(?:[ae]ndo|iamo|[aei]te|[aei]r)(${CLITIC})$`);

/** Loads the list of words (30 kB). @throws Error naming the file if it is missing */
export async function loadStressTable(file = FILE): Promise<StressTable> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Error(`${file} cannot be read: put it back from a fresh copy.`, { cause });
  });
  return parseStressTable(text);
}

/** Parses the format that the top of `lexicon/italian.txt` describes. */
export function parseStressTable(text: string): StressTable {
  const words = new Map<string, string>();
  const endings = new Map<string, string>();
  const entries = text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => line.split(" "))
    .filter((entry) => entry !== "");
  for (const entry of entries) {
    const spelling = withoutAccents(entry);
    if (entry.startsWith(BEFORE)) addTo(endings, spelling.slice(1), entry);
    else if (entry.startsWith("-")) addTo(endings, spelling.slice(1), entry.slice(1));
    else if (!entry.endsWith("-")) addTo(words, spelling, entry);
  }
  for (const entry of entries) addForms(entry.replace(/^-/, ""), /^[-´]/.test(entry) ? endings : words);
  return { accented, isListed: (word) => words.has(word) };

  function accented(word: string): string {
    return ACCENT.test(word) ? word : accent(word, 0);
  }

  function accent(word: string, depth: number): string {
    if (word.length > MAX_LETTERS) return byRules(word);
    return words.get(word) ?? derived(word, depth) ?? byEnding(word) ?? byRules(word);
  }

  /** Reads "trovano" as "trova", "metterla" as "mettere" and "dicendogli" as "dicendo". */
  function derived(word: string, depth: number): string | null {
    if (depth === MAX_DERIVATIONS || word.length < 5) return null;
    if (PLURAL_VERB.test(word) && !NOUN_IANO.test(word)) return `${accent(word.slice(0, -2), depth + 1)}no`;
    const clitic = WITH_CLITIC.exec(word)?.[1];
    if (clitic === undefined) return null;
    const verb = word.slice(0, -clitic.length);
    if (!verb.endsWith("r")) return (byEnding(verb) ?? penultimate(verb)) + clitic;
    // "aperti" is no "aper" with "ti".
    const infinitive = `${verb}e`;
    if (verb.endsWith("er") && (verb.length < 4 || !words.has(infinitive))) return null;
    if (nucleiOf(verb).length < 2 && !words.has(infinitive)) return null;
    return accent(infinitive, depth + 1).slice(0, -1) + clitic;
  }

  function byEnding(word: string): string | null {
    for (let length = Math.min(MAX_ENDING, word.length); length > 1; length--) {
      const ending = endings.get(word.slice(-length));
      if (ending === undefined) continue;
      if (!ending.startsWith(BEFORE)) return word.slice(0, -length) + ending;
      const nucleus = nucleiOf(word.slice(0, -length)).at(-1);
      if (nucleus !== undefined) return withAccent(word, nucleus, openOrClosed(word, nucleus, true));
    }
    return null;
  }
}

function addTo(map: Map<string, string>, spelling: string, entry: string): void {
  if (!map.has(spelling)) map.set(spelling, entry);
}

/** Adds the other forms of an entry: see the top of the list. */
function addForms(entry: string, to: Map<string, string>): void {
  const stem = entry.slice(0, -1);
  const forms = entry.endsWith("-") ? VERB_FORMS : (NOUN_FORMS.get(entry.slice(-1)) ?? "");
  for (const form of forms === "" ? [] : forms.split(" ")) {
    const isSoft = /^[ei]/.test(form);
    const isHard = /[cg]$/.test(stem) && !entry.endsWith("e");
    // "amico": "amici", "amiche"; "ufficio": "uffici"
    const spellings = !isHard || !isSoft ? [stem + form] : [`${stem}h${form}`];
    if (form === "i" && /[cg]$/.test(stem) && entry.endsWith("o")) spellings.push(stem + form);
    if (form === "i" && stem.endsWith("i")) spellings.push(stem);
    for (const spelling of spellings) addTo(to, withoutAccents(spelling).replace(BEFORE, ""), spelling);
  }
}

/** Stresses the syllable before the last; the last, if it is a diphthong as in "vorrei". */
function byRules(word: string): string {
  if (isShortWord(word)) return withAccent(word, word.length - 2, "closed");
  return penultimate(word);
}

function penultimate(word: string): string {
  const nuclei = nucleiOf(word);
  const last = nuclei.at(-1);
  if (last === undefined) return word;
  const isFinal = last < word.length - 1 && isLatinVowel(word.at(-1)!);
  const nucleus = isFinal || nuclei.length === 1 || isTruncated(word) ? last : nuclei.at(-2)!;
  return withAccent(word, nucleus, openOrClosed(word, nucleus, false));
}

/** Returns whether a word has lost its last vowel: "signor", "andar". Foreign words in -er are stressed before it. */
function isTruncated(word: string): boolean {
  return /[aio]r$/.test(word);
}
