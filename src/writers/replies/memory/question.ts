import { stemsOf } from "../../heard/content-words.ts";
import { sentencesIn } from "../../heard/sentences.ts";

import type { AnswerKind } from "./values.ts";

/** A question for what whoever asks has told before. */
export interface Question {
  readonly kind: AnswerKind;
  /** What it speaks of, as stems, without the words that make it a question. */
  readonly stems: ReadonlySet<string>;
  /** Of whom: of themselves, of something of theirs, of what a pronoun means, or of something else. */
  readonly subject: "I" | "mine" | "pronoun" | "other";
  /** The pronoun, where nothing else shows that it was told; else `null`. */
  readonly pronoun: string | null;
  /** The first content word after "my", with its possessive; `null` where there is none. */
  readonly mine: string | null;
  /** What is counted, as a stem. */
  readonly counted: string | null;
  /** Asks for what is not. */
  readonly isNegated: boolean;
  /** Asks in so many words what was said. */
  readonly isExplicit: boolean;
}

/**
 * What is asked, where a turn ends in such a question and its form is plain; else `null`.
 *
 * @param names who was named by whoever asks, in small letters, where the answer is looked for in what they told: then
 * questions after those, and such as may be for something else ("Which gate?", "When does she start?"), are read, too
 */
export function questionIn(text: string, names: ReadonlySet<string> | null = null): Question | null {
  const sentences = sentencesIn(text);
  while (sentences.length > 1 && AFTERTHOUGHT.test(sentences.at(-1) ?? "")) sentences.pop();
  const last = sentences.at(-1) ?? "";
  if (last.length > MAX_CHARS || OTHER_TALKS.test(last)) return null;
  let asked = ` ${last} `
    .replace(/[\s?.!]+$/, "")
    .trim()
    .replace(LEAD_IN, "");
  let isCued = false;
  const cue = (form: RegExp): void => {
    const cut = asked.replace(form, "").trim();
    if (cut !== asked) isCued = true;
    asked = cut;
  };
  cue(REMINDS);
  const isIndirect = isCued || KNOWS.test(asked);
  asked = asked.replace(KNOWS, "");
  for (let n = 0; n < 3; n++) {
    cue(AGAIN);
    asked = asked.replace(TAIL, "").trim();
  }
  const match = ASKS.exec(asked);
  if (match === null) return null;
  let kind = KINDS[(match[1] ?? "").toLowerCase().replace(/\s+/g, " ")] ?? "what";
  let rest = (match[2] ?? "").trim();
  const said = rest.replace(SAID, " ").trim();
  const isExplicit = said !== rest;
  rest = (isExplicit ? said.split(/[,;]/)[0] : said)?.trim() ?? "";
  // What was said to others is another thing.
  if (/\b(?:you|your|yours)\b|^to\b/i.test(rest)) return null;
  const isDuty = names !== null && DUTY.test(rest);
  if (!isExplicit && !isDuty && MODALS.test(rest)) return null;
  const isDirect = /^\S+(?: \S+)?(?:'s|'re)$/i.test(
    match[0].slice(0, match[0].length - (match[2] ?? "").length).trim(),
  );
  const isMine =
    (OF_MINE.test(rest) && (isDirect || isIndirect || AUXILIARY.test(rest))) ||
    (names !== null && COSTS_ME.test(rest) && AUXILIARY.test(rest));
  const isElliptic = names !== null && ELLIPTIC.test(asked) && !NOW.test(asked);
  const isOfPronoun =
    names !== null &&
    /^(?:do|does|did|is|was|has) (?:he|she|it|they) \w/i.test(rest) &&
    kind !== "what" &&
    kind !== "which";
  const isOfNamed = (rest.toLowerCase().match(/[\p{L}-]+/gu) ?? []).some((word) => names?.has(word));
  if (!isExplicit && !isDuty && ASKS_ADVICE.test(`${kind} ${rest}`)) return null;
  const isOfTheirs = /\bof (?:my|our) \w+/i.test(match[0].slice(0, 30));
  if (
    !isExplicit &&
    !isCued &&
    !isMine &&
    !isDuty &&
    !isElliptic &&
    !isOfNamed &&
    !isOfPronoun &&
    !isOfTheirs &&
    !/ (?:i|we) (?:\w+ )?(?:picked|chose|settled on|wanted|ordered)$/i.test(rest)
  )
    return null;
  const counted = kind === "many" ? ([...stemsOf(rest.split(" ")[0] ?? "")][0] ?? null) : null;
  if (kind === "many" && counted === null) return null;
  if (kind === "what" || kind === "which") {
    if (NAMES.test(rest)) kind = "name";
    else if (/^about\b/i.test(rest)) kind = "about";
    else if (kind === "what") kind = THINGS.find(([form]) => form.test(rest))?.[1] ?? "what";
  }
  if (kind === "job") rest = rest.replace(/\b(?:job|for a living|for work)\b/gi, "");
  // "Which room was it?" asks for what was told of the room.
  if (isElliptic && (kind === "which" || kind === "what"))
    rest = `${rest} ${asked.replace(/^(?:which|what)(?:'s)?\b/i, "")}`;
  const asking = kind === "who" ? NEVER_CONTENT : ASKING;
  const stems = new Set(
    [...stemsOf(rest)].filter((stem) => !asking.has(stem) && !(kind === "much" && stem === "cost")),
  );
  const owner = /\b(?:my|our) ((?:\w+'s )?\w+)/i.exec(rest);
  const subject = /^(?:(?:is|was|are|were|do|does|did|am|have|has|'s) )?(?:he|she|it|they|that|this)\b/i.test(
    rest,
  )
    ? "pronoun"
    : /\b(?:i|we|i'm|we're|i've)\b/i.test(rest)
      ? "I"
      : owner !== null
        ? "mine"
        : "other";
  // What is asked in so few words must be all that there is of it.
  if (isElliptic && !isCued && !isMine && stems.size === 0) return null;
  const pronoun =
    isOfPronoun && !isExplicit && !isCued
      ? (/\b(?:he|she|it|they)\b/i.exec(rest)?.[0].toLowerCase() ?? null)
      : null;
  return {
    kind,
    stems,
    subject,
    pronoun,
    mine: owner?.[1] ?? null,
    counted,
    isNegated: NEGATED.test(rest),
    isExplicit,
  };
}

const NEGATED = /n't\b|\b(?:cannot|not)\b/i;
const DUTY =
  /^(?:can't|cannot|don't|didn't) (?:i|we) (?!do\b)\w|^(?:do|did) (?:i|we) (?:still )?(?:have to|need to|must) (?!do\b|buy\b|get\b|know\b|say\b)\w/i;
const COSTS_ME =
  /\b(?:cost|owe|with|lend|lent|give|gave|gives) (?:me|us|my)$|^(?:is|was|are|were) (?:coming|going|there) with (?:me|us)$/i;
/** "Which gate?", "What platform is it?", "What was the code?" */
const ELLIPTIC =
  /^(?:(?:at |on |in |from )?(?:which|what) (?!one\b|else\b|kind\b|sort\b|about\b|if\b|way\b|time is\b|day is\b)\w+(?: (?:is|was|are|were) (?:it|that|this|they))?|what (?:time|day|date) was (?:it|that)|(?:what|who|where|when)(?:'s| is| was) the (?!best\b|time\b|matter\b|point\b|weather\b|date\b|difference\b|news\b|problem\b|use\b|name\b|capital\b|most\b|least\b|first\b|last\b|next\b)\w+(?: \w+)?|(?:what|which) (?:day|date|time) (?:is|was) (?:the|my) \w+(?: \w+)?)$/i;
const NOW = /\b(?:today|now|currently|this)$/i;

/** Whether a turn may ask for what whoever asks has told, in forms that mostly ask for something else. */
export function asksOfTheirs(text: string): boolean {
  const last = sentencesIn(text).findLast((sentence) => OPEN.test(sentence)) ?? "";
  return last.length <= MAX_CHARS && (RECALLS.test(last) || (OF_US.test(last) && !ADVICE.test(last)));
}

const OPEN = /\b(?:what|who|whose|where|when|which|how (?:many|much|long|old|far|big)|read|list|remind)\b/i;
const RECALLS =
  /\b(?:again|was it|were they|did (?:i|we) (?:say|tell|mention|ask|want)|(?:i|we) (?:said|told|mentioned)|you remember|back to me|remind me)\b/i;
const OF_US = /\b(?:i|i'm|me|my|we|us|our|we're)\b/i;
const ADVICE =
  /\b(?:should|could|would|can|will|shall|might|must|need|how do|how can|do you|are you|your|you|better|best|say|tell|wear|do about|i do)\b/i;
const AUXILIARY = /^(?:\w+ ){0,2}?(?:is|was|are|were|do|does|did|am|have|has)\b/i;
const OF_MINE = /^(?:\w+ )?(?:(?:is|was|are|were|do|does|did|am|have|has) )?(?:my|our|i|we)\b/i;
/** "What do I write?" asks for something new. */
const ASKS_ADVICE =
  /^(?:what|which) do (?:i|we)\b(?! do\b| need\b)|^where do (?:i|we) (?!live\b|work\b|come\b|keep\b|study\b|sleep\b|play\b|volunteer\b)/i;
const LEAD_IN =
  /^(?:(?:and|so|but|ok|okay|wait|anyway|hey|hi|sorry|um+|er+|well|now|then|oh|ah|yes|yeah|no|lol|haha|right|hang on|by the way|please|excuse me|go on|listen|alright|actually|good)\b[,:!. ]*)+/i;
const REMINDS =
  /^(?:(?:do|did|can|could|will|would|don't) you (?:please |still |even |just |maybe |happen to )*(?:remember|recall|remind me)(?: again)?(?: of)?|(?:please |just )?remind me(?: again)?(?: of)?|tell me again|you (?:do )?remember|have you forgotten|i(?:'ve| have)? (?:forgot(?:ten)?|can't remember|cannot remember|don't remember|forget)|remember)[,: ]+/i;
const KNOWS =
  /^(?:(?:do|can|could|will|would) you (?:please |still |even |just |maybe )*(?:know|tell me|say|repeat)(?: back)?|tell me)[,: ]+/i;
const AGAIN =
  /[,\s]+(?:again|remind me|do you (?:still )?remember|can you remember|did you listen|i(?:'ve)? told you(?: (?:that|already|earlier|before|just now))*|if you were listening|checking u listen)$/i;
const TAIL =
  /[,\s]+(?:please|then|now|by the way|do you know|lol|mate|love|dear|earlier|before|just now|in the end|so far)$/i;
const AFTERTHOUGHT =
  /^(?:(?:i(?:'ve)? (?:told you|said(?: it| so)?|mentioned it)|i(?:'ve)? forgot(?:ten)?|go on|i'm testing you|do you (?:still )?(?:remember|know)|can you remember|remember|please)(?:,? (?:it|that|already|earlier|before|still|again|go on|i'm testing you))*)[.!?]*$/i;
const ASKS =
  /^(?:(?:at|in|on|from|to|for|which) )?(what time|(?:what|which) (?:day|date|month)|(?:what|which) colou?r|(?:what|which) (?:town|city|village|country|street|place)|(?:what|which) job|how (?:old|many|much|far|long|tall|high|heavy)|when|where|who|what|which)\b(?:'?s\b|'re\b)?(?: (?:one|of (?:my|our|the) \w+)\b)?(.*)$/i;
const KINDS: Readonly<Record<string, AnswerKind>> = {
  "what time": "clock",
  "what day": "day",
  "which day": "day",
  "what date": "day",
  "which date": "day",
  "what month": "day",
  "which month": "day",
  "what colour": "colour",
  "which colour": "colour",
  "what color": "colour",
  "which color": "colour",
  ...Object.fromEntries(
    ["town", "city", "village", "country", "street", "place"].flatMap((place) => [
      [`what ${place}`, "where"],
      [`which ${place}`, "where"],
    ]),
  ),
  "what job": "job",
  "which job": "job",
  "how old": "age",
  "how many": "many",
  "how much": "much",
  "how far": "far",
  "how long": "long",
  "how tall": "tall",
  "how high": "tall",
  "how heavy": "heavy",
  when: "when",
  where: "where",
  who: "who",
  which: "which",
};
/** What "what" asks for. */
const THINGS: readonly (readonly [form: RegExp, kind: AnswerKind])[] = [
  [/\b(?:the|my|our) (?:favou?rite )?colou?rs?\b/i, "colour"],
  [/\b(?:the|my|our|his|her) (?:date|day)\b/i, "day"],
  [/\b(?:the|my|our) time\b/i, "clock"],
  [/\bmy (?:own )?age\b/i, "age"],
  [/\b(?:the|its) price\b/i, "much"],
  [
    /\b(?:my|our) (?:\w+'s )?job\b|\bdo(?:es)? for (?:a living|work)\b|^(?:do )?(?:i|we) do$|^(?:does )?(?:my|our) \w+ do(?:es)?$/i,
    "job",
  ],
];
const SAID =
  /(?:^|\s)(?:did i (?:just |already |also |ever |even )*(?:say|tell (?:you|u)|mention)|(?:was it |it was )?(?:that |which )?(?:have i|i(?:'ve)?) (?:just |already |also |ever |even )*(?:said|told (?:you|u)|mentioned))(?: that\b)?(?: (?:earlier|before|just now))?(?=\s|,|$)/i;
const NAMES = /\b(?:name[sd]?|called|call)\b/i;
const MODALS =
  /\b(?:should|could|would|can|cannot|can't|will|might|must|shall|supposed|better|best way|have to|ought|gonna|wrong|matter)\b/i;
/** What was said in another conversation is not here, and no fault of anybody's. */
const OTHER_TALKS = /\b(?:yesterday|last (?:week|time|night|month)|the other day|ages ago|in the past)\b/i;
const NEVER_CONTENT = stemsOf(
  "again earlier remember remind before exactly still ago happen already about of must",
);
const ASKING: ReadonlySet<string> = new Set([
  ...NEVER_CONTENT,
  ...stemsOf("name named called call colour date month old got"),
]);
/** Longer is no such question. */
const MAX_CHARS = 140;
