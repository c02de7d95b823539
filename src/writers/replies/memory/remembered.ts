import type { SpeakerLabel, Turn } from "../../../model/conversation.ts";
import { stemsOf } from "../../heard/content-words.ts";
import { plainWords } from "../../heard/said-before.ts";
import { MAX_TURN_CHARS, plain, sentencesIn } from "../../heard/sentences.ts";
import { apologiesFor, correctedWord } from "./corrections.ts";
import { factFor, isNeverTold, whetherTold } from "./facts.ts";
import { listOf, spokenList } from "./list.ts";
import { answerNamed, asksNameOfPronoun, namedIn } from "./named.ts";
import { answerName } from "./names.ts";

import { questionIn } from "./question.ts";
import { statementsOf } from "./statements.ts";

/** What has been heard, so that no line is said twice, and what chooses among those that were not. */
interface Choosing {
  /** As `plainWords`. */
  readonly heard: ReadonlySet<string>;
  readonly chance: number;
}

/**
 * Answers what somebody asks of what this conversation has heard: what they told of themselves, their list, what we said;
 * or takes the right word from them where they put us right. Everything that is said back was said by whoever it is
 * put down to. `null` where nothing of that is asked in a plain form, or the answer is in doubt.
 */
export function remembered(
  history: readonly Turn[],
  speaker: SpeakerLabel,
  choosing: Choosing,
): string | null {
  const newest = history.at(-1);
  if (newest?.text == null || newest.speaker === speaker || newest.text.length > MAX_TURN_CHARS) return null;
  const parts = newest.text.length <= MAX_ASKED_CHARS ? newest.text.split(BETWEEN_QUESTIONS) : [];
  if (parts.length > 1 && ASKS_BOTH.test(newest.text)) {
    const [first = "", ...others] = parts;
    const told = [first, ...others].map((part) =>
      remembered(
        [...history.slice(0, -1), { ...newest, text: `${part.replace(/[\s,?.!]+$/, "")}?` }],
        speaker,
        choosing,
      ),
    );
    return told.every((one) => one !== null && !NEVER_TOLD.includes(one)) ? told.join(" ") : null;
  }
  const name = answerName(history, speaker);
  if (name !== null) return name;
  const earlier = history.slice(0, -1);
  const ours = earlier.flatMap((turn) => (turn.speaker === speaker && turn.text !== null ? [turn.text] : []));
  const theirs = earlier.filter((turn) => turn.speaker === newest.speaker);
  const sentences = sentencesIn(newest.text);
  if (LIST.test(sentences.at(-1) ?? "")) {
    const items = listOf([...theirs.map(({ text }) => text ?? ""), sentences.slice(0, -1).join(" ")]);
    if (items !== null) return items.length === 0 ? "Nothing any more." : spokenList(items);
  }
  const named = namedIn(theirs.map(({ text }) => text ?? ""));
  const called = answerNamed(sentences.at(-1) ?? "", named);
  if (called !== null) return called;
  const isAfterOurs = earlier.at(-1)?.speaker === speaker;
  const own = ourWords(newest.text, ours, isAfterOurs);
  if (own !== null) return own;
  if (isAfterOurs && theirs.length > 0) {
    const before = theirs.map(({ text }) => text ?? "");
    const right = correctedWord(newest.text, earlier.at(-1)?.text ?? "", before);
    if (right !== null) return oneOf(apologiesFor(right), choosing);
  }
  const told = statementsOf(history, newest.speaker);
  if (named.length === 0 && asksNameOfPronoun(sentences.at(-1) ?? "") && theirs.length > 0) {
    const isUntold = theirs.every(({ text }) => text !== null && !NAMED.test(text));
    return isUntold ? oneOf(NEVER_TOLD, choosing) : null;
  }
  const whether = whetherTold(sentences.at(-1) ?? "", told);
  if (whether !== null) return whether;
  const names = new Set(named.map((one) => one.name.toLowerCase()));
  const question = questionIn(newest.text, names);
  if (question === null) return null;
  const fact = factFor(question, told);
  if (fact !== null) return fact;
  // What could not be heard may have told it.
  if (theirs.some(({ text }) => text === null)) return null;
  const spoken = theirs
    .flatMap(({ text }) => sentencesIn(text ?? ""))
    // Who asks for it has not told it by that.
    .filter((sentence) => questionIn(sentence)?.isExplicit !== true)
    .join("\n");
  return isNeverTold(question, told, spoken) ? oneOf(NEVER_TOLD, choosing) : null;
}

/** A name, somewhere within a sentence. */
const NAMED = /\p{Ll},? \p{Lu}\p{Ll}+/u;
const BETWEEN_QUESTIONS = /,? and (?=(?:what|who|when|where|which|how (?:old|many|much|long|far))\b)/i;
/** Both of what "and" joins are asked. */
const ASKS_BOTH =
  /^(?:\W*\w+\W+){0,6}?(?:what|who|when|where|which|how (?:old|many|much|long|far))\b.* and (?:what|who|when|where|which|how)\b/i;
const MAX_ASKED_CHARS = 200;

/** One that was not heard yet; `null` where all were. */
function oneOf(lines: readonly string[], { heard, chance }: Choosing): string | null {
  const fresh = lines.filter((line) => !heard.has(plainWords(line)));
  return fresh[chance % fresh.length] ?? null;
}

export const NEVER_TOLD: readonly string[] = [
  "I don't think you've told me that.",
  "You haven't told me that yet, as far as I can tell.",
  "That hasn't come up between us. Will you tell me?",
  "I can't find that in anything you've said so far.",
  "I don't believe you've mentioned it. What is it?",
  "You may have meant to tell me, but you haven't so far.",
];

const LIST =
  /^(?:(?:so|ok|okay|and|right|well|now|wait)[,.]? )*(?:what(?:'s| is) (?:now |still |left )?on (?:my|the) (?:\w+ )?list|what(?:'s| is) (?:left )?(?:my|in my|on my) (?:order|basket|list)|what(?:'s| is) on it|what (?:do|did) i (?:still )?(?:need|have to (?:buy|get))(?: to (?:buy|get))?|what did i say (?:that )?i (?:need|needed|wanted)(?: to (?:buy|get))?|(?:can you |please |could you )*(?:read|say|repeat|give|tell)(?: me)?(?: back)? (?:my|the) (?:\w+ )?(?:list|order)(?: back(?: to me)?)?|read that (?:list )?back(?: to me)?(?: would you)?)(?:,? (?:now|so far|again|please|then|at the moment))*[\s?.!]*$/i;

/**
 * What we said ourselves, where that is asked for: the sentence that has all of what it was about, or our last turn.
 * `null` where nothing or several things may be meant.
 *
 * @param ours our turns, oldest first
 * @param isAfterOurs whether the newest turn follows one of ours
 */
function ourWords(asked: string, ours: readonly string[], isAfterOurs: boolean): string | null {
  const text = plain(asked).replace(/[\s?.!]+$/, "");
  if (text.length > MAX_CHARS) return null;
  if (ONCE_MORE.test(text)) {
    const last = isAfterOurs ? sentencesIn(ours.at(-1) ?? "") : [];
    const told = last.filter((sentence) => !sentence.endsWith("?"));
    const said = told.length > 0 ? told : last;
    return said.length === 0 || said.length > MAX_SENTENCES ? null : `I said: ${said.join(" ")}`;
  }
  const about = SAID.map((form) => form.exec(text)?.[1]).find((words) => words !== undefined);
  if (about === undefined) return null;
  const isName = CALLED.test(about);
  const stems = new Set([...stemsOf(about.replace(CALLED, ""))].filter((stem) => stem.length > 1));
  if (stems.size === 0 && !isName) return null;
  const fitting = ours
    .flatMap((turn) => sentencesIn(turn))
    .filter((sentence) => {
      const words = stemsOf(sentence);
      return (
        !sentence.endsWith("?") &&
        [...stems].every((stem) => words.has(stem)) &&
        (!isName || CALLED.test(sentence))
      );
    });
  const different = [...new Set(fitting)];
  return different.length === 1 ? `I said: ${different[0]}` : null;
}

const ONCE_MORE =
  /^(?:(?:sorry|wait|pardon|excuse me|hang on|oh|hm+)[,.!?]? )*(?:what was that(?: again)?|what did you (?:just )?say(?: just now| again)?|what was that you (?:just )?said|can you (?:please )?(?:say|repeat) that(?: again| once more)?(?: please)?|(?:could|would) you (?:please )?(?:say|repeat) that(?: again| once more)?(?: please)?|please repeat that|repeat that(?: please)?|say (?:that|it) (?:again|once more)(?: please)?)(?:,? please)?$/i;
const SAID: readonly RegExp[] = [
  /^(?:(?:and|so|but|sorry|wait|ok|okay)[,.]? )*(?:what|where|when|who|which(?: \w+)?|how (?:much|many|long|far|old|often)|what time) did you (?:just )?say (?:that )?(?:about )?(.+?)(?: again)?$/i,
];
const CALLED =
  /\b(?:it(?:'s| is| was) called|(?:is|was|are|were)? ?(?:called|named)|(?:its|the) name (?:is|was)|it was called)\b/i;
const MAX_SENTENCES = 3;
const MAX_CHARS = 120;
