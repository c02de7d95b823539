import type { SpeakerLabel, Turn } from "../../core/conversation.ts";
import { sentencesOf } from "../../text/sentences/sentence-cutter.ts";

/** Returns what a speaker said already, turn by turn and sentence by sentence, as {@link plainWords}. */
export function alreadySaid(history: readonly Turn[], speaker: SpeakerLabel): ReadonlySet<string> {
  const own = history.filter((turn) => turn.speaker === speaker).map(({ text }) => text ?? "");
  // A longer turn was given by the client, and is no line or reply of the book.
  const short = own.filter((text) => text.length <= MAX_REPEATED_CHARS);
  return new Set(short.flatMap((text) => [text, ...sentencesOf(text)]).map(plainWords));
}

const MAX_REPEATED_CHARS = 600;

/** Returns a text's words in small letters, for comparing. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
