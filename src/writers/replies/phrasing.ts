import type { Act } from "./reply-book.ts";

/** Whether a turn is a question or a request, by its mark or, as speech is transcribed, without. */
export function isAsked(turn: string | null): boolean {
  return ASKS.test(turn ?? "");
}

/** Whether a turn is put as its kind is: what asks is a question, and what tells is none. */
export function isPhrasedAs({ name, answered }: Act, turn: string | null): boolean {
  const asked = isAsked(turn);
  return QUESTIONS.has(name) ? asked : answered !== "told" || !asked;
}

const ASKS =
  /\?|^(?:(?:but|and|so|then|ok|okay|well|now) )*(?:why|how|what|which|who|where|when|can|could|do|does|did|is|are|will|would|should|say)\b|\b(?:tell|give|write|show|teach|explain|make|ask|sing|read) me\b|\bcan (?:we|you|i)\b/i;
/** Kinds that are always questions. */
const QUESTIONS: ReadonlySet<string> = new Set(
  "how-are-you what-up our-body our-past our-feelings our-family our-skills name favourite time weather-now live see privacy".split(
    " ",
  ),
);
