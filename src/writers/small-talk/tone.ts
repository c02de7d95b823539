import type { Polarity, Tone } from "./canned-replies.ts";
import type { TurnClassification } from "./classify-turn.ts";

/** Returns whether the words allow good (or bad) news. Congratulating on a loss is the worst error. */
export function allowsPolarity(polarity: Polarity, turn: string): boolean {
  if (polarity === "plain") return true;
  const end = turn.slice(-MAX_CHARS);
  return polarity === "good" ? !NO_JOY.test(end) : !NO_SORROW.test(end) && !isReversed(end);
}

/** Returns whether harm ended or was averted, and nobody died; "didn't survive the stroke" reverses twice. */
function isReversed(turn: string): boolean {
  const clauses = turn.split(/[.,!?;]|\bbut\b/);
  return (
    clauses.some((clause) => HARM.test(clause) && [...clause.matchAll(REVERSALS)].length % 2 === 1) &&
    !clauses.some((clause) => DEATH.test(clause) && !NEGATION.test(clause))
  );
}

/**
 * Returns whether a retrieved reply has the wrong tone, by its words or by the turn that it answered.
 *
 * @param tone of the answered turn, an index into `tones`
 */
export function isOutOfTone(
  reply: string,
  tone: number,
  turn: string,
  classification: TurnClassification,
  tones: readonly Tone[],
): boolean {
  if (REJOICES.test(reply) && !allowsPolarity("good", turn)) return true;
  // Replies to neutral turns mostly fit good news too.
  return tones[tone]?.polarity === "plain"
    ? polarityProbability("bad", classification, tones) > MAX_SORROW
    : toneFit(tone, classification, tones) < MIN_FIT;
}

/** Returns the tone whose lines fit best, over the turn's tone probabilities. */
export function bestTone(classification: TurnClassification, tones: readonly Tone[]): Tone {
  const fits = tones.map((_, n) => toneFit(n, classification, tones));
  return tones[fits.indexOf(Math.max(...fits))]!;
}

/**
 * Returns the expected agreement of a tone's lines with a turn, from -1 to 1: 1 for the same tone, 0.6 for a
 * compatible one, -1 for the opposite polarity.
 */
function toneFit(said: number, { tones: odds }: TurnClassification, tones: readonly Tone[]): number {
  const saying = tones[said];
  return tones.reduce((sum, tone, n) => sum + (odds[n] ?? 0) * toneAgreement(saying, tone), 0);
}

/** Returns whether a reply rejoices, by its words or by the turn that it answered. */
export function isGlad(reply: string, tone: number, tones: readonly Tone[]): boolean {
  return REJOICES.test(reply) || tones[tone]?.polarity === "good";
}

/** Returns whether a reply condoles, by its words or by the turn that it answered. */
export function isCondoling(reply: string, tone: number, tones: readonly Tone[]): boolean {
  return CONDOLES.test(reply) || tones[tone]?.polarity === "bad";
}

/**
 * Returns whether a turn tells of a death or blow, after which only sure good news is congratulated on for a while.
 */
export function isGraveNews(
  turn: string,
  classification: TurnClassification,
  tones: readonly Tone[],
): boolean {
  const grave = tones.reduce(
    (sum, { name }, n) => sum + (GRAVE.has(name) ? (classification.tones[n] ?? 0) : 0),
    0,
  );
  // The head knows few words for separation.
  return (
    allowsPolarity("bad", turn) &&
    (grave >= SURELY_GRAVE ||
      (GRAVE_WORDS.test(turn.slice(-MAX_CHARS)) &&
        polarityProbability("good", classification, tones) < SURELY_GRAVE))
  );
}

export function isGoodNews(
  turn: string,
  classification: TurnClassification,
  tones: readonly Tone[],
): boolean {
  return allowsPolarity("good", turn) && polarityProbability("good", classification, tones) >= SURELY_GRAVE;
}

/** Returns whether good news is sure, whatever came before. */
export function isSurelyGood(classification: TurnClassification, tones: readonly Tone[]): boolean {
  return polarityProbability("good", classification, tones) >= SURELY_SO;
}

/** Returns whether bad news is sure, whatever came before. */
export function isSurelyBad(
  turn: string,
  classification: TurnClassification,
  tones: readonly Tone[],
): boolean {
  return (
    GRAVE_WORDS.test(turn.slice(-MAX_CHARS)) || polarityProbability("bad", classification, tones) >= SURELY_SO
  );
}

/** Returns whether the classifier contradicts good (or bad) news. */
export function contradictsPolarity(
  polarity: Polarity,
  classification: TurnClassification,
  tones: readonly Tone[],
): boolean {
  const [bad, good] = [
    polarityProbability("bad", classification, tones),
    polarityProbability("good", classification, tones),
  ];
  return polarity === "good" ? bad > good : polarity === "bad" && good > bad;
}

/** Returns the total probability of tones of this polarity. */
function polarityProbability(
  polarity: Polarity,
  { tones: odds }: TurnClassification,
  tones: readonly Tone[],
): number {
  return tones.reduce((sum, tone, n) => sum + (tone.polarity === polarity ? (odds[n] ?? 0) : 0), 0);
}

function toneAgreement(said: Tone | undefined, user: Tone): number {
  if (said === undefined) return 0;
  if (said === user) return 1;
  if (said.fits.includes(user.name)) return PARTIAL_AGREEMENT;
  return said.polarity !== user.polarity && said.polarity !== "plain" && user.polarity !== "plain" ? -1 : 0;
}

const PARTIAL_AGREEMENT = 0.6;
/** Minimum fit of a reply to a non-neutral turn. */
const MIN_FIT = 0.2;
/** Maximum probability of bad news for a reply to a neutral turn. */
const MAX_SORROW = 0.6;
/** Characters from a turn's end, which sets the tone. */
const MAX_CHARS = 600;
/** Probabilities of likely and of sure news: sixteen years of marriage have 0.83. */
const SURELY_GRAVE = 0.5;
const SURELY_SO = 0.95;
const GRAVE: ReadonlySet<string> = new Set(["grief", "blow"]);
const GRAVE_WORDS = anyOf(
  "separated|separating|divorc\\w+|split up|splitting up|(?:broke|broken|breaking) up|(?:left|leaving) me",
  "moved out|walked out|died|passed away|funeral|buried|widow(?:ed|er)?|miscarr\\w+|hospice|terminal",
  "laid off|made redundant|stillborn",
);
const REJOICES =
  /\b(?:congratulations|well done|good for you|how (?:wonderful|exciting|lovely|nice|great)|hooray|yay)\b/i;
const CONDOLES =
  /\b(?:sorry|oh no|poor you|what a (?:shame|pity|blow)|condolences|that['’]s (?:hard|sad|tough|rough))\b/i;

const NO_JOY = anyOf(
  "not|no|never|nobody|nothing|unfortunately|sadly|died|dead|death|cry|cried|crying|sad|lost|losing|fail(?:ed)?",
  "worse|worst|hurts?|sick|ill|alone|lonely|divorced?|cancell?ed|broke|awful|miss|total{1,2}ed|crash(?:ed)?",
  "wrecked|relapsed?|hospice|funeral|cancer|stolen|burned down|\\w+n['’]t",
);
/** Phrases that cancel a harm. */
const NO_SORROW = anyOf(
  "\\w+n['’]t (?:\\w+ )?get (?:fired|hurt)",
  "after all|came back|come home|benign|negative|all clear|in remission|(?:were|was|is|are) (?:found|fine|okay|ok|alright)",
  "(?:got|is|are|was|comes?) (?:out|home) (?:of|from) (?:the )?hospital",
  "lost (?:count|track|weight)|(?:broke|broken|beat) (?:my|our|his|her|their|the|a)\\b.{0,20}\\brecord",
);
const HARM = anyOf(
  "los[et]|die[ds]?|dead|fail(?:ed)?|hurt|broken?|fired|wrong|bad|sick|worse|cancer|tumou?rs?|chemo\\w*|strokes?",
  "coma|intensive care|danger|divorce|reject\\w*|burn\\w*|debts?|war|prison|pneumonia",
);
/** Words that end or deny a harm; each reverses the meaning. */
const REVERSALS = new RegExp(
  anyOf(
    "not|never|no|no longer|nobody|nothing|\\w+n['’]t|without|gone|out of|beat(?:en)?|surviv\\w*",
    "(?:is|are|was|were) (?:\\w+ )?over|recover\\w*|woke|approved|cured|saved|home from",
  ),
  "gi",
);
const NEGATION = anyOf("not|never|nobody|\\w+n['’]t");
const DEATH = anyOf("die[ds]?|dead|passed away|killed|funeral|buried");

/** Matches whole words, ignoring case. */
function anyOf(...forms: readonly string[]): RegExp {
  return new RegExp(`\\b(?:${forms.join("|")})\\b`, "i");
}
