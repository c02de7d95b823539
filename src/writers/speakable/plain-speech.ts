import { ESCAPED, FORMULA, GAP, withoutInlineMarks } from "./inline-marks.ts";

/**
 * Removes what cannot be spoken from a sentence: markup, stage directions, pictures, and the speaker label at a
 * reply's start. Keeps all words and numbers. Returns "" if no word is left.
 *
 * @param previous the sentence before; "" at the reply's start
 */
export function plainSpeech(sentence: string, previous = ""): string {
  const kept: string[] = [];
  const keep = (words: string) => `${KEPT}${String.fromCharCode(FIRST_KEPT + kept.push(words) - 1)}`;
  const given = sentence.replace(PRIVATE, "").replace(UNREADABLE, " ");
  const block = withoutBlockMarks(given);
  const line = block
    .replace(FENCE, GAP)
    .replace(CODE, (_whole, _marks: string, code: string) => keep(withoutPictures(code, " ")))
    .replace(FORMULA, (_whole, inline?: string, display?: string) => inline ?? display ?? "")
    .replace(ADDRESS, keep)
    .replace(ESCAPED, (_whole, mark: string) => keep(mark));
  const marked = withoutPictures(withoutInlineMarks(line, block === given ? previous : null), GAP);
  const labelled = previous === "" ? marked.replace(LABEL, "") : marked;
  const text = withoutGaps(labelled)
    .replace(NUMBERED_ENTITY, (whole, hex?: string, decimal?: string) =>
      characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), whole),
    )
    .replace(ENTITY, (whole) => ENTITIES[whole.toLowerCase()] ?? whole);
  const speech = text
    .replace(RESTORED, (_whole, place: string) => kept[place.charCodeAt(0) - FIRST_KEPT] ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return /[\p{L}\p{N}]/u.test(speech) ? speech : "";
}

/** Marks the place of protected words. */
const KEPT = "\ue001";
const FIRST_KEPT = 0xe100;
const PRIVATE = /[\ue000-\uf8ff]/g;
/** Control characters and lone surrogates. */
const UNREADABLE = /[^\P{Cc}\s]|\p{Cs}/gu;
const RESTORED = /\ue001([\ue100-\uf8ff])/g;
const FENCE = /`{3,}/g;
const CODE = /(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)/g;
/** Addresses, e-mail addresses and paths, which contain no marks. */
const ADDRESS =
  /https?:\/\/[^\s<>()[\]*"”]+|(?<![\w.+-])[\w.+-]{1,64}@[a-z\d-]+(?:\.[a-z\d-]+)+|\b[a-z]:\\[^\s*]+|(?<![\w<)\]}])~?\/\w[\w.-]*\/[\w./-]*/gi;
const LABEL = /^[\s\ue000]*\[?Assistant\]?[\s\ue000]*:[\s\ue000]*(?=["“]?\p{Lu})/u;
const NUMBERED_ENTITY = /&#(?:x([\da-f]{2,6})|(\d{2,7}));/gi;
const ENTITY = /&[a-z]{2,6};/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&nbsp;": " " },
  ...{ "&ndash;": "–", "&mdash;": "—", "&hellip;": "…", "&deg;": "°", "&times;": "×", "&copy;": "©" },
  ...{ "&rsquo;": "’", "&lsquo;": "‘", "&rdquo;": "”", "&ldquo;": "“", "&euro;": "€", "&pound;": "£" },
};

function characterOf(code: number, otherwise: string): string {
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : "";
  return /^[^\p{C}]$/u.test(character) ? character : otherwise;
}

/** Closes gaps: merges spaces, removes a space before punctuation and leading punctuation. */
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

/** Replaces emoji, emoji codes (`:smile:`) and emoticons. */
function withoutPictures(text: string, instead: string): string {
  return text
    .replace(KEYCAPS, "$1")
    .replace(PICTURES, instead)
    .replace(CODES, instead)
    .replace(FACES, instead);
}

const KEYCAPS = /([\d#*])\ufe0f?\u20e3/gu;
/** Spares arrows, degrees, flats and sharps, rating stars, and signs that stand for words (©, №). */
const PICTURES =
  /(?![\u00a9\u00ae\u2122\u2190-\u21ff\u2605\u2606])(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|(?![\u00b0\u2100-\u214f\u266d-\u266f])\p{So})|[\u{1f3fb}-\u{1f3ff}\ufe0e\ufe0f\u20e3]|\u200d/gu;
const CODES = /(?<![\w:]):[a-z][a-z\d_+-]{1,30}:(?![\w:])/gi;
const FACES = /(?<=^|\s)[:;]['-]?[()DP](?=$|[\s.,!?])/g;

/**
 * Removes the marks of headings, bullets, quotations, table rows, fences, rules and link definitions, and ends the
 * line with a full stop. Item numbers are spoken.
 */
export function withoutBlockMarks(line: string): string {
  if (FENCE_LINE.test(line) || RULE.test(line) || ADDRESS_OF_REFERENCE.test(line)) return "";
  const quoted = line.replace(QUOTE, "");
  const row = cellsOf(quoted);
  if (row !== null) return withFullStop(row);
  const item = quoted.replace(HEADING, "$1").replace(BULLET, "").replace(CHECKBOX, "");
  return item === quoted && !NUMBERED.test(item) ? item : withFullStop(item);
}

/** Joins a table row's cells; `null` if the line is no row. */
function cellsOf(line: string): string | null {
  const text = line.trim();
  if (!/^\|\s|\s\|$|^\|.*\|$/.test(text) || text === "|") return null;
  const cells = text.split("|").map((cell) => cell.trim());
  const filled = cells.filter((cell) => cell !== "");
  return filled.every((cell) => /^:?-+:?$/.test(cell)) ? "" : filled.join(", ");
}

function withFullStop(text: string): string {
  return UNENDED.test(text) ? text.replace(/(?<![*_\s])[*_]*\s*$/, ".$&") : text;
}

const FENCE_LINE = /^\s*(?:`{3,}|~{3,})[\w+#.-]*\s*$/;
const RULE = /^\s*(?:[-=*_]\s*){3,}$/;
/** `[1]: http://example.org "Title"` */
const ADDRESS_OF_REFERENCE = /^\s*\[\^?\d{1,3}\]:\s*<?(?:https?:\/\/|www\.)[^\s<>]+>?(?:\s+["'(].*)?\s*$/;
const QUOTE = /^\s*(?:>\s?)+(?=\s*[^\s\d=])/;
const HEADING = /^\s*#{1,6}\s+(.*?)(?:\s+#+)?\s*$/;
/** A dash or plus before a number is its sign. */
const BULLET = /^\s*(?:[*•‣◦▪●·]|[-+–](?!\s+[\d\p{Sc}]))\s+/u;
const CHECKBOX = /^\[[ xX]\]\s+/;
const NUMBERED = /^\s*\(?\d{1,3}[.)]\s/;
const UNENDED = /[\p{L}\p{N}\p{Sc}%°)”"'’\]`#](?:\*|_)*\s*$/u;
