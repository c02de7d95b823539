import type { SpeakerLabel, Turn } from "../../core/conversation.ts";
import { sentencesOf } from "../../text/sentences/sentence-cutter.ts";

/** Returns a text's content words, crudely stemmed: enough to compare subjects. */
export function contentWords(text: string): Set<string> {
  const words =
    text
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}\p{N}']+/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word.replaceAll("'", ""))).map(stemOf));
}

/**
 * Returns the stems that a reply shares with its own conversation. Most retrieved replies fail by naming what only
 * that had (a cousin, Friday, a name), so the new conversation must have them all.
 */
export function wordsFromContext(reply: string, turns: readonly string[]): string[] {
  const heard = contentWords(turns.join(" "));
  return [...contentWords(reply)].filter((word) => heard.has(word));
}

/** Returns the numbers, days and months of a reply, which are true only in its own conversation. */
export function datesAndNumbers(reply: string): string[] {
  return [...contentWords(reply)].filter((stem) => DATES_AND_NUMBERS.has(stem) || /\d/.test(stem));
}

/** Returns whether a reply has a name, number or day that was not said. */
export function namesSomethingNew(reply: string, said: ReadonlySet<string>): boolean {
  const names = [...reply.matchAll(NAME)].flatMap(([name]) => [...contentWords(name)]);
  return [...names, ...datesAndNumbers(reply)].some((word) => !said.has(word));
}

/** A capitalised word within a sentence. */
const NAME = /(?<=[\p{L}\p{N},;:'’)-] )(?!I\b)\p{Lu}[\p{L}'’-]+/gu;

/** Returns whether a reply asserts something new about the user: "You've nerves of steel." */
export function claimsAboutUser(reply: string, said: ReadonlySet<string>): boolean {
  return [...reply.matchAll(ABOUT_USER)].some(([, claim = ""]) => {
    const words = [...contentWords(claim)];
    return words.length > 0 && words.every((word) => !said.has(word));
  });
}

/** Returns whether a reply refers to earlier turns: "You told me that." */
export function refersToEarlierTurns(reply: string): boolean {
  return EARLIER_TURNS.test(reply);
}

const EARLIER_TURNS =
  /\byou(?:['’]ve| have)?(?: not|n['’]t| haven['’]t| never| didn['’]t| just| already)* (?:told|tell|mentioned?|said|say) (?:me|it|so|that|the|your|you|which|what|when|where|who|how|any)\b/i;

/** Returns whether a reply asks a choice ("Girl or boy?") that was already answered. */
export function asksSomethingAnswered(reply: string, said: ReadonlySet<string>): boolean {
  return [...reply.matchAll(EITHER_OR)].some((match) =>
    [...contentWords(match.slice(1).join(" "))].some((word) => said.has(word)),
  );
}

const ABOUT_USER =
  /(?:^|[.!?] )You(?:'ve| have|'re| are| enjoy| love| like)(?! (?:to|better|best|welcome|right|not) )([^.!?]*)/g;
const EITHER_OR = /(?:^|[,.!?;:] )(?:an? |the )?([\p{L}'-]+) or (?:an? |the )?([\p{L}'-]+)\?/giu;

function stemOf(word: string): string {
  const bare = word.replaceAll(/^'+|'+$/g, "");
  const ending = ENDINGS.find((end) => bare.endsWith(end) && bare.length - end.length >= 3);
  const stem = ending === undefined ? bare : bare.slice(0, -ending.length);
  return stem.length > 3 ? stem.replace(/e$/, "") : stem;
}

const ENDINGS = ["'s", "ing", "ies", "es", "ed", "s", "ly"];

/** Words without a subject of their own, apostrophes removed. */
const COMMON = new Set(
  (
    "a an the i you he she it we they my your his her its our their me him them us is are was were be been am do does " +
    "did have has had will would can could should to of in on at for with and or but so not no yes what which who how " +
    "why when where that this these those there here just really very im its ive id ill dont didnt whats thats get go " +
    "one day time good nice today want need know think make thing lot"
  ).split(" "),
);

const DATES_AND_NUMBERS = contentWords(
  "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen " +
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million monday tuesday wednesday thursday friday saturday sunday january february april june july august september " +
    "october november december",
);

/** Returns a speaker's texts and sentences so far, as {@link plainWords}. */
export function spokenTexts(history: readonly Turn[], speaker: SpeakerLabel): ReadonlySet<string> {
  const own = history.filter((turn) => turn.speaker === speaker).map(({ text }) => text ?? "");
  // Longer turns come from the client, not from the replies.
  const short = own.filter((text) => text.length <= MAX_REPEATED_CHARS);
  return new Set(short.flatMap((text) => [text, ...sentencesOf(text)]).map(plainWords));
}

const MAX_REPEATED_CHARS = 600;

/** Returns lower-case words for comparison. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
