import { contentWords } from "../../heard/content-words.ts";
import { inSecondPerson } from "../../heard/second-person.ts";
import { plain, sentencesIn } from "../../heard/sentences.ts";
import { NUMBER_FORM } from "../../heard/spoken-number.ts";
import { isAsked } from "../../heard/turn-form.ts";

import { valuesOf } from "./values.ts";

/**
 * The right word, where somebody puts us right with one: "No, I said Thursday, not Tuesday." `null` where that is not
 * plain, where it is about the world and not about what they told, or where it answers what we asked.
 *
 * @param ours what we said before it
 * @param theirs what they said before, oldest first
 */
export function correctedWord(newest: string, ours: string, theirs: readonly string[]): string | null {
  const text = plain(newest);
  if (text.length > MAX_CHARS || text.includes("?") || isAsked(text)) return null;
  const said = text.replace(/[\s.!]+$/, "");
  const asserted = sentencesIn(ours)
    .filter((sentence) => !sentence.endsWith("?"))
    .join(" ");
  if (asserted === "") return null;
  const before = theirs.at(-1) ?? "";
  for (const { form, trust } of FORMS) {
    const { right = "", wrong } = form.exec(said)?.groups ?? {};
    if (right === "" || !isWord(right) || (wrong !== undefined && !isWord(wrong))) continue;
    // What we did not say cannot have been our mistake.
    if (wrong !== undefined && !hasWords(asserted, wrong)) return null;
    if (wrong === undefined && (trust ? hasWords(asserted, right) : ours.trim().endsWith("?"))) return null;
    const isTold = theirs.some(
      (turn) => hasWords(turn, right) || (wrong !== undefined && hasWords(turn, wrong)),
    );
    // Who asks after the world may put right what was right.
    if (!trust && (!isTold || isAsked(before))) return null;
    return inSecondPerson(right);
  }
  return null;
}

/** How sorry that is, with the right word in it. */
export function apologiesFor(right: string): readonly string[] {
  const begun = right.charAt(0).toUpperCase() + right.slice(1);
  return [
    `Sorry, ${right}. Thank you for putting me right.`,
    `${begun}, of course. I'm sorry I got that wrong.`,
    `I'm sorry, ${right}. I'll go by that.`,
    `My mistake: ${right}. Thanks for telling me.`,
  ];
}

interface Form {
  readonly form: RegExp;
  /** Says itself that it was told. */
  readonly trust: boolean;
}

const NO = "(?:(?:no|nope|sorry|wait|er+|um+|oh|actually|hang on|excuse me)[,.!]* )*";
const RIGHT = "(?:on |at |in )?(?<right>[^,.;]{1,30}?)";
const WRONG = "(?:on |at |in )?(?<wrong>[^,.;]{1,30}?)";
const FORMS: readonly Form[] = [
  {
    form: new RegExp(
      `^${NO}i (?:said|meant|mean|told you)(?: it's| it was)? ${RIGHT},? (?:and )?not ${WRONG}$`,
      "i",
    ),
    trust: true,
  },
  {
    form: new RegExp(
      `^${NO}i (?:didn't say|never said|don't mean|didn't mean) ${WRONG}[,.;] (?:i (?:said|meant|mean) )?${RIGHT}$`,
      "i",
    ),
    trust: true,
  },
  {
    form: new RegExp(
      `^${NO}(?:it's|it is|it was|that's|my name(?:'s| is)|(?:he|she)'s(?: called)?|they're) ${RIGHT},? not ${WRONG}$`,
      "i",
    ),
    trust: false,
  },
  { form: new RegExp(`^${NO}${RIGHT}, not ${WRONG}$`, "i"), trust: false },
  { form: new RegExp(`^${NO}not ${WRONG}[,.;:] (?:it's |i said |i meant )?${RIGHT}$`, "i"), trust: false },
  { form: new RegExp(`^(?:no|nope)[,.!]* (?:no[,.!]* )?i said ${RIGHT}$`, "i"), trust: true },
  {
    form: new RegExp(`^(?:no|nope)[,.!]* (?:no[,.!]* )?(?:it's |i meant |i mean )?${RIGHT}$`, "i"),
    trust: false,
  },
];

/** Whether words are a name, a day or a time, or a number. */
function isValue(words: string): boolean {
  return (
    (NAMES.test(words) && !/^(?:My|Our|The|His|Her|God)\b/.test(words)) ||
    valuesOf("when", words).length > 0 ||
    NUMBER.test(words)
  );
}

/** Whether words are one thing that is named: a name, a day, a number, "the bird", "my sister". */
function isWord(words: string): boolean {
  return THING.test(words) || isValue(words);
}

const THING =
  /^(?:(?:the|my|our|an?|his|her) )(?:(?!not\b|so\b|bit\b|lot\b)[\p{L}-]+ ){0,2}(?!one$|other$|same$|opposite$|first$|wrong$|right$|latter$|former$|way$|truth$|point$)[\p{L}-]+$/iu;
const NAMES = /^\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2}$/u;
const NUMBER = new RegExp(`^${NUMBER_FORM}(?: \\p{L}+)?$`, "iu");
const MAX_CHARS = 90;

function hasWords(text: string, words: string): boolean {
  const [heard, wanted] = [contentWords(text), contentWords(words)];
  return wanted.size > 0 && [...wanted].every((word) => heard.has(word));
}

/**
 * What somebody puts in the place of what they said themselves, as it is said back: "I meant Carol, and make it Friday"
 * has "Carol, and Friday". `null` where nothing is put right, or it is not plain with what.
 */
export function ownCorrection(newest: string): string | null {
  const text = plain(newest).replace(/[\s.!]+$/, "");
  if (text.length > MAX_CHARS || text.includes("?")) return null;
  const { put, right: aside = "" } = MARKED.exec(text)?.groups ?? {};
  // "Oh, my dog" puts nothing right, and "it's" may tell how something is.
  if (isValue(aside) || (put !== undefined && !/^i mean$/i.test(put) && isWord(aside)))
    return inSecondPerson(aside) ?? aside;
  const found: string[] = [];
  for (const part of text.split(/(?:[,.;!]| -) (?:and |also |so )?| and (?=make |change |it's )/i)) {
    const bare = part.replace(SELF_LEAD_IN, "").trim();
    const right = SELF_FORMS.map((form) => form.exec(bare)?.groups?.right).find(
      (words) => words !== undefined,
    );
    // "I mean hate" says a thing once more; "I mean Carol" puts a name right.
    const isOfTwo = /^not /i.test(bare);
    const isMade = /^(?:let's )?(?:make|call) /i.test(bare);
    const isOther =
      right !== undefined && (SELF_LEAD_IN.test(text) || !/^i mean\b/i.test(bare) || isWord(right));
    if (
      right !== undefined &&
      isOther &&
      (!isOfTwo || (isWord(right) && !/^a (?:bit|little|lot)\b/i.test(right))) &&
      (!isMade || isValue(right) || /^an? .+ one$/i.test(right)) &&
      right.split(" ").length <= 5 &&
      !EMPTY.test(right)
    )
      found.push(right);
  }
  return found.length === 0 ? null : found.map((right) => inSecondPerson(right) ?? right).join(", and ");
}

/** "Sorry, it's half past ten", at the end of whatever else is said. */
const MARKED =
  /(?:^|[.!?] |, )(?:oh|sorry|wait|no wait|actually|correction|i mean)[,.!]? (?:no[,.]? |actually )?(?<put>it's|it is|that's|make that|i mean)? ?(?:now )?(?:on |at )?(?<right>(?:(?!\bnot\b)[^,.;!?]){1,30}?)(?: now)?$/i;
const SELF_LEAD_IN =
  /^(?:(?:no|nope|sorry|wait|er+|um+|oh|actually|hang on|hold on|well|my mistake|my bad|scratch that|correction|i tell a lie)\b[,.!:]* ?)+/i;
const SELF_FORMS: readonly RegExp[] = [
  /^i (?:meant|mean)(?: to say)?(?: it's| it was)? (?<right>.+?)(?:,? not .+)?$/i,
  /^(?:let's )?(?:make|call) (?:it|that) (?<right>.+?)(?: instead)?$/i,
  /^change (?:it|that) to (?<right>.+)$/i,
  /^(?:it's|it is|it was|it should be|that should be|that's) (?:actually |really )?(?<right>.+?),? not .+$/i,
  /^not .+?[,;]? but (?<right>.+)$/i,
];
const EMPTY =
  /^(?:it|every|business|no|a day|my god|my life|that|this|what|so|the other|something|well|wrong|right|you|to|nothing|everything|the same)\b/i;
