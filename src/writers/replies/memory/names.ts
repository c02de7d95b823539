import type { Turn } from "../../../model/conversation.ts";
import { NAME, namesIn, ownName } from "../../heard/names.ts";
import { plain } from "../../heard/sentences.ts";

/**
 * Answers what somebody asks of what they said themselves: their name, or what somebody or something of theirs is called.
 * `null` where that is not asked, was not said in these plain forms, or may be either of two.
 */
export function answerName(history: readonly Turn[], speaker: string): string | null {
  const newest = history.at(-1);
  const asked = plain(newest?.text ?? "");
  // What others said of themselves is nothing that whoever asks has said.
  const said = history
    .slice(0, -1)
    .filter((turn) => turn.speaker !== speaker && turn.speaker === newest?.speaker)
    .map((turn) => plain(turn.text ?? ""))
    .reverse();
  if (MY_NAME.test(asked)) {
    const name = ownName([asked, ...said]);
    return name === null
      ? "You haven't told me your name. What should I call you?"
      : `You told me your name is ${name}.`;
  }
  const [, whose, thing] = THEIR_NAME.map((form) => form.exec(asked)).find((found) => found !== null) ?? [];
  if (whose === undefined || thing === undefined) return null;
  const isTheirs = whose.toLowerCase() !== "the";
  const called = new RegExp(
    `\\b(?:[Mm]y|[Oo]ur|${isTheirs ? "" : "[Tt]he|"}(?:have|got|adopted) an?) (?:\\w+ )?${thing.toLowerCase()}(?:(?:'s name is|'s called| is called| is named| called| named|) ${NAME}|, ${NAME}(?=[,.!?]|$))`,
    "gu",
  );
  const names = new Set(said.flatMap((text) => namesIn(text, called)));
  const [name] = names;
  return name === undefined || names.size > 1
    ? null
    : `${isTheirs ? "Your" : "The"} ${thing.toLowerCase()}'s name is ${name}.`;
}

const MY_NAME =
  /(?:\bwhat(?:'s| is| was) my name|\bwhat am i called|\b(?:do|did|can|will) you (?:still |even )?(?:remember|know|recall) my name|^(?:(?:and|so|but|wait),? )?who am i)(?:,? (?:again|then|now|yet|please|by the way))?[\s?.!]*$/i;
const THEIR_NAME = [
  /\bwhat(?:'s| is| was) (my|our|the) (\w{1,30}?)(?:'?s name| called| named)\b/i,
  /\bwhat (?:did|have) i (?:say|said|tell you|told you) (?:that )?(my|our|the) (\w{1,30}?)(?:'?s name (?:is|was)|(?:'s| is| was) (?:called|named))\b/i,
  /\b(?:remember|recall|know|forgotten|forget) (my|our|the) (\w{1,30}?)'?s name\b/i,
];
