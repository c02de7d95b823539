import type { SpeakerLabel, Turn } from "../../core/conversation.ts";
import { wordSet } from "../../text/characters.ts";
import { sentencesOf } from "../../text/sentences/sentence-cutter.ts";
import { isQuestion } from "../small-talk/classify-turn.ts";

/**
 * Completes an elliptical newest turn: "And New Zealand?" after "What's the capital of Australia?" becomes "What's
 * the capital of New Zealand?". Returns possible completions, likeliest first; none if the turn stands alone.
 */
export function completeEllipsis(history: readonly Turn[], speaker: SpeakerLabel): readonly string[] {
  const theirs = history.at(-1)?.speaker;
  let whole: readonly string[] = [];
  let before: EllipsisContext = { question: null, turns: [], answer: "" };
  for (const { speaker: who, text } of history.slice(-MAX_TURNS)) {
    const said = plain(text ?? "").slice(-MAX_CHARS);
    if (who === speaker) before = { ...before, answer: said };
    if (who !== theirs) continue;
    whole = before.turns.length === 0 ? [] : complete(said, before);
    const newest = whole[0] ?? said;
    const last = sentencesIn(newest).at(-1) ?? "";
    const question = isQuestion(last) ? last.replace(/[\s?.!]+$/, "").replace(LEAD_IN, "") : null;
    before = { question, turns: [newest, ...before.turns], answer: "" };
  }
  return whole;
}

/** Splits into sentences, even if later ones begin in lower case. */
function sentencesIn(text: string): string[] {
  return sentencesOf(plain(text)).flatMap((sentence) => sentence.split(/(?<=\p{L}{4}[.]|[!?]) (?=\p{Ll})/u));
}

/** Normalises apostrophes and spaces. */
function plain(text: string): string {
  return text.replaceAll("’", "'").replaceAll(/\s+/g, " ").trim();
}

/** Context of an elliptical turn. */
interface EllipsisContext {
  /** The partner's last question, completed; `null` if the last sentence was none. */
  readonly question: string | null;
  /** The partner's turns, completed, newest first. */
  readonly turns: readonly string[];
  /** The answer to the newest of them. */
  readonly answer: string;
}

function complete(said: string, before: EllipsisContext): readonly string[] {
  const bare = said.replace(/[\s?.!]+$/, "").replace(LEAD_IN, "");
  const isShort = bare.split(" ").length <= MAX_ELLIPSIS_WORDS && !hasVerb(bare) && !PRONOUN.test(bare);
  if (before.question !== null && isShort && bare !== "" && !isRemark(bare)) {
    const found = completeFromQuestion(
      bare,
      before.question,
      /\?\s*$/.test(said) || CONJUNCTION_FIRST.test(said),
    );
    if (found.length > 0) return found.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}?`);
  }
  const named = resolvePronoun(said, before);
  return named === null ? [] : [named];
}

/** Returns the text after a leading question word, skipping a preposition; `null` without one. */
function afterQuestionWord(text: string): string | null {
  const plain = text.replace(BEFORE_QUESTION_WORD, "");
  const found = ASKED_WORD.exec(plain)?.[0];
  return found === undefined ? null : plain.slice(found.length).trim();
}

/** Completes from the previous question, by replacing a word or phrase in it. */
function completeFromQuestion(said: string, question: string, isAsking: boolean): readonly string[] {
  if (QUESTION_WORD.test(said.replace(BEFORE_QUESTION_WORD, ""))) {
    const begun = afterQuestionWord(question) ?? question.charAt(0).toLowerCase() + question.slice(1);
    return BEGINS_AS_ASKED.test(begun) ? [`${said} ${begun}`] : [];
  }
  const counted = COUNTED.exec(said)?.[1];
  if (counted !== undefined) {
    const same = new RegExp(`^${counted} \\p{L}+`, "iu");
    return same.test(question) ? [question.replace(same, said)] : [];
  }
  if (afterQuestionWord(said) !== null) return [];
  const other = said.replace(/^(?:the|a|an) (?=\p{Lu})/iu, "");
  const small = said.charAt(0).toLowerCase() + said.slice(1);
  const [, aux = "", determiner, rest = ""] = YES_NO_QUESTION.exec(question) ?? [];
  // "My cat?" completes "Can my dog swim?".
  if (determiner !== undefined && small.startsWith(`${determiner.toLowerCase()} `))
    return [`${aux} ${small} ${rest}`];
  const [, preposition] = PREPOSITION.exec(said) ?? [];
  if (preposition !== undefined) {
    const same = new RegExp(`\\b${preposition} (?:[\\p{L}\\p{N}'-]+ ?){1,4}$`, "iu");
    return [same.test(question) ? question.replace(same, small) : `${question} ${small}`];
  }
  // A bare noun phrase may be a remark.
  if (!isAsking) return [];
  if (/^\p{Lu}/u.test(other)) {
    const begun = question.charAt(0).toLowerCase() + question.slice(1);
    const names = [...begun.matchAll(NAME)].filter(
      ({ 0: name, index }) => index > 0 && !NO_NAME.has(name) && !/\ban? $/i.test(begun.slice(0, index)),
    );
    const last = names.at(-1);
    if (last !== undefined)
      return [question.slice(0, last.index) + other + question.slice(last.index + last[0].length)];
  }
  const phrase = lastPhrase(question);
  if (phrase === null) return [];
  const isNamed = /^\p{Lu}/u.test(phrase);
  if (isNamed && /^(?:my|our|your|his|her|their)\b/i.test(said)) return [];
  const start = question.slice(0, question.length - phrase.length);
  if (AFTER_SUBJECT_OR_VERB.test(start)) return [];
  const put = isNamed ? said : small;
  const noun = phrase.split(" ");
  const whole = ARTICLE.test(start)
    ? start.replace(ARTICLE, "") + (ARTICLED.test(put) ? put : `${articleFor(put, start)}${put}`)
    : start + put;
  return noun.length > 1 && !said.includes(" ")
    ? [start + [put, ...noun.slice(1)].join(" "), whole]
    : [whole];
}

function isRemark(said: string): boolean {
  const small = said.toLowerCase();
  return REMARKS.some((remark) => {
    const rest = small.slice(remark.length);
    return small.startsWith(remark) && rest.length <= MAX_AFTER_REMARK && !/^\w/.test(rest);
  });
}

function hasVerb(said: string): boolean {
  return (said.toLowerCase().match(/[\w']+/g) ?? []).some(
    (word) => VERBS.has(word) || VERBS.has(word.replace(/'.*/, "")),
  );
}

/**
 * Returns the last noun phrase: up to two words after an article or a preposition, otherwise one, since a verb may
 * precede.
 */
function lastPhrase(question: string): string | null {
  const words = question.split(" ");
  const isNoun = (word = "") => /^[\p{L}'-]+$/u.test(word) && !NO_PHRASE.has(word.replace(/['-].*/, ""));
  const [before = "", first, last] = ["", "", ...words].slice(-3);
  if (words.length < 2 || !isNoun(last)) return null;
  return BEFORE_PHRASE.has(before) && isNoun(first) ? `${first} ${last}` : (last ?? null);
}

/** Returns the article of the replaced phrase, adapted to the new word. */
function articleFor(put: string, start: string): string {
  const [article = ""] = ARTICLE.exec(start) ?? [];
  return /^an? $/i.test(article) ? (/^[aeiou]/i.test(put) ? "an " : "a ") : article;
}

/** Replaces a turn's pronoun by its antecedent; `null` without a pronoun or a clear antecedent. */
function resolvePronoun(said: string, { turns, answer }: EllipsisContext): string | null {
  const match = PRONOUN.exec(said);
  if (
    match === null ||
    !isQuestion(said) ||
    said.length > MAX_NAMED_CHARS ||
    EXPLETIVES.some((form) => form.test(said))
  )
    return null;
  // The antecedent may be in the same sentence.
  if (THING.test(said.slice(0, match.index)) || NAMES_ANY.test(said.slice(1, match.index))) return null;
  const [pronoun] = match;
  const kind = pronoun.toLowerCase();
  const isPossessive =
    POSSESSIVE.has(kind) || (kind === "her" && isPossessiveHer(said.slice(match.index + pronoun.length)));
  if (isPossessive && match.index === 0) return null;
  const find = PEOPLE.has(kind)
    ? (text: string) => personIn(text, kind)
    : kind === "there"
      ? (text: string) => [...text.matchAll(PLACE)].at(-1)?.[1] ?? null
      : (text: string) => thingIn(text, PLURAL.has(kind), answer);
  // The last question and its answer come before earlier turns.
  const [newest = "", ...earlier] = turns;
  const order = PEOPLE.has(kind) ? [answer, newest, ...earlier] : [newest, ...earlier, answer];
  const meant = order.map(find).find((found) => found !== null) ?? null;
  if (meant === null) return null;
  const named = meant.replace(/^(?:My|Our|The|His|Her)\b/, (word) => word.toLowerCase());
  const place = kind === "there" ? `in ${named}` : isPossessive ? `${named}'s` : named;
  return said.slice(0, match.index) + place + said.slice(match.index + pronoun.length);
}

function isPossessiveHer(rest: string): boolean {
  const word = /^ (\p{L}+)/u.exec(rest)?.[1];
  return word !== undefined && !NOT_OWNED.has(word.toLowerCase());
}

/** @param pronoun a "she" is no son, a "he" no daughter */
function personIn(text: string, pronoun: string): string | null {
  const other = /^(?:she|her|hers)$/.test(pronoun) ? MEN : /^(?:he|him|his)$/.test(pronoun) ? WOMEN : null;
  const relations = [...text.matchAll(RELATION)].map(([found]) => found);
  return (
    namesIn(text.replaceAll(PLACE, " "))[0] ??
    relations.filter((found) => other === null || !other.test(found)).at(-1) ??
    null
  );
}

/** Male and female {@link RELATION} words. */
const MEN = /(?:son|father|dad|brother|husband|uncle|nephew|grandpa|boyfriend)$/i;
const WOMEN = /(?:daughter|mother|mum|mom|sister|wife|aunt|niece|gran|grandma|girlfriend)$/i;

/** @param answer of several names, the one in the answer is meant */
function thingIn(text: string, isPlural: boolean, answer: string): string | null {
  const things = [...text.matchAll(THINGS)].map(([found]) => found.trim());
  const thing = things.find((each) => /[^s]s$/.test(each) === isPlural);
  if (thing !== undefined)
    return thing
      .replace(/^(?:an?|some|the) /i, "the ")
      .replace(/^\p{Lu}\p{Ll}* /u, (word) => word.toLowerCase());
  if (isPlural) return /\b(?:grow|keep|make|like|love|about|of) (\p{Ll}{3,}s)\b/u.exec(text)?.[1] ?? null;
  const names = namesIn(text);
  return names.find((name) => answer.includes(name)) ?? names.at(-1) ?? null;
}

/** Finds names; a single word at the start of a sentence does not count. */
function namesIn(text: string): string[] {
  return [...text.matchAll(NAME)].flatMap(({ 0: found, index }) => {
    const words = found.split(" ");
    while (words.length > 0 && (NO_NAME.has(words[0] ?? "") || /^\p{Ll}/u.test(words[0] ?? "")))
      words.shift();
    const isFirst = index === 0 || /[.!?] $/.test(text.slice(0, index));
    return words.length === 0 || (words.length === 1 && isFirst && words.length === found.split(" ").length)
      ? []
      : [words.join(" ")];
  });
}

const LEAD_IN =
  /^(?:(?:and|so|but|or|ok|okay|wait|anyway|hey|hi|sorry|um+|er+|well|now|then|oh|ah|yes|yeah|no|hm+|right|cool|great|thanks|what about|how about|what if it's|and what about|and how about)\b[,:!. ]*)+/i;
const CONJUNCTION_FIRST = /^(?:and|or|but|then|what about|how about|so)\b/i;
const VERBS: ReadonlySet<string> = wordSet(
  "is are was were am do does did can could will would should must have has had get got go want need like think know i i'm you it's that's thanks ok okay yes no yeah not please good nice cool fair true right sure maybe probably",
);
const BEFORE_QUESTION_WORD = /^(?:for|since|until|by|at|to|from|with) /i;
const QUESTION_WORD =
  /^(?:where|when|why|who|how|how long|how many|how much|how often|how far|what time|which one|what colour|how old|how big)$/i;
const ASKED_WORD =
  /^(?:what (?:year|day|time|colou?r|(?:kind|sort) of \p{L}+)|how (?:long|far|old|often|big|much|many \p{L}+)|who|what|where|when|why|how|which(?: \p{L}+)?)\b(?:'s\b)?/iu;
const COUNTED = /^(how many|how much|which|what) \p{L}+$/iu;
const BEGINS_AS_ASKED = /^(?:is|are|was|were|do|does|did|can|could|will|would|should|must|has|have|had)\b/i;
const PREPOSITION =
  /^(in|on|at|of|for|with|without|by|to|from|after|before|during|under|near) [\p{L}\p{N}'-]+(?: [\p{L}\p{N}'-]+){0,3}$/iu;
const NAME = /\p{Lu}[\p{L}'-]+(?: (?:(?:of|the|and|van|von|de|da|la) )?\p{Lu}[\p{L}'-]+){0,3}/gu;
const NAMES_ANY = /\p{Lu}\p{Ll}+/u;
/** Words that are capitalised at the start of sentences and are no names. */
const NO_NAME: ReadonlySet<string> = wordSet(
  "The A An I I'm It It's He She They We You Yes No And But So That That's This There What Who Where When Why How Which My Your His Her Our In On At To For From With About Usually Then If Is Are Was Were Do Does Did Can Could Will Would Should Good Right Ask Try Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December Two Three Four Five Six Seven Eight Nine Ten Not Oh Ok Okay Thanks Maybe Some Most One By Never Always Everyone Everybody Nobody We're They're You're He's She's I've I'd Has Had Have Ever Of As",
);
const BEFORE_PHRASE: ReadonlySet<string> = wordSet("the a an my your our his her of in to for from with on");
const NO_PHRASE: ReadonlySet<string> = wordSet(
  "is are was were do does did the a an of in to for from with on have has i you it we",
);
/** Contexts that no noun follows. */
const AFTER_SUBJECT_OR_VERB =
  /\b(?:i|you|we|he|she|it|they|can|could|should|would|will|do|does|did|to|not)\s*$/i;
const ARTICLE = /\b(?:the|an?) $/i;
const ARTICLED = /^(?:the|an?|my|your|our|his|her|their|some|any|\p{Lu}.*|.*s$)(?:\b|$)/u;
const YES_NO_QUESTION =
  /^(is|are|was|were|can|could|do|does|did|will|would|should|has|have) (my|your|our|his|her|the) \p{L}+ (.+)$/iu;
/** Remarks on an answer, which ask nothing. */
const REMARKS = (
  "really seriously hello hey hi what huh oops wow wrong honestly surely same never_mind next your_turn my_turn shut_up help " +
  "amazing fantastic brilliant great awesome interesting funny weird excuse_me pardon come_on anyone anything something nothing " +
  "me us such_as for_example like again enough stop wait is_that_so any_idea any_ideas promise since_when says_who meaning " +
  "so_what who_cares whatever anyway bye goodbye good_night good_morning good_evening exactly correct true false ha haha hahaha " +
  "lol my_god my_goodness my_word my_head"
)
  .split(" ")
  .map((remark) => remark.replaceAll("_", " "));
const MAX_AFTER_REMARK = 12;
const PRONOUN =
  /\b(?:it|its|they|them|their|he|him|his|she|her|there)\b(?! (?:is|are|was|were|any|a|an|some|enough)\b.{0,30}\b(?:that|which)\b)/i;
/** Phrases in which "it" and "there" have no antecedent. */
const EXPLETIVES: readonly RegExp[] = [
  /\b(?:are|is) (?:you|anyone|anybody|someone|somebody) (?:still )?(?:there|here)\b/iu,
  /\bhow(?:'s| is| are) (?:it|they|things) going\b/iu,
  /\bis it (?:late|early|cold|hot|warm|raining|dark|normal|true|possible|worth|rude|weird|wrong|right|bad|okay|ok|me|too|fair|legal|strange|common|just)\b/iu,
  /\bdoes it (?:hurt|matter|make)\b/iu,
  /\bit\b.{1,40}\bto (?!the\b|a\b|an\b|my\b)\p{L}+\b/iu,
  /\bwhat(?:'s| is| was) it like\b/iu,
];
const PEOPLE: ReadonlySet<string> = new Set(["he", "him", "his", "she", "her"]);
const PLURAL: ReadonlySet<string> = new Set(["they", "them", "their"]);
/** Words after which "her" is an object, not a possessive. */
const NOT_OWNED: ReadonlySet<string> = wordSet(
  "at in on to for from with about of by and or if when that this now then again today tomorrow tonight yesterday so too what how where why who the a an my your back up off out over away one",
);
const POSSESSIVE: ReadonlySet<string> = new Set(["its", "their", "his"]);
const RELATIONS =
  "sister brother mother mum mom father dad wife husband partner son daughter cousin aunt uncle niece nephew neighbou?r friend boss teacher gran grandma grandpa grandson granddaughter colleague flatmate boyfriend girlfriend doctor vet manager";
const RELATION = new RegExp(
  `\\b(?:my|our|the|his|her) (?:\\p{L}+ )?(?:${RELATIONS.replaceAll(" ", "|")})\\b`,
  "giu",
);
const PLACE = /\b(?:in|to|at|from|near) (?:the )?(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)*)/gu;
const THING = /\b(?:the|my|our|an?|his|her|this|that|these|those|some) \p{L}+/iu;
const NO_THING = "is|are|was|were|and|or|to|in|on|of|for|with";
const THINGS = new RegExp(
  `\\b(?:the|my|our|an?|his|her|some) (?:(?!(?:${NO_THING}|lot|bit|few|couple|one|day|time|way|thing)\\b)[\\p{L}'-]+ ?){1,2}?` +
    `(?=$|[,.;:!?]| (?:${NO_THING}|at|from|by|but|has|have|had|that|which|i|you|it|we|he|she|they|this|tonight|today` +
    "|tomorrow|yesterday|again|now|so|because|then|last|next|every)\\b)",
  "giu",
);
const MAX_ELLIPSIS_WORDS = 5;
const MAX_NAMED_CHARS = 120;
const MAX_TURNS = 9;
const MAX_CHARS = 400;
