import type { Guess } from "./heads.ts";
import type { Polarity } from "./reply-book.ts";

/**
 * Whether nothing in a turn speaks against its being a joy, or a sorrow: to congratulate on a loss is the worst mistake,
 * and to condole with somebody whose mother did not die after all hardly a better one.
 */
export function mayBe(polarity: Polarity, turn: string | null): boolean {
  if (polarity === "plain") return true;
  return !(polarity === "good" ? NO_JOY : NO_SORROW).test((turn ?? "").slice(-LONGEST));
}

/** Whether a found reply has the wrong tone for a turn: its words, and the turn that it answered, against what is told. */
export function isOutOfTone(
  reply: string,
  polarity: Polarity,
  turn: string | null,
  { told }: Guess,
): boolean {
  if (REJOICES.test(reply) && !mayBe("good", turn)) return true;
  if (CONDOLES.test(reply) && !mayBe("bad", turn)) return true;
  return polarity === "good"
    ? told.bad > told.good + told.plain
    : polarity === "bad" && told.good > told.bad + told.plain;
}

/** Of a turn, from its end: what is told last sets the tone. */
const LONGEST = 600;
const REJOICES =
  /\b(?:congratulations|well done|good for you|how (?:wonderful|exciting|lovely|nice|great)|hooray|yay)\b/i;
const CONDOLES =
  /\b(?:sorry|oh no|poor you|what a (?:shame|pity|blow)|condolences|that['’]s (?:hard|sad|tough|rough))\b/i;

const NO_JOY =
  /\b(?:not|no|never|nobody|nothing|unfortunately|sadly|died|dead|death|cry|cried|crying|sad|lost|losing|fail(?:ed)?|worse|worst|hurts?|sick|ill|alone|lonely|divorced?|cancell?ed|broke|awful|miss|total{1,2}ed|crash(?:ed)?|wrecked|relapsed?|hospice|funeral|cancer|stolen|burned down)\b|n['’]t\b/i;
const NO_SORROW =
  /\b(?:not|never|n['’]t|no longer|nobody|nothing)\b.*\b(?:los[et]|die[ds]?|dead|fail(?:ed)?|hurt|broken?|fired|wrong|bad|sick|worse|cancer)\b|n['’]t (?:\w+ )?(?:los[et]|die|fail|hurt|break|get (?:fired|hurt))\b|\b(?:after all|came back|come home|(?:got|is|are|was|comes?) (?:out|home) (?:of|from) (?:the )?hospital|benign|all clear|in remission|(?:were|was|is|are) (?:found|fine|okay|ok|alright))\b/i;
