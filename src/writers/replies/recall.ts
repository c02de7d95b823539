import type { Turn } from "../../model/conversation.ts";

/**
 * Answers what somebody asks of what they said themselves: their name, or what somebody or something of theirs is called.
 * `null` where that is not asked, or was not said in these plain forms.
 */
export function recalled(history: readonly Turn[], speaker: string): string | null {
  const asked = plain(history.at(-1)?.text ?? "");
  const said = history
    .slice(0, -1)
    .filter((turn) => turn.speaker !== speaker)
    .map((turn) => plain(turn.text ?? ""))
    .reverse();
  if (MY_NAME.test(asked)) {
    const name = first(said, NAMED);
    return name === null
      ? "You haven't told me your name. What should I call you?"
      : `You told me your name is ${name}.`;
  }
  const thing = THEIR_NAME.exec(asked)?.[1]?.toLowerCase();
  if (thing === undefined) return null;
  const called = new RegExp(
    `\\b(?:[Mm]y|[Oo]ur|[Tt]he|[Aa]) (?:\\w+ )?${thing}(?:'s name is|'s called| is called| is named| called| named|,) ([A-Z][\\p{L}'-]+)`,
    "gu",
  );
  const name = first(said, called);
  return name === null ? null : `Your ${thing}'s name is ${name}.`;
}

const MY_NAME =
  /\b(?:what(?:'s| is) my name|what am i called|remember my name|know my name|who am i)\b[^.]*\?*$/i;
const THEIR_NAME = /\bwhat(?:'s| is| was) (?:my|our) (\w+)(?:'s name| called| named)\b/i;
const NAMED =
  /\b(?:[Mm]y name(?:'s| is)|[Cc]all me|[Ii]'m called|(?:^|[.!,] )?[Tt]his is|I'm|I am) ([A-Z][\p{L}'-]+)\b(?! (?:is|was|and I|here to))/gu;

function first(said: readonly string[], form: RegExp): string | null {
  for (const text of said) {
    const names = [...text.matchAll(form)].map((match) => match[1] ?? "");
    const name = names.findLast((each) => !NO_NAMES.has(each));
    if (name !== undefined) return name.replace(/'s$/, "");
  }
  return null;
}

/** Written with a capital after "I'm", and no name. */
const NO_NAMES = new Set(
  "I Not Just Sorry So Very Really Fine Good Well From In At On A An The Here Back Italian German French English Spanish American British Irish Polish Indian Chinese Japanese Canadian Scottish Welsh Dutch Mexican Australian Christian Jewish Muslim Catholic".split(
    " ",
  ),
);

function plain(text: string): string {
  return text.replaceAll("’", "'").replaceAll(/\s+/g, " ").trim();
}
