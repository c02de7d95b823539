import { light } from "./light.ts";

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", " "],
  ["rsquo", "'"],
  ["lsquo", "'"],
  ["ldquo", "“"],
  ["rdquo", "”"],
  ["ndash", "–"],
  ["mdash", "—"],
  ["hellip", "…"],
  ["bull", " "],
  ["copy", "©"],
  ["reg", ""],
  ["trade", ""],
  ["deg", "°"],
  ["euro", "€"],
  ["pound", "£"],
  ["times", "×"],
  ["frac12", "½"],
  ["eacute", "é"],
]);
const ENTITY = /&(?:#(\d{1,6})|#[xX]([0-9a-fA-F]{1,5})|([a-zA-Z]{2,8}\d{0,2}));/gu;
const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]{0,15})(?:\s[^<>]{0,300})?\/?>|<!--[^<>]{0,300}-->/gu;
const BREAKING = /^(?:br|p|div|li|tr|td|th|h[1-6]|ul|ol|hr|table|blockquote)$/iu;
/** The words of a link; words with phonemes of their own are no longer in the text here. */
const LINK = /!?\[([^[\]]{1,400})\]\([^()\s]{0,800}(?:\s"[^"]{0,200}")?\)/gu;
const STRONG = light(
  /(?<![\p{L}\p{N}*])(?!(?<=\b(?:[Dd]ial|[Pp]ress|[Ss]end|[Ee]nter|[Cc]all|[Tt]ype|[Tt]ext|[Hh]it|code|or|and|then) )\*\d)\*{1,3}(?=[^\s*.,;:!?)])|(?<=[^\s*])\*{1,3}(?![\p{L}\p{N}*])/gu,
);
const UNDERLINED = light(
  /(?<![\p{L}\p{N}_])_{1,3}(?=[\p{L}\p{N}"“])|(?<=[\p{L}\p{N}.,!?"”])_{1,3}(?![\p{L}\p{N}_])/gu,
);
/** A grave accent within a word was meant as an apostrophe. */
const APOSTROPHE = light(/(?<=\p{L})`(?=\p{L})/gu);
const HEADING = /^#{1,6} +/u;
const BULLET = /^(?:[-*+•‣·▪–—]|\[[ xX]?\]|>) +(?:\[[ xX]?\] +)?/u;
const FENCE = light(/^```[\p{L}\p{N}]{0,20}$/u);

/** The text without what only an editor or a browser sees: entities, tags, emphasis, headings, bullets, links. */
export function withoutMarkup(sentence: string): string {
  let text = sentence;
  if (text.includes("&") && text.includes(";")) text = text.replace(ENTITY, entity);
  if (text.includes("<"))
    text = text.replace(TAG, (_tag, _slash, name = "") => (BREAKING.test(name) ? " " : ""));
  if (text.includes("](")) text = text.replace(LINK, (_link, words: string) => words);
  const [first = ""] = text;
  if ("#-*+•‣·▪–—>[`".includes(first))
    text = text.replace(FENCE, "").replace(HEADING, "").replace(BULLET, "").replace(HEADING, "");
  if (text.includes("*")) text = text.replace(STRONG, "");
  if (text.includes("_")) text = text.replace(UNDERLINED, "");
  if (text.includes("~~")) text = text.replaceAll("~~", "");
  return text.includes("`") ? text.replace(APOSTROPHE, "'").replace(/`+/gu, "") : text;
}

function entity(written: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return ENTITIES.get(name) ?? written;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "0", 16) : Number(decimal);
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isText ? String.fromCodePoint(code) : " ";
}
