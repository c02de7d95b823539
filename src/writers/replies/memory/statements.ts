import type { Turn } from "../../../model/conversation.ts";
import { stemsOf } from "../../heard/content-words.ts";
import { MAX_TURN_CHARS, sentencesIn } from "../../heard/sentences.ts";
import { isAsked } from "../../heard/turn-form.ts";

/** A clause in which somebody told something. */
export interface Statement {
  /** Without what leads in to it ("Well, …") or out of it ("…, by the way"). */
  readonly text: string;
  /** The clause before it where this one begins with "he", "she", "it" or "they" and that can mean one thing only. */
  readonly before: string | null;
  /** Of the clause and of what it refers to. */
  readonly stems: ReadonlySet<string>;
  /** Says what something is not. */
  readonly isNegated: boolean;
  /** Says that something told before does not hold, or may say it. */
  readonly isCorrecting: boolean;
  /** Takes something back in so many words, whatever it is. */
  readonly isChange: boolean;
  /** Tells of what others said, of a wish, a condition or a part that is played: nothing that holds. */
  readonly isHearsay: boolean;
  readonly turn: number;
  /** Counts the sentences of the conversation. */
  readonly sentence: number;
}

/** What a speaker told, oldest first; what they asked is no part of it, nor is how the newest turn ends. */
export function statementsOf(history: readonly Turn[], speaker: string): Statement[] {
  const found: Statement[] = [];
  let sentence = 0;
  for (const [turn, { speaker: who, text }] of history.entries()) {
    if (who !== speaker || text === null || text.length > MAX_TURN_CHARS) continue;
    let before: string | null = null;
    const all = sentencesIn(text);
    for (const [n, said] of all.entries()) {
      sentence++;
      if ((turn === history.length - 1 && n === all.length - 1) || /\?/.test(said) || isAsked(said)) {
        before = null;
        continue;
      }
      const isHearsay = HEARSAY.test(said);
      const isCorrecting = CORRECTS.test(said);
      for (const clause of clausesOf(said)) {
        const told: string = `${clause} `.replace(LEAD_IN, "").trim().replace(LEAD_OUT, "").trim();
        if (told === "") continue;
        const refers: string | null =
          REFERS.test(told) && before !== null && thingsIn(before) === 1 ? before : null;
        found.push({
          text: told,
          before: refers,
          stems: stemsOf(refers === null ? told : `${refers} ${told}`),
          isNegated: NEGATES.test(told),
          isCorrecting,
          isChange: isCorrecting && CHANGES.test(said),
          isHearsay,
          turn,
          sentence,
        });
        before = refers ?? told;
      }
    }
  }
  return found;
}

function clausesOf(sentence: string): string[] {
  return sentence.replace(/[.!\s]+$/, "").split(BETWEEN_CLAUSES);
}

/** How many persons and things a clause names, that a pronoun might mean. */
function thingsIn(clause: string): number {
  return (
    clause.match(/\b(?:my|our|the|an?|his|her|their|this|that)\s+\w+|(?<=\b(?:and|with|to|from) )\p{Lu}/giu)
      ?.length ?? 0
  );
}

/** What many clauses have that tell something, as a regular expression: rather too few than too many. */
export const VERB =
  "(?:\\w+'(?:s|m|re|ve|d|ll)|is|are|am|was|were|has|have|had|will|would|can|\\w{2,}ed|(?:live|work|come|start|cost|like|love|want|need|leave|go|open|close|cook|play|weigh|turn)(?:e?s)?|went|got)";
const SUBJECT = "(?:i|we|he|she|it|they|my|our|his|her|their|the)";
const BETWEEN_CLAUSES = new RegExp(
  `;\\s*| - |(?:,\\s*(?:and |but |so |because )?|\\s(?:and|but|so|because)\\s)(?=(?:i|we|he|she|it|they)(?:'|m\\b| \\w)|${SUBJECT}\\s(?:\\w+\\s){1,3}?${VERB}\\b|(?:my|our|the)\\s\\w+'s\\s)`,
  "i",
);
const LEAD_IN =
  /^(?:(?:(?:please )?remind me that|remember that|just so you know|fyi|oh|well|so|and|but|yes|yeah|yep|no|nope|ok|okay|hi|hello|hey|anyway|by the way|btw|um+|er+|actually|also|then|right|sure|sorry|look|listen|honestly|sadly|luckily|thanks|thank you|because|haha|lol|wait)[,!.:]*\s+)+/i;
const LEAD_OUT =
  /(?:,? (?:by the way|btw|you know|actually|though|too|lol|haha|please|thanks|thank you|well|in fact))+$/i;
const REFERS = /^(?:he|she|it|they|that)(?:'|\s)/i;
const NEGATES =
  /\b(?:not|never|no longer|nobody|nothing|none|neither|hardly|cancel\w*|without)\b|n't\b|\b(?:isnt|dont|doesnt|didnt|wasnt|cant|wont)\b|\bno (?!\d|one\b)/i;
const CORRECTS =
  /^(?:(?:oh|um+|er+|well|hang on|hold on)[,.]? )*(?:no|nope|actually|wait|sorry|correction|scratch that|i mean|make that)\b|^(?:oh,? )?(?:it's|it is|that's|they're) [^,]{1,30} now[.!]*$|\b(?:make (?:that|it)|i mean|i meant|scratch that|changed? (?:my|our|his|her|their) mind|instead|cancel\w*|postponed|rescheduled|moved|sold|gave away|no longer|not any ?more|rather than|actually|after all|put (?:off|back)|brought forward|changed|mistaken|wrong|, no,|used to)\b/i;
const CHANGES =
  /\b(?:no wait|wait|scratch that|make (?:that|it)|i mean|i meant|changed? (?:my|our) mind|on second thoughts?)\b/i;
const HEARSAY =
  /["“”]|(?:^|\s)'\p{L}[^']*'(?=[\s.,!]|$)|\b(?:said|says|say|told|tells|thinks?|thought|reckons?|ask(?:s|ed)?|claims?|wrote|promised|heard|according|supposedly|apparently|pretend\w*|imagine|suppose|if|unless|wish|dream\w*|joking|kidding|what if|as if|would|could|should|might|maybe|perhaps|used to|in the (?:film|book|story|song)|a friend|character|role)\b/iu;
