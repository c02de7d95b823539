import type { Accent, Alphabet, Endings } from "../phonemes/accent.ts";
import { SPANISH_ALPHABET } from "./es/alphabet.ts";
import { ITALIAN_ALPHABET } from "./it/alphabet.ts";
import type { Language, LanguageTag } from "./language.ts";

/** Languages other than English, each loaded when it is first read. */
const LOADERS: Readonly<Record<string, () => Promise<Language>>> = {
  es: async () => (await import("./es/spanish.ts")).SPANISH,
  it: async () => (await import("./it/italian.ts")).loadItalian(),
};

/** Tags of all that can be read. */
export const LANGUAGE_TAGS: readonly LanguageTag[] = ["en-US", "en-GB", "es", "it"];

export function isEnglish(tag: string): boolean {
  return /^en(?:-|$)/.test(tag);
}

const loaded = new Map<LanguageTag, Promise<Language>>();

/** Returns the rules of a language; `null` for English, which has a reader of its own. */
export async function loadLanguage(tag: LanguageTag): Promise<Language | null> {
  const load = LOADERS[tag];
  if (load === undefined) return null;
  const language = loaded.get(tag) ?? load();
  loaded.set(tag, language);
  return await language.catch((error: unknown) => {
    loaded.delete(tag);
    throw error;
  });
}

/** How users write phonemes, which is checked before a language is loaded. */
const ALPHABETS: Readonly<Record<string, Alphabet>> = { es: SPANISH_ALPHABET, it: ITALIAN_ALPHABET };

/** Returns how users write phonemes for voices of a language; `undefined` for English. */
export function accentOfTag(tag: string | null): Accent | undefined {
  const alphabet = ALPHABETS[tag ?? ""];
  return alphabet && accentOf({ alphabet });
}

export function accentOf({ alphabet }: Pick<Language, "alphabet">): Accent {
  return { endings: NO_ENDINGS, symbols: [], alphabet, said: (phonemes) => phonemes };
}

const NO_ENDINGS: Endings = { s: () => null, ed: () => null, ing: () => null, ingStems: () => [] };
