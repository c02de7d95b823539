import { sameWords, stemsOf } from "../../heard/content-words.ts";
import { inSecondPerson } from "../../heard/second-person.ts";
import { NUMBER_FORM } from "../../heard/spoken-number.ts";
import type { Question } from "./question.ts";
import { type Statement, VERB } from "./statements.ts";
import { type AnswerKind, valuesOf } from "./values.ts";

/** What somebody told that answers their question, said back; `null` where nothing does for sure, or two things do. */
export function factFor(question: Question, told: readonly Statement[]): string | null {
  if (question.kind === "about") return whatWasSaid(question, told);
  if (question.kind === "name") return null;
  const fitting = told.filter(
    (one) => one.isNegated === question.isNegated && !one.isHearsay && tells(question, one),
  );
  const sure = fitting.filter((one) => [...question.stems].every((stem) => one.stems.has(stem)));
  const answers = sure.length > 0 ? sure : nearly(question, fitting);
  const newest = answers.at(-1);
  if (newest === undefined) return null;
  const isOne = new Set(answers.map((one) => toldValue(question, one))).size === 1;
  if (!isOne && !(CHANGES.test(newest.text) && answers.length === 2)) return null;
  const doubts = told.filter((one) => doubtful(one, newest, question));
  if (doubts.length > 0) return answers.length === 1 ? corrected(question, newest, doubts) : null;
  return saidBack([newest]);
}

/** "Am I a vegetarian?": what was told in just these words, said back; `null` where nothing was. */
export function whetherTold(asked: string, told: readonly Statement[]): string | null {
  const words = WHETHER.exec(asked.replace(/[\s?.!]+$/, ""))?.[1];
  if (words === undefined || ADVISES.test(words)) return null;
  const stems = stemsOf(words);
  const fitting = told.filter(
    (one) => !one.isHearsay && SAYS_I.test(one.text) && [...stems].every((stem) => one.stems.has(stem)),
  );
  const newest = fitting.at(-1);
  if (newest === undefined || stems.size === 0 || new Set(fitting.map((one) => one.isNegated)).size > 1)
    return null;
  const said = saidBack([newest]);
  return said === null ? null : `${newest.isNegated ? "No" : "Yes"}, y${said.slice(1)}`;
}

const WHETHER =
  /^(?:(?:and|so|but|wait|ok|okay|do you remember|remind me)[,:]? )*(?:(?:am|was|do|did|have) (?:i|we)|(?:if|whether) (?:i|we)) (.{2,60})$/i;
const ADVISES =
  /\b(?:need|have to|want|look|seem|sound|right|wrong|too|allowed|supposed|going to|make sense|know|understand)\b/i;

/** Whether nothing that somebody told can be what they ask for; said only of what was asked in so many words. */
export function isNeverTold(question: Question, told: readonly Statement[], spoken: string): boolean {
  if (!question.isExplicit || question.subject === "pronoun" || question.kind === "which") return false;
  const words = stemsOf(spoken);
  if ([...question.stems].some((stem) => words.has(stem))) return false;
  if (question.mine !== null && question.stems.size > 0)
    return question.kind !== "who" && !/^favou?rite$/i.test(question.mine);
  if (question.kind === "about") return question.stems.size > 0;
  if (!VALUED.has(question.kind)) return false;
  const kind = question.kind === "age" ? "many" : question.kind;
  return told.every(({ text }) => valuesOf(kind, text).length === 0);
}

/** Kinds of which it can be seen whether anything was told at all. */
const VALUED: ReadonlySet<AnswerKind> = new Set([
  "age",
  "when",
  "clock",
  "day",
  "much",
  "colour",
  "heavy",
  "far",
]);

/** Whether a statement tells something of the kind that is asked for, of whom it is asked. */
function tells(question: Question, statement: Statement): boolean {
  const { kind, subject, mine, stems, counted } = question;
  const { text } = statement;
  if (wordsIn(text) > MAX_WORDS || wordsIn(text) < MIN_WORDS) return false;
  if (subject === "I" && !SAYS_I.test(text)) return false;
  // "When does she start?" is told by a clause that speaks of her, too, and by nothing else.
  if (
    question.pronoun !== null &&
    (stems.size === 0 || !new RegExp(`^${question.pronoun}\\b`, "i").test(text))
  )
    return false;
  if (subject === "mine" && mine !== null && !speaksOf(mine, statement)) return false;
  if (kind === "many") return counted !== null && countOf(counted, text) !== null;
  if (kind === "age") return (subject !== "I" || AGE_OF_I.test(text)) && valuesOf(kind, text).length === 1;
  if (kind === "job") return (subject !== "I" || JOB_OF_I.test(text)) && valuesOf(kind, text).length > 0;
  if (kind === "which" || kind === "what") {
    const further = [...stemsOf(text)].filter((stem) => !stems.has(stem));
    if (mine !== null && subject === "mine" && !question.isExplicit && !NAMES_IT.test(text)) return false;
    return stems.size > 0 && further.length > 0 && (subject === "I" || HAS_VERB.test(text));
  }
  if (kind === "who") {
    const others = valuesOf(kind, text).filter((who) => mine === null || !who.includes(mine.toLowerCase()));
    return stems.size > 0 && others.length > 0;
  }
  // With nothing to go by, only what was asked in so many words.
  return valuesOf(kind, text).length > 0 && (stems.size > 0 || question.isExplicit);
}

/** What tells most of what is asked: of a longer question all but one word, and only where no other does. */
function nearly({ stems, isExplicit, kind }: Question, fitting: readonly Statement[]): Statement[] {
  if (!isExplicit || stems.size < 2 || kind === "what" || kind === "which") return [];
  const near = fitting.filter((one) => [...stems].filter((stem) => !one.stems.has(stem)).length <= 1);
  return near.length === 1 ? near : [];
}

function toldValue({ kind, counted }: Question, { text }: Statement): string {
  if (kind === "many") return countOf(counted ?? "", text) ?? "";
  const values = valuesOf(kind, text);
  return values.length > 0 ? values.join(" ") : text.toLowerCase();
}

/** How many of something a text tells. */
function countOf(counted: string, text: string): string | null {
  const counts = [...text.matchAll(COUNTS)].filter(([, , ...nouns]) =>
    nouns.some((noun) => noun !== undefined && stemsOf(noun).has(counted)),
  );
  return counts.length === 1 ? (counts[0]?.[1]?.toLowerCase() ?? null) : null;
}

const COUNTS = new RegExp(`\\b(${NUMBER_FORM}) ([\\p{L}']+)(?: ([\\p{L}']+))?`, "giu");

/** Whether a statement is of what somebody calls theirs, and not of something of that, or of somebody else's. */
function speaksOf(mine: string, { text, before }: Statement): boolean {
  const noun = sameWords(mine.replaceAll(/[^\p{L}\p{N}' ]/gu, "").replace(/s$/, "")).join("|");
  const form = new RegExp(
    `\\b(?:my|our|the|an?)(?: (?!of\\b|in\\b|at\\b|on\\b|and\\b)[\\p{L}-]+){0,2} (?:${noun})s?(?!'s (?!name\\b)\\w+ ${VERB}\\b)(?![\\p{L}-])`,
    "iu",
  );
  return form.test(text) || (before !== null && form.test(before));
}

/** Whether what came after a statement may mean that it does not hold. */
function doubtful(one: Statement, told: Statement, { kind, stems }: Question): boolean {
  if (one === told) return told.isCorrecting && !CHANGES.test(told.text);
  if (one.sentence < told.sentence) return false;
  if (kind === "job" && LEAVES_WORK.test(one.text)) return true;
  if (!one.isCorrecting && !one.isNegated) return false;
  if (one.isCorrecting && (one.isChange || (one.turn === told.turn && one.sentence === told.sentence + 1)))
    return true;
  return (
    POINTS_BACK.test(one.text) ||
    valuesOf(kind, one.text).length > 0 ||
    [...stems].some((stem) => one.stems.has(stem))
  );
}

/** "No, make that Friday": both are told, in order, where it is as plain as that. */
function corrected(question: Question, told: Statement, doubts: readonly Statement[]): string | null {
  const [doubt] = doubts;
  if (doubts.length !== 1 || doubt === undefined || doubt === told || doubt.isNegated || doubt.isHearsay)
    return null;
  const [first, then] = [valuesOf(question.kind, told.text), valuesOf(question.kind, doubt.text)];
  const isPlain = first.length === 1 && then.length === 1 && first[0] !== then[0];
  if (!isPlain || !PLAIN_CHANGE.test(doubt.text) || !NAMED_VALUES.has(question.kind)) return null;
  return `First you said ${asWritten(first[0] ?? "", told.text)}, and then ${asWritten(then[0] ?? "", doubt.text)}.`;
}

const NAMED_VALUES: ReadonlySet<AnswerKind> = new Set(["when", "day", "clock", "colour", "much"]);
const PLAIN_CHANGE =
  /^(?:(?:make (?:that|it)|it's|it is|i mean|i meant|that's)\b.{0,40}|(?:on |at )?[\w ]{1,20})$/i;

function asWritten(value: string, text: string): string {
  const start = text.toLowerCase().indexOf(value);
  return start < 0 ? value : text.slice(start, start + value.length);
}

/** The last two sentences that speak of something. */
function whatWasSaid({ stems }: Question, told: readonly Statement[]): string | null {
  if (stems.size === 0) return null;
  const about = told.filter(
    (one) => wordsIn(one.text) > 2 && [...stems].every((stem) => one.stems.has(stem)),
  );
  return about.length === 0 || about.slice(-2).some((one) => QUOTES.test(one.text))
    ? null
    : saidBack(about.slice(-2));
}

/** Clauses as they are said back to whoever told them; `null` where one cannot be. */
export function saidBack(statements: readonly Statement[]): string | null {
  const clauses = statements.map(({ text }) => inSecondPerson(begunSmall(text)));
  if (clauses.some((clause) => clause === null) || statements.some(({ text }) => wordsIn(text) > MAX_WORDS))
    return null;
  const said = clauses.map((clause) => (clause ?? "").replace(/[.!,;:\s]+$/, ""));
  const joined = said.reduce(
    (text, clause, n) => `${text}${statements[n]?.isCorrecting ? ", and then: " : ", and that "}${clause}`,
  );
  return `You said ${joined}.`;
}

/** Without the capital of a sentence's first word, unless that may be a name. */
function begunSmall(text: string): string {
  return text.replace(/^\p{Lu}(?=\p{Ll})[\p{L}]+/u, (word) =>
    SMALL.has(word.toLowerCase()) ? word.toLowerCase() : word,
  );
}

const SMALL: ReadonlySet<string> = new Set(
  (
    "my our the a an we he she it they this that these those there his her their in on at from to with for by after " +
    "before since until when while every all both some one two three today tomorrow tonight yesterday last next " +
    "mine ours me us dinner lunch breakfast everything nothing nobody everybody another only just almost about"
  ).split(" "),
);

function wordsIn(text: string): number {
  return text.split(" ").length;
}

/** A clause is of whoever says it: "I" comes before anybody else does. */
const SAYS_I =
  /^(?:(?!my\b|our\b|he\b|she\b|they\b|it\b|the\b|his\b|her\b|their\b|\p{Lu}\p{Ll}+ (?:is|was|and)\b)[\p{L}\p{N}'-]+,? ){0,4}(?:i|we|i'm|im|we're|i've|ive|we've|i'd|i'll|we'll|we'd)\b|^(?:me and my|my) \w+ and i\b/iu;
const AGE_OF_I = /\b(?:i'm|i am|im|i(?:'ve| have)? (?:just )?turn(?:ed)?|i was|aged)\b/i;
const JOB_OF_I = /\b(?:i'm|i am|im|i work|i worked|my job|for a living|i've (?:got )?a job|i have a job)\b/i;
const CHANGES = /\b(?:moved|changed|now|rescheduled|postponed|put (?:off|back)|brought forward)\b/i;
const LEAVES_WORK =
  /\b(?:quit|retired?|retiring|resigned|sacked|fired|laid off|redundant|last day|lost (?:my|the) job|left)\b/i;
const POINTS_BACK = /\b(?:it|it's|that|that's|this|they|they've|he|she|make)\b/i;
const QUOTES = /["“”]/;
const HAS_VERB = new RegExp(`\\b${VERB}\\b`, "i");
/** Speaks of it as theirs, or as what is known. */
const NAMES_IT = /\b(?:my|our|the)\b/i;
const MIN_WORDS = 2;
/** A clause of more words answers nothing in short. */
const MAX_WORDS = 24;
