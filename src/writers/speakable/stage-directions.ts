/** What a phrase stands in. Nobody stresses with brackets; much else than actions stands in parentheses. */
export type DirectionMarks = "brackets" | "parentheses" | "stars";

/** What is around a marked phrase, within its sentence. */
export interface PhraseContext {
  readonly before: string;
  readonly after: string;
}

/**
 * Whether a marked phrase says how something is done or what is heard meanwhile ("sighs", "looks away slowly", "in a low
 * voice", "applause") and is not part of what is said: a place, an aside, a stressed word.
 */
export function isStageDirection(
  phrase: string,
  marks: DirectionMarks,
  { before, after }: PhraseContext,
): boolean {
  const plain = phrase.trim().replace(/[.!…]+$/, "");
  const sentences = plain.split(/[.!?…]+\s+/);
  if (!sentences.every((sentence) => isDirection(sentence, marks))) return false;
  if (marks === "brackets") return true;
  if (marks === "stars" && sentences.some((sentence) => TITLE.test(sentence))) return false;
  if (marks === "parentheses" && SOUNDS.test(plain)) return true;
  const words = before.trimEnd();
  const opens = words === "" || /[.!?…:]["'”’)]*$/.test(words);
  if (opens) return /^\W*(?:$|\p{Lu}|I\b|\d)/u.test(after) || SOUNDS.test(plain);
  if (marks === "stars" && /^\p{Lu}/u.test(plain)) return false;
  if (/[,;—–]$/.test(words) && (plain.includes(" ") || SOUNDS.test(plain))) return true;
  if (INTERJECTION.test(words)) return true;
  // At the very end, behind everything; a stressed last word has the full stop behind it.
  return after.trim() === "" && !ENDS_IN_SUBJECT.test(words);
}

/** Whether a direction, or a link, has begun at the end of a sentence and goes on in the next. */
export function leavesOpen(text: string): boolean {
  const [, star, inside = ""] = OPEN.exec(text) ?? [];
  if (star === undefined) return /(?<!\w)\[\p{L}[^[\]]*$/u.test(text);
  const marks = star === "(" ? "parentheses" : star === "[" ? "brackets" : "stars";
  return (
    marks === "brackets" ||
    inside.split(/[.!?…]+\s+/).every((part) => isDirection(part.replace(/[.!?…]+$/, ""), marks))
  );
}

const OPEN = /(?<![\w*_])([*_([])(?![\s*_])([^*_()[\]]+)$/;

function isDirection(sentence: string, marks: DirectionMarks): boolean {
  const [first = ""] = sentence.split(/, | and | then | while | as /);
  if (CUE.test(sentence)) return true;
  if (ACTION.test(first) || REACTION.test(first)) {
    return marks !== "parentheses" || !first.includes(" ") || ACTION.test(first) || MANNERED.test(first);
  }
  if (NOISE.test(sentence)) return marks !== "stars" || sentence.includes(" ") || !/^\p{Lu}/u.test(sentence);
  if (marks === "stars" && BODY.test(sentence)) return true;
  if (marks === "stars" && UNKNOWN_ACTION.test(sentence) && !NO_ACTION.test(sentence)) return true;
  return MANNER.test(sentence) && (marks === "parentheses" || !/^\p{Lu}/u.test(sentence));
}

/** Bare stem, and the forms of directions: "laughs", "laughing"; "laugh" and "I laugh" too. */
function formsOf(verbs: string): string {
  const forms = verbs.split(" ").map((verb) => {
    if (verb.endsWith("e")) return `${verb}s?|${verb.slice(0, -1)}ing`;
    if (verb.endsWith("y")) return `${verb.slice(0, -1)}ies|${verb}s?|${verb}ing`;
    return `${verb}(?:e?s)?|${verb}${verb.at(-1)}?ing`;
  });
  return `(?:${forms.join("|")})`;
}

const REACTIONS = formsOf(
  "laugh sigh smile giggle chuckle grin nod wink shrug gasp yawn sniff sniffle sob cry groan grunt hum blush frown " +
    "gulp pout smirk snicker snort wince clap applaud bow wave cough hiccup sneeze whistle whisper mutter mumble " +
    "murmur pause shiver shudder tremble scoff snore squeal beam cackle chortle growl hiss purr exhale inhale sing " +
    "whimper moan wail weep scream shout yell ponder squint blink hesitate stretch fidget nuzzle kneel curtsy salute " +
    "facepalm dance cheer hug kiss swallow stammer stutter",
);
/** What is done in silence, and said as often: not in the bare form, which asks for it. */
const THOUGHTS = "(?:think(?:s|ing)|ponder(?:s|ing)|reflect(?:s|ing)|consider(?:s|ing)|contemplat(?:es|ing))";
const ACTIONS = formsOf(
  "look gaze stare glance lean turn walk step sit stand raise lower roll shake tilt take clear scratch rub pat hold put " +
    "reach point adjust cross fold lift pull push close open pick tap wipe wag run move nudge place set throw toss grab " +
    "squeeze bite lick draw let give make crack stroke brush tuck straighten furrow cock narrow pace drum snap pour " +
    "slap purse bat clench wring catch lick bounce spin sip drink slurp chew munch nibble",
);
const SUBJECT =
  "(?:(?:he|she|they|i|it|we|the \\w+|(?:they |we )?(?:both|all)|everyone|everybody|someone|somebody|audience|crowd) )?(?:\\w+ly )?";
const PROP =
  "(?:throat|head|knees?|thighs?|eyes?|eyebrows?|brows?|hands?|arms?|shoulders?|breath|nose|chin|hair|glasses|chair|fingers?|foot|feet|" +
  "lips?|tears?|tail|ears?|face|smile|gaze|notes|papers?|drink|coffee|tea|water|wine|beer|milk|juice|cocoa|popcorn|snacks?|sip|step|seat|door|book|phone|window|nod|laugh|" +
  "sigh|bow|pause|tongue|knuckles|forehead|desk|mic|microphone|pen|heart|chest|hat|voice)";
const WHERE = "(?:away|down|up|back|around|over|off|closer|aside|forward|in|into|toward|towards|at|out the)";
const REST = "(?: [\\w'’]+){0,6}";
const HOW =
  "(?:\\w+ly|again|aloud|out loud|a (?:little|bit)|to \\w+sel(?:f|ves)|with (?:\\w+ )?\\w+|in \\w+|for (?:an? )?(?:\\w+ )?(?:moments?|seconds?|while|minutes?|beat)|hard|at (?:you|me|him|her|them|us)|\\w+ (?:head|hands?|throat))";

const REACTION = new RegExp(`^${SUBJECT}(?:${REACTIONS}|${THOUGHTS})${REST}$`, "i");
const MANNERED = new RegExp(`^${SUBJECT}(?:${REACTIONS}|${THOUGHTS})(?: ${HOW}){0,2}$`, "i");
const ACTION = new RegExp(
  `^${SUBJECT}${ACTIONS} (?:${WHERE}\\b${REST}|(?:(?:an?|his|her|their|my|your|its|the) )?(?:\\w+ )?${PROP}${REST})$`,
  "i",
);
/** What can hardly be anything else, wherever it stands. */
const SOUNDS =
  /^(?:laugh|sigh|chuckl|giggl|sob|gasp|groan|snort|yawn|snicker|sniffl)(?:e?s|ing)(?: (?:\w+ly|again|to \w+self))?$/i;
const NOISE =
  /^(?:(?:a |the )?(?:long|short|brief|dramatic|awkward|slight|soft|quiet|gentle|nervous|upbeat|heavy|deep|background|canned|warm|light|loud|audience|thoughtful|sad|happy|shaky|sharp|slow) )*(?:pause|breaths?|inhales?|exhales?|beat|silence|laughter|applause|music|sighs?|chuckles?|laughs?|giggles?|gasps?|drum ?roll|crickets|cheering|static|sound of [\w ]+)(?: (?:fades?|plays?|playing|stops?|swells?|starts?|continues?|follows?)(?: \w+)?)?$/i;
const MANNER =
  /^(?:(?:very |more )?(?:soft|quiet|gent|warm|cheerful|excited|sarcastical|nervous|slow|sad|happi|angri|loud|playful|thoughtful|sheepish|serious|joking|dramatical|teasing|stern|shy|tender|bright|enthusiastical|hesitant|calm|firm|wistful|dri|dry|cold|mocking|awkward|breathless|mischievous)l?y|deadpan|whispered|aside|off-?stage|in an? (?:\w+ ){0,3}(?:voice|whisper|tone|accent)|(?:nearly |close to |in |through |with )tears(?: in (?:his|her|their|my) eyes)?|in (?:disbelief|horror|shock|surprise|silence|awe|agony|frustration)|out of breath|under (?:his|her|their|my) breath|through (?:gritted|clenched) teeth|with an? (?:\w+ ){0,2}(?:smile|laugh|sigh|grin|wink|chuckle|nod|shrug|smirk|giggle)|to (?:him|her|my|your|them)sel(?:f|ves))$/i;
/** What a script has for the ear and the eye: "SFX: door", "scene opens", "cut to black". */
const CUE =
  /^(?:(?:sfx|vfx|fx|bgm|sound(?: effects?)?|music|audio|cue|camera|stage|lights?): ?\S.{0,60}|(?:the )?(?:scene|curtains?|camera|lights?|screen|music) (?:opens?|closes?|begins?|ends?|starts?|stops?|fades?|swells?|falls?|rises?|dims?|pans?|zooms?|cuts?|shifts?|changes?)\b.{0,40}|(?:cut|fade|dissolve|pan|zoom)s? (?:to|in|out)(?: (?:to )?(?:black|white)| (?:on|to) (?:the|an?)\b.{0,40})|fades? (?:in|out)|end (?:of )?scene|exeunt)$/i;
/** Small letters where a sentence would begin with a capital one: "*beeps*", "*fluffs the pillow*". */
const UNKNOWN_ACTION =
  /^[a-z]{2,}[^s\W]s(?: (?:\w+ly|the|a|an|his|her|my|your|their|in|at|on|up|down|into|around|to|away|off|back)\b.{0,40})?$/;
const BODY = new RegExp(`^(?:his|her|their|my) ${PROP} \\w+(?: \\w+)?$`);
const NO_ACTION =
  /^(?:yes|this|always|is|was|has|does|perhaps|sometimes|plus|thus|his|its|us|as|news|besides|afterwards|towards|whereas|hers|ours|yours|theirs|turns out|looks like|sounds like|lots|thanks|cheers)\b/;
const TITLE = /^\p{Lu}.*\s\p{Lu}\p{Ll}/u;
const INTERJECTION =
  /(?:^|[\s"'“])(?:oh|well|hmm?|ah+|aww?|yeah|hey|so|um+|uh|okay|ok|ha(?:ha)*|heh|wow|oops|ugh|phew),?$/i;
const ENDS_IN_SUBJECT =
  /\b(?:i|you|he|she|it|they|we|who|never|always|often|just|really|still|also|to|a|an|the|is|are|was|that)$/i;
