import { inSecondPerson } from "../heard/second-person.ts";
import { plain, sentencesIn } from "../heard/sentences.ts";
import { isAsked } from "../heard/turn-form.ts";

/**
 * A question as a clause that may be said back, so that it is plain what was understood: "Does it need an oven?" has
 * "whether it needs an oven". `null` where it cannot be turned round by its form alone.
 */
export function indirectQuestion(newest: string): string | null {
  const asked = sentencesIn(newest)
    .findLast((sentence) => isAsked(sentence))
    ?.replace(/[\s?.!]+$/, "")
    .replace(LEAD_IN, "");
  if (asked === undefined || asked.length > MAX_CHARS || asked.split(" ").length < MIN_WORDS) return null;
  const clause = indirect(plain(asked));
  return clause === null ? null : inSecondPerson(clause);
}

/** A question as a clause after "I don't know", from the same person's mouth; `null` where its form is not plain. */
function indirect(asked: string): string | null {
  const text = (asked.charAt(0).toLowerCase() + asked.slice(1))
    .replaceAll(/\bI\b/g, "i")
    .replace(/^(how|what|why|when|where|who)'s\b/, "$1 is")
    .replace(/^(how|what|why|when|where|who)'re\b/, "$1 are")
    .replace(/, .{1,30}$/, "");
  const way = /^how (?:do|can|should|would|could) (?:i|we|you) (.+)$/.exec(text)?.[1];
  if (way !== undefined) return `how to ${way}`;
  const yesNo = YES_NO.exec(text);
  if (yesNo !== null) {
    const clause = declarative(yesNo[1] ?? "", yesNo[2] ?? "", yesNo[3] ?? "");
    return clause === null ? null : `whether ${clause}`;
  }
  const open = OPEN.exec(text);
  if (open !== null) {
    const [, word = "", auxiliary = "", subject = "", rest = ""] = open;
    // "What is the best one": all of it is what is asked for.
    if (/^(?:what|which|who)\b/.test(word) && BE.test(auxiliary))
      return `${word} ${subject} ${rest} ${auxiliary}`.replaceAll("  ", " ");
    const clause = declarative(auxiliary, subject, rest);
    return clause === null ? null : `${word} ${clause}`;
  }
  // "Who wrote it" and "which one is best" stand as they are.
  return SUBJECT_ASKED.test(text) && !ASKS_FURTHER.test(text) ? text : null;
}

/** "do", "i", "need an oven": "i need an oven". */
function declarative(auxiliary: string, subject: string, rest: string): string | null {
  const verb = auxiliary.toLowerCase();
  // Of "the last train to Leeds" it is not plain where it ends.
  if (OF_A_THING.test(subject) && !(BE.test(verb) ? SAID_OF_IT : VERB_FIRST).test(rest)) return null;
  if (
    /^(?:do|does|did)$/.test(verb) &&
    /^(?:always|ever|never|really|still|usually|often|actually|also|even) /.test(rest)
  )
    return null;
  if (rest.trim() === "" && !BE.test(verb)) return null;
  if (verb === "do") return `${subject} ${rest}`;
  if (verb === "does") {
    const [first = "", ...others] = rest.split(" ");
    return [subject, thirdPerson(first), ...others].join(" ");
  }
  if (verb === "did") {
    const [first = "", ...others] = rest.split(" ");
    const past = PAST.get(first.toLowerCase());
    return past === undefined ? null : [subject, past, ...others].join(" ");
  }
  return [subject, verb, rest].filter(Boolean).join(" ");
}

function thirdPerson(verb: string): string {
  if (verb === "have") return "has";
  if (/(?:s|x|z|ch|sh|o)$/.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}

const LEAD_IN =
  /^(?:(?:and|so|but|ok|okay|wait|anyway|hey|hi|sorry|um+|er+|well|now|then|oh|ah|yes|yeah|no|hm+|right|by the way|please|listen|actually|cool|great|thanks)\b[,:!. ]*)+/i;
const AUXILIARY =
  "is|are|was|were|am|do|does|did|can|could|will|would|should|shall|must|may|might|has|have|had";
/** What a question has between its verb and the rest: as much as is surely one subject. */
const SUBJECT =
  "(?:i|you|we|he|she|it|they|there|this|that|these|those|somebody|someone|anyone|everyone|people|(?:the|a|an|my|our|his|her|their|this|that|these|those|your) (?:[\\p{L}'-]+ ){0,1}?[\\p{L}'-]+|\\p{Lu}[\\p{L}'-]+)";
const YES_NO = new RegExp(`^(${AUXILIARY}) (${SUBJECT})(?: (.+))?$`, "u");
const OPEN = new RegExp(
  `^((?:at |in |on |from |to |for |with )?(?:how (?:many|much)(?: [\\p{L}'-]+){0,2}?|how (?:long|far|old|often|big|tall|hot|late|soon|early|high|deep|heavy|hard|well)|how|why|when|where|what time|what|which(?: [\\p{L}'-]+){0,2}?|what (?:kind|sort) of [\\p{L}'-]+|who)) (${AUXILIARY}) (${SUBJECT})(?: (.+))?$`,
  "u",
);
const SUBJECT_ASKED = new RegExp(
  `^which (?:one|of [\\p{L}' ]+) (?:is|are|was|were) |^(?:who|what(?! about\\b)|which [\\p{L}'-]+) (?!${AUXILIARY}\\b)[\\p{L}'-]{3,}\\b`,
  "u",
);
/** In "what jam should I make" somebody else does it. */
const ASKS_FURTHER = new RegExp(`^\\S+ \\S+ (?:${AUXILIARY}) (?:${SUBJECT})\\b`, "u");
const OF_A_THING = /^(?:the|a|an|my|our|his|her|their|this|that|these|those|your) /;
/** What a thing is, or where: begins what is surely no part of its name. */
const SAID_OF_IT =
  /^$|^(?:in|on|at|to|for|from|with|too|very|so|still|really|always|ever|open|closed|good|bad|safe|ok|okay|free|far|near|big|small|old|young|new|long|hot|cold|hard|easy|an?|the|there|here|about|enough|also|normal|healthy|dangerous|poisonous|expensive|cheap|true|right|wrong|like|called|made|better|worse|worth|\p{Ll}+(?:ing|ed))\b/u;
const VERB_FIRST =
  /^(?:need|cost|mean|leave|eat|bite|sleep|weigh|contain|grow|come|go|get|have|make|take|start|end|live|die|work|play|use|want|like|look|move|open|close|stop|help|last|happen|keep|run|fly|swim|hurt|smell|taste|begin|arrive|hold|fit|need|count|matter|know|say|lie|stand|sit|belong|include|require|bloom|bark|lay)\b/;
const BE = /^(?:is|are|was|were|am)$/;
const PAST: ReadonlyMap<string, string> = new Map(
  (
    "do did,go went,come came,get got,make made,take took,say said,see saw,find found,write wrote,win won,begin began," +
    "have had,give gave,know knew,think thought,leave left,lose lost,buy bought,tell told,build built,sing sang," +
    "happen happened,start started,end ended,live lived,die died,work worked,invent invented,play played,use used," +
    "need needed,want wanted,like liked,look looked,move moved,open opened,close closed,stop stopped,call called," +
    "ask asked,help helped,decide decided,discover discovered,paint painted,direct directed,become became,run ran"
  )
    .split(",")
    .map((pair) => pair.split(" ") as [string, string]),
);
const MAX_CHARS = 90;
const MIN_WORDS = 3;
