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
