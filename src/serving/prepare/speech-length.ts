import { FRAME_S } from "../../audio/format.ts";
import { pausesS, ratesOf, spokenText } from "../../core/marked-text.ts";
import { withoutPhonemes } from "../../text/phonemes/given-phonemes.ts";
import { addedCharacters } from "../../text/phonemes/given-words.ts";
import type { ResolvedRequest } from "./resolve-request.ts";

/** Returns the maximum length of a reply in seconds, except for rare slower speech, whose excess is small. */
export function maxSpeechS({
  conversation,
  delivery,
  preset,
  lexicon,
}: Pick<ResolvedRequest, "conversation" | "delivery" | "preset" | "lexicon">): number {
  const { text, marked } = conversation.open;
  const piece = marked ?? text;
  const maxS = delivery.maxFrames * FRAME_S;
  if (piece === null) return maxS;
  const rate = typeof preset.rate === "number" ? Math.min(1, preset.rate) : 1;
  const spoken = spokenText(piece);
  const chars = spoken.length + addedCharacters(spoken, lexicon);
  const wordsS = (SLOW_ENDS_S + SLOW_CHARACTER_S * chars) / rate / ratesOf(piece).slowest;
  return Math.min(maxS, wordsS + pausesS(piece));
}

/** Slowest speech: seconds per character, and at the beginning and the end. */
const SLOW_CHARACTER_S = 0.12;
const SLOW_ENDS_S = 2;

/** Returns the minimum length of a reply in seconds; 0 if its text is not written yet. */
export function minSpeechS({
  conversation,
  delivery,
}: Pick<ResolvedRequest, "conversation" | "delivery">): number {
  const { text, marked } = conversation.open;
  if (text === null) return 0;
  const piece = marked ?? text;
  const words = withoutPhonemes(spokenText(piece)).trim();
  const spokenS = words.length / FAST_CHARACTERS_PER_S / ratesOf(piece).fastest;
  return Math.min(delivery.maxFrames * FRAME_S, spokenS + pausesS(piece));
}

/** Longest words at the fastest pace; ordinary speech has 15. */
const FAST_CHARACTERS_PER_S = 22;
