import type { TakenVoices } from "../../core/model-card.ts";
import type { ReadManner } from "./read-manner.ts";

/** The same where something is not done, or nothing is; `null` where all is. */
export function mannerLeft(read: ReadManner, takes: TakenVoices["manner"]): string | null {
  const told = mannerTold(read, takes);
  return told === "none" || told.includes("not followed") ? told : null;
}

/**
 * What became of instructions how to speak, for a header: what is done, or `none`, and behind a semicolon what is not;
 * `passed on` where who speaks reads them by themselves. Letters of ASCII, digits, spaces and `,;`, at most 500 characters.
 */
export function mannerTold(
  { followed, unfollowed, moreUnfollowed }: ReadManner,
  takes: TakenVoices["manner"],
): string {
  if (takes === "words") return "passed on";
  const done = takes === "figures" ? followed : [];
  const left = takes === "figures" ? unfollowed : [...followed, ...unfollowed];
  const more = moreUnfollowed > 0 ? [`${moreUnfollowed} more`] : [];
  const rest = [...left, ...more].join(", ");
  return `${done.join(", ") || "none"}${rest === "" ? "" : `; not followed: ${rest}`}`;
}
