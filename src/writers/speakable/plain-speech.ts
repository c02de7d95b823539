import { type ListCount, withoutBlockMarks } from "./block-marks.ts";
import { ESCAPED, FORMULA, GAP, withoutInlineMarks } from "./inline-marks.ts";

/**
 * Removes from a sentence what can be read and not said: markup, stage directions, pictures and labels. Keeps all of its
 * words and numbers. Returns "" when no word is left.
 *
 * @param list counts the items of the reply's lists so far
 */
export function plainSpeech(sentence: string, list: ListCount = { last: 0 }): string {
  const kept: string[] = [];
  const keep = (words: string) => `${KEPT}${String.fromCharCode(FIRST_KEPT + kept.push(words) - 1)}`;
  const line = withoutBlockMarks(sentence.replace(PRIVATE, "").replace(UNREADABLE, " "), list)
    .replace(FENCE, GAP)
    .replace(CODE, (_whole, _marks: string, code: string) => keep(withoutPictures(code, " ")))
    .replace(FORMULA, (_whole, inline?: string, display?: string) => inline ?? display ?? "")
    .replace(ESCAPED, (_whole, mark: string) => keep(mark))
    .replace(MASKED, keep);
  const marked = withoutPictures(withoutInlineMarks(line), GAP);
  const labelled = TITLE.test(marked) ? marked : marked.replace(LABEL, "").replace(USER_LABEL, "");
  const text = withoutGaps(labelled).replace(ENTITY, (whole) => ENTITIES[whole.toLowerCase()] ?? whole);
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
/** Control characters and halves of characters: no reader has a word for them. */
const UNREADABLE = /[^\P{Cc}\s]|\p{Cs}/gu;
const RESTORED = /\ue001([\ue100-\uf8ff])/g;
const FENCE = /`{3,}/g;
const CODE = /(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)/g;
/** Letters that the writer hid: "f***", "sh*t". A short word before two or three stars is the end of a stressed phrase. */
const MASKED =
  /(?<![\p{L}\p{N}*_])(?:\p{L}{1,3}\*{1,6}\p{L}{1,8}|(?!(?:an?|i|it|us|me|is|to|so|go|no|up|on|in|we|he|my|do|be|or|if|of|by|at|as|am|ok|hi|oh)\*)\p{L}{1,2}\*{2,3}|\p{L}{1,8}\*{4,8})(?![\p{L}\p{N}*])/giu;
const LABEL =
  /^[\s\ue000]*\[?(?:assistant|bot|ai|chatbot|me|speaker \w{1,8})\]?(?: ?\([^()]{1,40}\))?[\s\ue000]*:[\s\ue000]*/i;
/** A title that begins with its matter: "AI: A Modern Approach". */
const TITLE = /^AI: An? \p{Lu}\p{Ll}+(?: (?:of|for|and|to|in|the|on|with)){0,2} \p{Lu}\p{Ll}/u;
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
/** Gaps closed: one for several, no space before a mark, no mark left over at the beginning. */
function withoutGaps(text: string): string {
  return text
    .replace(/[\s\ue000]+/g, (run) => (run.includes(GAP) ? GAP : run))
    .replace(/\ue000(?:[,;:]\ue000)+/g, GAP)
    .replace(/([,;:])\ue000[,;:]/g, "$1")
    .replace(/^\ue000[,.;:]*(?=\s|$|\ue000)/, "")
    .replace(/^\ue000/, "")
    .replace(/\ue000(?=[,.!?;:)…]|$)/g, "")
    .replaceAll(GAP, " ");
}

/** Emoji in all their forms, codes of emoji (`:smile:`), and faces made of marks: each becomes `instead`. */
function withoutPictures(text: string, instead: string): string {
  return text
    .replace(KEYCAPS, instead)
    .replace(PICTURES, instead)
    .replace(CODES, instead)
    .replace(FACES, instead);
}

const KEYCAPS = /[\d#*]\ufe0f?\u20e3/gu;
/** Arrows, degrees, notes' flats and sharps, and what stands for words (©, №) are said, or heard as what they part. */
const PICTURES =
  /(?![\u00a9\u00ae\u2122\u2190-\u21ff])(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|(?![\u00b0\u2100-\u214f\u2117\u266d-\u266f])\p{So})|[\u{1f3fb}-\u{1f3ff}\ufe0e\ufe0f\u20e3]|\u200d/gu;
const CODES = /(?<![\w:]):[a-z][a-z\d_+-]{1,30}:(?![\w:])/gi;
const FACES = /(?<=^|\s)[:;]['-]?[()DP](?=$|[\s.,!?])/g;
