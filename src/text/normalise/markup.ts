import { wordMap, wordSet } from "../characters.ts";
import type { RewrittenText } from "../rewritten-text.ts";
import { withRanges } from "./rule.ts";
import { UNITS } from "./rules/units.ts";

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ...wordMap(
    "amp &,lt <,gt >,quot \",apos ',rsquo ',lsquo ',ldquo “,rdquo ”,ndash –,mdash —,hellip …,copy ©,deg °," +
      "euro €,pound £,times ×,frac12 ½,eacute é",
  ),
  ["nbsp", " "],
  ["bull", " "],
  ["reg", ""],
  ["trade", ""],
]);
export const ENTITY = /&(?:#(\d{1,6})|#[xX]([0-9a-fA-F]{1,5})|([a-zA-Z]{2,8}\d{0,2}));/gu;
const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]{0,15})(?:\s[^<>]{0,300})?\/?>|<!--[^<>]{0,300}-->/gu;
/** Element names. Other names ("vector<int>") need an end tag. */
const ELEMENTS = wordSet(
  "a abbr address article aside audio b bdi bdo big blockquote body br break button caption center " +
    "cite code col dd del details dfn div dl dt em emphasis figcaption figure font footer form h1 h2 " +
    "h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main mark meta " +
    "nav nobr ol option p phoneme pre prosody q rp rt ruby s samp say script section select small " +
    "span speak strike strong style sub summary sup svg table tbody td textarea tfoot th thead time " +
    "title tr tt u ul var video voice wbr",
);
const REACH = 300;
const LETTER_LAST = withRanges(/[\p{L}\p{N}]$/u);
const BREAKING = /^(?:br|p|div|li|tr|td|th|h[1-6]|ul|ol|hr|table|blockquote)$/iu;
/** A link. Words with phonemes have been set aside before. */
const LINK = /!?\[([^[\]]{1,400})\]\([^()\s]{0,800}(?:\s"[^"]{0,200}")?\)/gu;
const STRONG = withRanges(
  /(?<![\p{L}\p{N}*])(?!(?<=\b(?:[Dd]ial|[Pp]ress|[Ss]end|[Ee]nter|[Cc]all|[Tt]ype|[Tt]ext|[Hh]it|code|or|and|then) )\*\d)\*{1,3}(?=[^\s*.,;:!?)])|(?<=[^\s*])\*{1,3}(?![\p{L}\p{N}*])/gu,
);
const UNDERLINED = withRanges(
  /(?<![\p{L}\p{N}_])_{1,3}(?=[\p{L}\p{N}"“])|(?<=[\p{L}\p{N}.,!?"”])_{1,3}(?![\p{L}\p{N}_])/gu,
);
const STRIKETHROUGH = /~~/g;
/** A grave accent within a word stands for an apostrophe. */
const APOSTROPHE = withRanges(/(?<=\p{L})`(?=\p{L})/gu);
const HEADING = /^#{1,6} +/u;
const BULLET = /^(?:[-*+•‣·▪–—]|\[[ xX]?\]|\[\^[\w-]{1,30}\]:|>) +(?:\[[ xX]?\] +)?/u;
const FENCE = withRanges(/^```[\p{L}\p{N}]{0,20}$/u);

/** Sources of patterns for the marks of footnotes and citations: "[12]", "[a]", "[3–5][^note]", "【12†source】"; "²". */
const FOOTNOTE = "\\^[\\p{L}\\p{N}_-]{1,30}";
const SOURCE = "【\\d[^【】]{0,80}】";
const NUMBERS = "(?:(?:note|nb|n|fn|ref)\\.? ?)?[1-9]\\d{0,2}(?:(?:, ?|[–-])\\d{1,3}){0,8}";
export const REFERENCE = `(?:\\[(?:${FOOTNOTE}|${NUMBERS}|[a-z]{1,2}|citation needed)\\](?![(:])|${SOURCE})+`;
export const SUPERSCRIPT = "[¹²³⁰⁴-⁹]{1,3}(?:[,–-][¹²³⁰⁴-⁹]{1,3}){0,3}(?![\\p{L}\\p{N}⁺⁻])";
/** Reference marks to remove: after punctuation all of them, elsewhere "[^1]" and "【1】", since "array[1]" is none. */
const REMOVABLE_REFERENCE = withRanges(
  `(?<=[.,;!?…]["”’')»]{0,2}|["”])${REFERENCE}(?![\\p{Ll}\\p{N}])|(?<=[^\\s/[({])\\[${FOOTNOTE}\\](?![(:])|${SOURCE}`,
  "gu",
);
const WITH_SUPERSCRIPT = withRanges(
  `(\\p{L}{2,40}|(?<=\\S)(?=[.,;!?]))([.,;:!?"”’')]{0,3})${SUPERSCRIPT}`,
  "gu",
);
/** Words whose superscript is a power. */
const WITH_POWER =
  /^(?:sin|cos|tan|sec|log|ln|det|(?:[a-z]*met(?:er|re)|inche|yard|mile|second)s?|in(?:ch)?|f[eo]{2}t)$/iu;
/** Divider lines: "=====", "<<<<<<<", "-=-=-=-"; "===" only if nothing else is in the sentence. */
const DIVIDER = /(?<!\S)(?:([=#+<>~^|])\1{3,}|[=#+<>~^|*-]{6,})(?!\S)|^([=#+<>~^|])\2{2}$/gu;
const WIKI_HEADING = /^={2,6} ?(?! )([^=]{1,300}[^= ]) ?={2,6}$/gu;
const TEX_MATH = /\$\$?(?=[^\s$])([^$]{0,200}[\\^_=][^$]{0,200}(?<=\S))\$\$?(?!\w)/gu;
const TEX_GROUP =
  /\\(?:d?frac\{([^{}]{1,80})\}\{([^{}]{1,80})\}|(sqrt|text|math[a-z]{2})\{([^{}]{0,80})\})/gu;
const TEX_COMMAND = /(?<![\w:\\])\\([A-Za-z]{2,10})(?![A-Za-z])/gu;
const TEX_SIGNS = wordMap(
  "times ×,cdot ×,div ÷,pm ±,le ≤,leq ≤,ge ≥,geq ≥,ne ≠,neq ≠,approx ≈,infty ∞,sum ∑,int integral of," +
    "alpha α,beta β,gamma γ,delta δ,epsilon ε,theta θ,lambda λ,mu μ,pi π,sigma σ,phi φ,omega ω",
);

/** Removes reference marks, dividers, entities, tags, emphasis, headings, bullets and link addresses. */
export function withoutMarkup(sentence: RewrittenText): RewrittenText {
  let traced = sentence;
  const has = (mark: string) => traced.text.includes(mark);
  if (has("[") || has("【")) traced = traced.replace(REMOVABLE_REFERENCE, "");
  if (/[¹²³⁰⁴-⁹]/u.test(traced.text)) traced = traced.replace(WITH_SUPERSCRIPT, withoutFootnote);
  if (/[=#+<>~^|-]{2}/u.test(traced.text)) traced = traced.unwrapped(WIKI_HEADING).replace(DIVIDER, "");
  if (/[\\$]|[_^]\{/u.test(traced.text))
    traced = traced
      .unwrapped(TEX_MATH)
      .replace(TEX_GROUP, texGroup)
      .replace(/[_^]\{([^{}]{1,40})\}/gu, (group: string, inside: string) => group.charAt(0) + inside)
      .replace(/\\(?:left|right)(?=[^\w\s])/gu, "")
      .replace(TEX_COMMAND, (written: string, name: string) => TEX_SIGNS.get(name) ?? written);
  if (has("&") && has(";")) traced = traced.replace(ENTITY, entity);
  if (has("<"))
    traced = traced.replace(
      TAG,
      (tag: string, slash: string, name: string | undefined, at: number, all: string) =>
        isTag(tag, slash, name, at, all) ? (BREAKING.test(name ?? "") ? " " : "") : tag,
    );
  if (has("](")) traced = traced.unwrapped(LINK);
  const [first = ""] = traced.text;
  if ("#-*+•‣·▪–—>[`".includes(first))
    traced = traced.replace(FENCE, "").replace(HEADING, "").replace(BULLET, "").replace(HEADING, "");
  if (has("*")) traced = traced.replace(STRONG, "");
  if (has("_")) traced = traced.replace(UNDERLINED, "");
  if (has("~~")) traced = traced.replace(STRIKETHROUGH, "");
  return has("`") ? traced.replace(APOSTROPHE, "'").replace(/`+/gu, "") : traced;
}

/** Removes a superscript that is no power: short words without vowels may be variables, as in "mc²". */
function withoutFootnote(written: string, word: string, marks: string): string {
  const isPower = UNITS.has(word) || WITH_POWER.test(word) || (marks === "" && /^[^aeiou]{2,3}$/u.test(word));
  return isPower ? written : word + marks;
}

function texGroup(_written: string, above?: string, below?: string, name = "", inside = ""): string {
  if (above === undefined) return name === "sqrt" ? `√${inside}` : inside;
  return /^\d+$/u.test(above + below) ? `${above}/${below}` : `${above} over ${below}`;
}

/** A single letter after another ("a<b>c") is a tag only if it is also closed. */
function isTag(tag: string, slash: string, name: string | undefined, at: number, all: string): boolean {
  if (name === undefined || slash === "/" || tag.endsWith("/>")) return true;
  const ends = all.slice(at, at + REACH).includes(`</${name}>`);
  if (ends || name.length > 1) return ends || ELEMENTS.has(name.toLowerCase());
  return ELEMENTS.has(name.toLowerCase()) && !LETTER_LAST.test(all.slice(Math.max(0, at - 1), at));
}

export function entity(written: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return ENTITIES.get(name) ?? written;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "0", 16) : Number(decimal);
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isText ? String.fromCodePoint(code) : " ";
}
