import { wordMap } from "../../characters.ts";
import type { NormaliserTables } from "../../tables/text-tables.ts";
import { isNounAfter } from "../number-context.ts";
import { cardinalWords } from "../number-words.ts";
import {
  after,
  before,
  isWordCharacter,
  matchAt,
  oneOf,
  type Spoken,
  spoken,
  type TokenRule,
  withRanges,
} from "../rule.ts";
import { spelled } from "./identifiers.ts";

/** Signs missing from the voice's list, or read differently. */
const MORE: ReadonlyMap<string, string> = new Map([
  ...wordMap(
    "≠ is not equal to,≈ approximately,≥ greater than or equal to,≤ less than or equal to," +
      ">= greater than or equal to,<= less than or equal to,!= is not equal to,== equals,-> to," +
      "√ square root of,∞ infinity,π pi,∑ sum of,‰ per mille,№ number,&& and,|| or,+= plus equals," +
      "-= minus equals",
  ),
  ...[...wordMap("⌘ command,⌥ option,⇧ shift,⌃ control")].map(([sign, key]) => [sign, `${key} `] as const),
  ...["=>", "⇒", "→"].map((sign) => [sign, ", "] as const),
  ...Array.from("✓✔☆‣▪†", (sign) => [sign, ""] as const),
]);
const NUMBER_AFTER = /^ ?[$£€]?\.?\d/u;
const LETTER_NEXT = withRanges(/^ ?\p{L}/u);
const WORD_LAST = withRanges(/[\p{L}\p{N}] ?$/u);
/** Operators that are mentioned: "Use == to compare". */
const REPEATED = /(?:===|!==|==|&&|\|\|)(?=[\s,.;:?!)"']|$)/uy;
const SPOKEN_OF =
  /(?:^|\b(?:use|uses|using|the|an?|operators?|with|between|and|or|of|type|write|means?|called|than)|["'(]) ?$/iu;
const LETTER_LAST = withRanges(/(?:^|[^\p{L}\p{N}])\p{L} $/u);
const LETTER_BY_ITSELF = withRanges(/^ \p{L}(?![\p{L}\p{N}])/u);
const NAMES = wordMap(
  "=== triple equals,!== not double equals,== double equals,&& double ampersand,|| double pipe",
);
const KEY_BEFORE =
  /\b(?:press|pressing|dial|dialing|hit|enter|push|tap|touch|followed by|type|key|or|then|and|with|by) (?:the )?["“']?$/iu;
const DIALLED = /\b(?:press|dial|hit|followed by|enter|push)/iu;
const STARS = /[★⭐]{1,10}(?:\ufe0f)?[☆]{0,10}/uy;
const EMOTICON = /[:;=]['-]?[)(DPpOo/|*\]]{1,3}(?=\s|$|[.!?,])/uy;
const FLAG = withRanges(/--([a-z][a-z\d]{1,30}(?:-[a-z\d]{1,30}){0,4})(?![\p{L}\p{N}_-])/uy);
const SHORT_FLAG = withRanges(/-([A-Za-z]{1,4})(?![\p{L}\p{N}_'’-])/uy);
const PROGRAMS =
  "ls rm cp mv tar ps df du curl grep chmod ssh head tail kill sed unzip mkdir flag flags options? " +
  "[Uu]se [Uu]sing [Pp]ass [Aa]dd with the";
const COMMAND = new RegExp(`\\b(?:${oneOf(PROGRAMS)}|(?:git|docker|npm|pip3?)(?: \\w+)?) $`, "u");
const CODE_BEFORE =
  /\b(?:npm|npx|git|pip3?|docker|cargo|curl|python3?|node|yarn|brew|apt|kubectl|[Rr]un|[Uu]se|[Uu]sing|[Pp]ass|[Aa]dd|[Cc]ommand|flags?|options?|with)\b[^.!?]{0,40}$/u;
const FLAG_AFTER = /^ (?:flag|option|switch|argument|parameter)/u;
const GREEK = wordMap(
  "α alpha,β beta,γ gamma,δ delta,ε epsilon,ζ zeta,η eta,θ theta,ι iota,κ kappa,λ lambda,μ mu,ν nu,ξ xi,π pi,ρ rho," +
    "σ sigma,τ tau,υ upsilon,φ phi,χ chi,ψ psi,ω omega",
);
const IS_GREEK = /[\u0370-\u03ff\u1f00-\u1fff]/u;
const SPACED = "=<>~";

/** Reads signs. "=" and "<" are words between operands; a minus belongs to the number after it. */
export function signs(tables: NormaliserTables): TokenRule {
  const words = new Map([...tables.symbols, ...MORE]);
  return (text, at) => {
    const character = text.charAt(at);
    const two = text.slice(at, at + 2);
    const rest = after(text, at + 1);
    const earlier = before(text, at);
    const last = earlier.charAt(earlier.length - 1);
    const repeated = matchAt(REPEATED, text, at);
    if (
      repeated !== null &&
      (repeated[0].length > 2 || (SPOKEN_OF.test(earlier) && !LETTER_BY_ITSELF.test(after(text, at + 2))))
    )
      return spoken(repeated, `${NAMES.get(repeated[0]) ?? ""} `);
    const star = matchAt(STARS, text, at);
    if (star !== null) return stars(text, at, star[0]);
    const smile = matchAt(EMOTICON, text, at);
    if (smile !== null && /(?:^|\s)$/u.test(earlier)) return spoken(smile, "");
    if (
      character === "*" &&
      ((/^\d/u.test(rest) && /(?:^|[\s(])$/u.test(earlier)) ||
        (/^ \S/u.test(rest) && /\S $/u.test(earlier)) ||
        (/^(?:[.,;:!?)]|$)/u.test(rest) && KEY_BEFORE.test(earlier))) &&
      !/\d ?$/u.test(earlier)
    )
      return {
        words: LETTER_LAST.test(earlier) && LETTER_BY_ITSELF.test(rest) ? "times" : "star",
        end: at + 1,
      };
    const flag = matchAt(FLAG, text, at);
    if (flag !== null && isFlag(flag[0], earlier, after(text, at + flag[0].length)))
      return spoken(flag, `dash dash ${flag[1]?.replaceAll("-", " dash ")}`);
    const short = matchAt(SHORT_FLAG, text, at);
    if (short !== null && /\s$/u.test(earlier) && COMMAND.test(earlier))
      return spoken(short, `dash ${spelled(short[1] ?? "")}`);
    if (words.has(two) && two.length === 2) return { words: words.get(two) ?? "", end: at + 2 };
    if (character === "#" && !/^\d/u.test(rest) && KEY_BEFORE.test(earlier) && DIALLED.test(earlier + rest))
      return { words: "pound", end: at + 1 };
    if (character === "#") {
      if (/^(?:[A-Z]{1,5}-?)?\d/u.test(rest) && !isWordCharacter(last) && last !== "&")
        return { words: "number ", end: at + 1 };
      return {
        words: /\d$/u.test(earlier) ? "hash" : isWordCharacter(rest.charAt(0)) ? "hashtag " : "hash",
        end: at + 1,
      };
    }
    if (character === "−" || character === "-") {
      const isMinus = NUMBER_AFTER.test(rest) && /(?:^|[\s(=<>≤≥~±^*×÷/])$/u.test(earlier);
      if (character === "−")
        return { words: isMinus || !LETTER_NEXT.test(rest) ? "minus " : " — ", end: at + 1 };
      return isMinus && /^\.?\d/u.test(rest) ? { words: "minus ", end: at + 1 } : null;
    }
    if (character === "*" && /^ ?\d/u.test(rest) && /\d ?$/u.test(earlier))
      return { words: " times ", end: at + 1 };
    if (character === "+")
      return /^\d/u.test(rest) && !isWordCharacter(last) && last !== "+"
        ? { words: "plus ", end: at + 1 }
        : null;
    if (character === "÷" || character === "×") return { words: words.get(character) ?? "", end: at + 1 };
    if (SPACED.includes(character)) return comparison(text, at, words.get(character) ?? "");
    const said = words.get(character) ?? words.get(String.fromCodePoint(text.codePointAt(at) ?? 0));
    return said === undefined ? null : { words: said.trim() === "" ? " " : said, end: at + 1 };
  };
}

/** "--save-dev" after a command or before "flag"; otherwise two hyphens may be a dash. */
function isFlag(written: string, earlier: string, rest: string): boolean {
  return (
    /(?:^|[\s(])$/u.test(earlier) &&
    (CODE_BEFORE.test(earlier) || FLAG_AFTER.test(rest) || /[a-z]-/u.test(written))
  );
}

/** "4.5 ★" → "stars", "★★★★☆" → "four stars"; a lone star is an ornament. */
function stars(text: string, at: number, written: string): Spoken {
  const end = at + written.length;
  const filled = Array.from(written).filter((sign) => sign === "★" || sign === "⭐").length;
  const isCounted = /\d ?$/u.test(before(text, at));
  if (filled === 1 && !isCounted) return { words: " ", end };
  const isThing = isCounted && isNounAfter(text, end);
  const noun = isThing || /(?:^|[^\d.])1 ?$/u.test(before(text, at)) ? "star" : "stars";
  return { words: filled === 1 ? noun : `${cardinalWords(String(filled))} stars`, end };
}

/** "Δx", "α", but not within Greek words. */
export const greek: TokenRule = (text, at) => {
  const name = GREEK.get(text.charAt(at).toLowerCase());
  if (name === undefined || IS_GREEK.test(text.charAt(at - 1)) || IS_GREEK.test(text.charAt(at + 1)))
    return null;
  return { words: name, end: at + 1 };
};

/** "x = y", ">50", "~20". A sign without operands is dropped. */
function comparison(text: string, at: number, words: string): { words: string; end: number } | null {
  const rest = after(text, at + 1);
  const character = text.charAt(at);
  if (character === "<" && /^3(?!\d)/u.test(rest) && !WORD_LAST.test(before(text, at))) return null;
  if (at === 0 && !NUMBER_AFTER.test(rest)) return character === ">" ? { words: "", end: at + 1 } : null;
  if (rest.trim() === "") return null;
  return { words, end: at + 1 };
}
