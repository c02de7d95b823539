import type { Turn } from "../../model/conversation.ts";
import { sentencesOf } from "../sentence-cutter.ts";

/** Every turn of a conversation and every sentence of it, as {@link plainWords}: nothing of that is said again. */
export function heardIn(history: readonly Turn[]): ReadonlySet<string> {
  const texts = history.map(({ text }) => text ?? "");
  return new Set(texts.flatMap((text) => [text, ...sentencesOf(text)]).map(plainWords));
}

/** A text's words alone, for comparing. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
