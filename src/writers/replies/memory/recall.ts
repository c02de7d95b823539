import { stemsOf } from "../../heard/content-words.ts";
import { plain, sentencesIn } from "../../heard/sentences.ts";
import { isAsked } from "../../heard/turn-form.ts";
import { saidBack } from "./facts.ts";
import type { Statement } from "./statements.ts";
import { type AnswerKind, valuesOf } from "./values.ts";

/** A clause that somebody told, how it is said back, and what is known of it as an answer. */
export interface Recalled {
  readonly text: string;
  readonly saidBack: string;
  /** For {@link evidenceOf}. */
  readonly features: readonly number[];
}

/**
 * What of all that somebody told may answer the newest turn, the newest first. What they told in the same breath leads up to
 * the question, and is no answer unless they ask what they said.
 *
 * @param turn the newest turn's number, as {@link Statement.turn}
 */
export function recallable(newest: string, turn: number, told: readonly Statement[]): Recalled[] {
  const asked = askedIn(newest);
  // Whether something is so is asked of us.
  if (!asked.isOpen && !asked.recalls) return [];
  const kept = told
    .filter((one) => one.turn < turn || asked.recalls)
    .filter(({ text }) => text.split(" ").length >= MIN_WORDS && !OF_TALKING.test(text))
    .slice(-MAX_CLAUSES);
  const shares = kept.map((one) => shareOf(asked, one));
  const most = Math.max(0, ...shares);
  return kept
    .map((statement, n) => ({ statement, n }))
    .reverse()
    .flatMap(({ statement, n }) => {
      const right = correctionOf(statement, told);
      const said = saidBack(right === null ? [statement] : [statement, right]);
      return said === null
        ? []
        : [
            {
              text: statement.text,
              saidBack: said,
              features: recallFeatures(asked, statement, shares[n] ?? 0, most, (n + 1) / kept.length),
            },
          ];
    });
}

/** The features of a clause, and with them how near its meaning is to the question's, -1 to 1. */
export function evidenceOf(features: readonly number[], nearness: number): readonly number[] {
  const near = Math.max(0, nearness - 0.3) / 0.5;
  const [, share = 0, , , , hasKind = 0, , ofThem = 0] = features;
  return [...features, near, near * hasKind, near * share, near * ofThem];
}

/** How many numbers that are. */
export const EVIDENCE = 26;

/** What was put in a clause's place in the two sentences after it. */
function correctionOf(one: Statement, told: readonly Statement[]): Statement | null {
  return (
    told.find(
      (later) =>
        later.isCorrecting &&
        !TAKES_BACK_ONLY.test(later.text) &&
        !one.isCorrecting &&
        later.sentence > one.sentence &&
        later.sentence <= one.sentence + 2,
    ) ?? null
  );
}

interface Asked {
  readonly stems: ReadonlySet<string>;
  readonly names: readonly string[];
  readonly kind: AnswerKind | "year" | null;
  /** Of themselves, or of what is theirs. */
  readonly isOfThem: boolean;
  readonly isOpen: boolean;
  readonly recalls: boolean;
  readonly advises: boolean;
  readonly addresses: boolean;
  readonly hasPronoun: boolean;
  /** Speaks of things in general. */
  readonly isGeneral: boolean;
}

function askedIn(newest: string): Asked {
  const sentences = sentencesIn(plain(newest));
  const asked =
    sentences.findLast((sentence) => isAsked(sentence)) ??
    sentences.findLast((sentence) => OPEN.test(sentence)) ??
    "";
  return {
    stems: new Set([...stemsOf(asked)].filter((stem) => !ASKING.has(stem))),
    names: asked.match(/(?<=\p{L}.*)\p{Lu}\p{Ll}+/gu) ?? [],
    kind: KINDS.find(([form]) => form.test(asked))?.[1] ?? null,
    isOfThem: /\b(?:i|i'm|me|my|mine|we|us|our|ours)\b/i.test(asked),
    isOpen: OPEN.test(asked),
    recalls: RECALLS.test(newest),
    advises: ADVISES.test(asked),
    addresses: /\b(?:you|your|u)\b/i.test(asked.replace(RECALLS, "")),
    hasPronoun: PRONOUN.test(asked),
    isGeneral: GENERAL.test(asked),
  };
}

function shareOf({ stems }: Asked, one: Statement): number {
  const met = [...stems].filter((stem) => one.stems.has(stem)).length;
  return stems.size === 0 ? 0 : met / stems.size;
}

/** What is known of a clause as an answer to what is asked, numbers from 0 to 1. */
function recallFeatures(
  asked: Asked,
  one: Statement,
  share: number,
  most: number,
  recency: number,
): readonly number[] {
  const values = asked.kind === null ? [] : valuesIn(asked.kind, one.text);
  const isKnown = asked.kind === null ? 0 : 1;
  const hasKind = values.length > 0 ? 1 : 0;
  const ofThem = asked.isOfThem ? 1 : 0;
  const recalls = asked.recalls ? 1 : 0;
  return [
    1,
    share,
    share === most && most > 0 ? 1 : 0,
    asked.names.length === 0
      ? 0
      : asked.names.filter((name) => one.text.includes(name)).length / asked.names.length,
    isKnown,
    hasKind,
    share * hasKind,
    ofThem,
    ofThem * share,
    asked.isOpen ? 1 : 0,
    recalls,
    recalls * share,
    asked.advises ? 1 : 0,
    asked.addresses ? 1 : 0,
    asked.hasPronoun ? 1 : 0,
    asked.isGeneral ? 1 : 0,
    Math.min(1, asked.stems.size / 4),
    recency,
    one.isNegated ? 1 : 0,
    one.isCorrecting ? 1 : 0,
    one.isHearsay ? 1 : 0,
    Math.min(1, one.text.split(" ").length / 15),
  ];
}

function valuesIn(kind: AnswerKind | "year", text: string): readonly string[] {
  switch (kind) {
    case "year":
      return text.match(/\b(?:19|20)\d\d\b|\bnineteen [a-z-]+\b/gi) ?? [];
    case "name":
      return text.match(/(?<=\p{Ll},? )\p{Lu}\p{Ll}+|\b(?:called|named) \w+/gu) ?? [];
    case "age":
      return [...valuesOf("age", text), ...valuesOf("many", text)];
    case "much":
      return [...valuesOf("much", text), ...valuesOf("many", text)];
    case "which":
      return text.match(/\b(?:\d+\w?|\p{Lu}\p{Ll}+)\b/gu) ?? [];
    default:
      return valuesOf(kind, text);
  }
}

const OPEN = /\b(?:what|who|whose|where|when|which|how (?:many|much|long|old|far|big|often))\b/i;
const RECALLS =
  /\b(?:again|remind me|(?:do|can|did) (?:you|u) (?:still )?(?:remember|recall|know)|did (?:i|we) (?:say|tell|mention)|(?:i|we) (?:said|told (?:you|u)|mentioned)|back to me|read (?:it|that|me))\b/i;
const ADVISES =
  /\b(?:should|could|would|can i|can we|shall|might|ought|better|best|how do|how can|recommend|suggest|any ideas)\b/i;
const PRONOUN = /\b(?:he|she|it|they|him|her|his|its|them|their|that|this|one)\b/i;
const KINDS: readonly (readonly [form: RegExp, kind: AnswerKind | "year"])[] = [
  [/\b(?:what|which) year\b/i, "year"],
  [/\b(?:what time|what hour|how late)\b/i, "clock"],
  [/\b(?:what|which) (?:day|date|month|weekday)\b/i, "day"],
  [/\bwhen\b/i, "when"],
  [/\b(?:where|(?:what|which) (?:city|town|country|street|village|place))\b/i, "where"],
  [/\bcolou?r\b/i, "colour"],
  [/\bhow old\b|\bage\b|\bhow many years has\b/i, "age"],
  [/\bhow many\b/i, "many"],
  [/\bhow much\b|\bprice\b|\bcost\b/i, "much"],
  [/\bhow long\b/i, "long"],
  [/\bhow far\b/i, "far"],
  [/\b(?:names?|called|named)\b/i, "name"],
  [/\bwho\b|\bwhose\b/i, "who"],
  [/\bjob\b|\bfor a living\b|\bdo(?:es)? for work\b/i, "job"],
  [/\bwhich\b/i, "which"],
];
const ASKING = stemsOf(
  "again remember remind exactly still tell name called what which colour year city mean",
);
const GENERAL =
  /\b(?:an?|people|usually|normally|generally|always|most|best|\p{L}{3,}est|invented|discovered|famous|in general|else|instead|next|(?:do|are) (?!my\b|our\b|the\b|these\b|those\b|we\b|they\b|you\b)\p{L}+s)\b/iu;
const TAKES_BACK_ONLY = /^(?:no|wait|sorry|actually|scratch that|i mean|correction|hang on)$/i;
const MAX_CLAUSES = 12;
/** Says something of what is said, and tells nothing. */
const OF_TALKING =
  /^(?:that's|this is|it's) (?:what|how|why)\b|^(?:i|we) (?:think|mean|guess|suppose|know|see|agree)(?: so)?$/i;
/** Fewer tell nothing. */
const MIN_WORDS = 3;
