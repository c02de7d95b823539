import { FRAME_S } from "../../audio/format.ts";
import { pausesS, ratesOf, spokenText } from "../../core/marked-text.ts";
import { withoutPhonemes } from "../../text/phonemes/inline-phonemes.ts";
import type { Prepared } from "./prepare.ts";

/** How long a reply will be at least, in seconds: 0 where its words are not written yet. */
export function leastSpokenS({
  conversation,
  delivery,
}: Pick<Prepared, "conversation" | "delivery">): number {
  const { text, marked } = conversation.open;
  if (text === null) return 0;
  const piece = marked ?? text;
  const words = withoutPhonemes(spokenText(piece)).trim();
  const spokenS = words.length / FAST_CHARACTERS_PER_S / ratesOf(piece).fastest;
  return Math.min(delivery.maxFrames * FRAME_S, spokenS + pausesS(piece));
}

/** The longest words at the fastest pace; ordinary ones are at 15. */
const FAST_CHARACTERS_PER_S = 22;
