import { light } from "./light.ts";
import { after, before, type Kind, matchAt } from "./spoken.ts";

const SMALL_WORD = light(/(?:SO|NO|DO|GO|BE|ME|MY|WE|HE|UP|OF|BY|IF|AS|IS|TO|AN)(?![\p{L}\p{N}_'’.&/-])/uy);
const SMALL_BESIDE = light(/\p{Ll} $/u);
const SMALL_BEHIND = light(/^[,!?]?(?: \p{Ll}|$)/u);

/** A small word in capitals among small letters is stressed, and not spelled: "I am SO happy". */
export const emphasis: Kind = (text, at) => {
  const match = matchAt(SMALL_WORD, text, at);
  if (match === null || !SMALL_BESIDE.test(before(text, at))) return null;
  const end = at + match[0].length;
  return SMALL_BEHIND.test(after(text, end)) ? { words: match[0].toLowerCase(), end } : null;
};
