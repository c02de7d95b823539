import { givesNewNumber } from "./account-numbers.ts";
import { type ListCount, withoutBlockMarks } from "./block-marks.ts";
import { ESCAPED, FORMULA, GAP, withoutInlineMarks } from "./inline-marks.ts";
import { withoutPictures } from "./pictures.ts";

/**
 * What may be said of a sentence that a language model wrote: all of its words, without markup, stage directions,
 * pictures, labels, and an "as an AI" before what it says of itself. Empty when nothing is left, or when it gives a
 * number of somebody's (a telephone, a card, an account) that nobody in the conversation has said: such are made up.
 * `list` is what the reply's lists have counted before.
 */
export function plainSpeech(sentence: string, heard: string, list: ListCount = { last: 0 }): string {
  if (givesNewNumber(sentence, heard)) return "";
  const kept: string[] = [];
  const keep = (words: string) => `${KEPT}${String.fromCharCode(FIRST_KEPT + kept.push(words) - 1)}`;
  const line = withoutBlockMarks(sentence.replace(PRIVATE, ""), list)
    .replace(FENCE, GAP)
    .replace(CODE, (_whole, _marks: string, code: string) => keep(withoutPictures(code, " ")))
    .replace(FORMULA, (_whole, inline?: string, display?: string) => inline ?? display ?? "")
    .replace(ESCAPED, (_whole, mark: string) => keep(mark));
  const marked = withoutPictures(withoutInlineMarks(line), GAP);
  const text = withoutGaps(marked.replace(LABEL, "").replace(USER_LABEL, ""))
    .replace(ENTITY, (whole) => ENTITIES[whole.toLowerCase()] ?? whole)
    .replace(AS_AN_AI, (_whole, before: string, first: string) =>
      before === "" ? `${first.charAt(0).toUpperCase()}${first.slice(1)}` : `${before}${first}`,
    );
  const speech = text
    .replace(RESTORED, (_whole, place: string) => kept[place.charCodeAt(0) - FIRST_KEPT] ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return /[\p{L}\p{N}]/u.test(speech) ? speech : "";
}

/** Stands before the place of words that nothing may be taken out of. */
const KEPT = "\ue001";
const FIRST_KEPT = 0xe100;
const PRIVATE = /[\ue000-\uf8ff]/g;
const RESTORED = /\ue001([\ue100-\uf8ff])/g;
const FENCE = /`{3,}/g;
const CODE = /(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)/g;
const LABEL =
  /^[\s\ue000]*\[?(?:assistant|bot|ai|chatbot|me|speaker \w{1,8})\]?(?: ?\([^()]{1,40}\))?[\s\ue000]*:[\s\ue000]*/i;
/** Of a turn that is not the model's; with a small letter behind it, it is the name of something. */
const USER_LABEL = /^[\s\ue000]*(?:User|Human)[\s\ue000]*:[\s\ue000]*(?=["“]?\p{Lu})/u;
const ENTITY = /&(?:[a-z]{2,6}|#\d{2,4});/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&nbsp;": " ",
  "&#160;": " ",
  "&ndash;": "–",
  "&mdash;": "—",
  "&hellip;": "…",
  "&deg;": "°",
  "&times;": "×",
  "&copy;": "©",
  "&rsquo;": "’",
  "&lsquo;": "‘",
  "&rdquo;": "”",
  "&ldquo;": "“",
  "&euro;": "€",
  "&pound;": "£",
};
/** Only of oneself: "as an AI engineer, he" and "as a virtual assistant, she" are of others. */
const AS_AN_AI =
  /(^|, )(?:as|being) an? (?:ai|artificial intelligence|(?:ai |large )?language model|(?:ai |virtual |voice |digital )assistant|chatbot)(?: (?:language )?(?:model|assistant|system|program|chatbot))?(?: (?:created|developed|made|trained|built) by [^,.!?]{1,40})?, ?([Ii]\b|[Mm]y\b)/i;

/** Gaps closed: no space before a mark, no mark left over at the beginning. */
function withoutGaps(text: string): string {
  return text
    .replace(/([,;:])[\s\ue000]*\ue000[\s\ue000]*[,;:]/g, "$1")
    .replace(/^[\s\ue000]*\ue000[\s\ue000]*[,.;:]*(?=\s|$)/, "")
    .replace(/[\s\ue000]*\ue000[\s\ue000]*(?=[,.!?;:)…]|$)/g, "")
    .replace(/[\s\ue000]*\ue000[\s\ue000]*/g, " ");
}
