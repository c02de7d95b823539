import { FRAME_S } from "../../audio/format.ts";
import { pausesS, ratesOf, spokenText } from "../../core/marked-text.ts";
import { withoutPhonemes } from "../../text/phonemes/given-phonemes.ts";
import { addedCharacters } from "../../text/phonemes/given-words.ts";
import type { ResolvedRequest } from "./resolve-request.ts";
import type { DialogueLine } from "./resolved-dialogue.ts";

/** Returns the maximum length of a reply in seconds, except for rare slower speech, whose excess is small. */
export function maxSpeechS(request: SizedRequest & Pick<ResolvedRequest, "preset" | "lexicon">): number {
  const { delivery, preset, lexicon } = request;
  const pieces = piecesOf(request);
  const maxS = delivery.maxFrames * FRAME_S;
  if (pieces === null) return maxS;
  const rate = typeof preset.rate === "number" ? Math.min(1, preset.rate) : 1;
  const lengthS = pieces.reduce((sum, { piece, gapS }) => {
    const spoken = spokenText(piece);
    const chars = spoken.length + addedCharacters(spoken, lexicon);
    const wordsS = (SLOW_ENDS_S + SLOW_CHARACTER_S * chars) / rate / ratesOf(piece).slowest;
    return sum + wordsS + pausesS(piece) + (gapS ?? 0);
  }, 0);
  return Math.min(maxS, lengthS);
}

type SizedPiece = Pick<DialogueLine, "piece" | "gapS">;
type SizedRequest = Pick<ResolvedRequest, "conversation" | "delivery" | "dialogue">;

/** Returns the texts of a reply, each with the silence before it; `null` if its text is not written yet. */
function piecesOf({ conversation: { open }, dialogue }: SizedRequest): readonly SizedPiece[] | null {
  if (dialogue !== undefined) return dialogue.lines;
  const piece = open.marked ?? open.text;
  return piece === null ? null : [{ piece, gapS: null }];
}

/** Slowest speech: seconds per character, and at the beginning and the end. */
const SLOW_CHARACTER_S = 0.12;
const SLOW_ENDS_S = 2;

/** Returns the minimum length of a reply in seconds; 0 if its text is not written yet. */
export function minSpeechS(request: SizedRequest): number {
  const lengthS = (piecesOf(request) ?? []).reduce((sum, { piece }) => {
    const words = withoutPhonemes(spokenText(piece)).trim();
    return sum + words.length / FAST_CHARACTERS_PER_S / ratesOf(piece).fastest + pausesS(piece);
  }, 0);
  return Math.min(request.delivery.maxFrames * FRAME_S, lengthS);
}

/** Longest words at the fastest pace; ordinary speech has 15. */
const FAST_CHARACTERS_PER_S = 22;
