import { FRAME_S } from "../audio/format.ts";
import type { Prepared } from "./prepare.ts";

/** How long a reply will be at least, in seconds: 0 where its words are not written yet. */
export function leastSpokenS({
  conversation,
  delivery,
}: Pick<Prepared, "conversation" | "delivery">): number {
  const { text } = conversation.open;
  if (text === null) return 0;
  return Math.min(delivery.maxFrames * FRAME_S, text.trim().length / FAST_CHARACTERS_PER_S);
}

/** The longest words at the fastest pace; ordinary ones are at 15. */
const FAST_CHARACTERS_PER_S = 22;
