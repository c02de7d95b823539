/** Kinds of turns that their form tells, whatever they speak of; the first that fits. */
const RULES: readonly (readonly [act: string, form: RegExp])[] = [
  // "Hmmmm" is no slip of the fingers, nor is Dallas.
  [
    "garbled",
    /^[\W_]*$|^(?!.*(.)\1\1)(?:(?![aeiouy])[a-z]){5,}$|^(?=.*(?:asdf|sdfg|fghj|hjkl|jkl;))[asdfghjkl;\s]+$/,
  ],
  ["what", /^(?:what|huh|pardon|sorry|excuse me|come again|eh|say again)\W*$/],
  ["bare-why", /^(?:but |and |oh |so )?(?:why|how come)(?: is that| so| not| though)?\W*$/],
  [
    "correction",
    /^(?:no|nope)[,.!]* (?:no[,.!]* )?(?:i (?:meant|mean|said)\b|not that\b)|\bthat(?:'s| is) not what i (?:said|asked|meant|mean)\b/,
  ],
  ["same", /^(?:same(?: here)?|me too|me neither|likewise|so do i|as do i)\W*$/],
  [
    "ack",
    /^(?:(?:ok(?:ay)?|sure|right|fine|cool|alright|all right|hm+|got it|i see|makes sense|fair enough)(?:,? (?:then|ok(?:ay)?|sure|got it))?)\W*$/,
  ],
  [
    "thanks",
    /^(?:(?:ok(?:ay)?|great|cool),? )?(?:thanks|thank you|cheers|ta)(?: (?:so much|a lot|very much|again|anyway))?\W*$/,
  ],
  [
    "goodbye",
    /^(?:ok(?:ay)?,? )?(?:bye(?:[ -]bye)?|goodbye|see (?:you|ya)(?: later| soon| tomorrow)?|talk to you later|catch you later)(?: then| now)?\W*$/,
  ],
  [
    "identity",
    /\b(?:are|r) (?:you|u) (?:really |actually |even )?(?:a |an |some (?:kind|sort) of )?(?:real|human|robot|bot|machine|computer|program|a\.?i\b|chat ?bot|alive|(?:actual |living )?person)\b|\b(?:person|human|man|woman)\b.{0,20}\bor\b.{0,20}\b(?:computer|machine|robot|bot|ai|program|software)\b|\b(?:computer|machine|robot|bot|ai|program|software)\b.{0,20}\bor\b.{0,20}\b(?:person|human|man|woman)\b/,
  ],
  [
    "time",
    /\bwhat(?:'s| is)? the time\b(?! (?:difference|in))|\bwhat time is it\b(?! in)|\b(?:got|have) the time\b\??$|\bwhat(?:'s| is) (?:the date|today's date)\b|\bwhat day is (?:it|today)\b/,
  ],
];

/** The kinds that a form tells. */
export const FORM_ACTS: ReadonlySet<string> = new Set(RULES.map(([act]) => act));

/** The kind of a turn where its form alone tells it, else `null`. */
export function actByForm(turn: string): string | null {
  const text = turn.toLowerCase().replaceAll("’", "'").trim();
  return RULES.find(([, form]) => form.test(text))?.[0] ?? null;
}

/** Whether a turn is a question or a request, by its mark or, as speech is transcribed, without. */
export function isAsked(turn: string | null): boolean {
  return ASKS.test(turn ?? "");
}

/** Whether somebody says what they have decided, or never do. */
export function takesAStance(turn: string): boolean {
  return STANCE.test(turn.replaceAll("’", "'"));
}

const STANCE =
  /\b(?:(?:i|we)(?:'ve| have)? (?:already |just |finally |now )?(?:decided|quit|resigned|refuse|refused|agreed|signed|turned (?:\p{L}+ ){1,3}down|turned down|said (?:no|yes)|told (?:them|him|her) (?:no|yes)|handed in)|made up (?:my|our) minds?|(?:i|we) (?:won't|will not|never) \p{L}+|(?:i'm|we're) not (?:going|having|inviting|getting|doing|marrying|selling|moving)|(?:i|we) (?:don't|do not|can't|cannot) (?:drink|smoke|drive|fly|gamble|dance|sing|swim|cook|celebrate|own|want|care for|hold with|believe in|do|stand|abide|bear)|no more|never again|full stop|for good|anything but)\b/iu;

/** Whether more is asked for than yes or no. */
export function asksOpenly(turn: string): boolean {
  return OPENLY.test(turn);
}

const OPENLY =
  /\b(?:what|which|where|who|how|name|give|suggest\p{L}*|recommend\p{L}*|ideas?|pick|choose|plan|tell me|recipe|something)\b/iu;

/** Whether something is to be suggested. */
export function asksAdvice(turn: string): boolean {
  return ADVICE.test(turn);
}

const ADVICE =
  /\b(?:should|shall|could (?:i|we)|can (?:i|we)|might (?:i|we)|ought|suggest\p{L}*|recommend\p{L}*|advi[sc]e|ideas?|pick|choose|name me|give me|find me|help me|plan|what would you|what (?:do|would) you (?:reckon|think|say|suggest)|how about|what about|(?:what|where|who) else|(?:what|where) to|what (?:goes|would go|works)|how (?:to|do i|do we) (?:make|cook|bake|get)|recipe|best|tell me how|i(?:['’]d| would|['’]ll| will)? (?:want|need|fancy|like|have) (?:something|an? (?:good |nice |little )?(?:idea|treat|plan)))\b/iu;

/** Whether a turn is put as its kind is: what asks is a question, and what tells is none. */
export function isPhrasedAs(
  { name, answered }: { readonly name: string; readonly answered: string },
  turn: string | null,
): boolean {
  const asked = isAsked(turn);
  // "Is he okay?" is not asked of us.
  if (QUESTIONS.has(name) && OF_OTHERS.test(turn ?? "")) return false;
  return QUESTIONS.has(name) ? asked : answered !== "told" || !asked;
}

/** Whether it is asked for our own view. */
export function asksView(turn: string): boolean {
  return VIEW.test(turn);
}

/** Whether somebody says that what we said is wrong, or doubts it. */
export function doubtsUs(turn: string): boolean {
  return turn.length < 120 && DOUBTS.test(turn.replaceAll("’", "'"));
}

const VIEW =
  /\b(?:what|how) (?:do|would|did) (?:you|u) (?:think|make|reckon|say|feel)\b|\bwhat would (?:you|u) do\b|\bwhat(?:'s| is) (?:your|ur) (?:own )?(?:view|opinion|take|feeling|guess)\b|\b(?:your|ur) (?:own )?(?:view|opinion|take)\?|\b(?:do|would) (?:you|u) (?:agree|think|reckon)\b|\bwould you\?|\bwould (?:you|u) (?:go|take|choose|pick|tell|say|keep|leave|buy|wait|forgive|mind|bother)\b/i;
const DOUBTS =
  /\b(?:that|that's|thats|it's|its|it is|that is|you're|you are|u r|ur)\b.{0,14}\b(?:not (?:right|true|correct)|wrong|incorrect|nonsense|mistaken|isn't right|can't be right|doesn't sound right)\b|\bi (?:don't|dont|do not) (?:think|believe) (?:so|that|it|you)\b|^(?:(?:hm+|wait|really|hang on|sorry|but|oh),? )*are you (?:quite |really |totally )?sure\b|\bi'?m (?:pretty|quite|fairly|almost|absolutely) sure\b|^(?:no|nope|nah)[,.!]* (?:it|that|they|he|she|there) (?:is|are|was|does|do)n'?t\b|\bthat (?:can't|cannot|doesn't) (?:be|sound|seem) (?:right|true)\b/i;
const ASKS =
  /\?|^(?:(?:but|and|so|then|ok|okay|well|now) )*(?:why|how|what|which|who|where|when|can|could|do|does|did|is|are|will|would|should|say)\b|\b(?:tell|give|write|show|teach|explain|make|ask|sing|read) me\b|\bcan (?:we|you|i)\b/i;
const OF_OTHERS = /\b(?:he|she|they|him|her|them|his|their)\b(?!.*\byou\b)/i;
/** Kinds that are always questions. */
const QUESTIONS: ReadonlySet<string> = new Set(
  "how-are-you what-up our-body our-past our-feelings our-family our-skills name favourite time weather-now live see privacy".split(
    " ",
  ),
);
