import type { SpeakerLabel, Turn } from "../../model/conversation.ts";
import { sentencesOf } from "../../text/sentence-cutter.ts";

/** What a speaker said, whole and sentence by sentence, as {@link plainWords}: nothing of that is said again. */
export function heardIn(history: readonly Turn[], speaker: SpeakerLabel): ReadonlySet<string> {
  const own = history.filter((turn) => turn.speaker === speaker).map(({ text }) => text ?? "");
  // Whoever speaks in our name at length repeats nothing of ours.
  const short = own.filter((text) => text.length <= MAX_REPEATED_CHARS);
  return new Set(short.flatMap((text) => [text, ...sentencesOf(text)]).map(plainWords));
}

/** Longer than any reply that is ready, or that the small model writes. */
const MAX_REPEATED_CHARS = 600;

/** A text's words alone, for comparing. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
