import type { Turn } from "../../model/conversation.ts";
import { otherLanguageOf } from "../../text/other-language.ts";

/** Whether a conversation is in English, as far as can be told: by its newest words, and with those a few turns before. */
export function isEnglish(history: readonly Turn[], written = ""): boolean {
  const texts = history.slice(-NEWEST_TURNS).map(({ text }) => text ?? "");
  const newest = `${texts.at(-1) ?? ""}\n${written}`;
  return [newest, [...texts, written].join("\n")].every((text) => otherLanguageOf(text) === null);
}

const NEWEST_TURNS = 4;
