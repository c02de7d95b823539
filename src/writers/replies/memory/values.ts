import { NUMBER_FORM, SMALL_FORM } from "../../heard/spoken-number.ts";

/** What sort of answer is asked for. */
export type AnswerKind =
  | "when"
  | "clock"
  | "day"
  | "where"
  | "age"
  | "many"
  | "much"
  | "far"
  | "long"
  | "tall"
  | "heavy"
  | "colour"
  | "job"
  | "who"
  | "which"
  | "what"
  | "about"
  | "name";

/**
 * What a clause tells of a kind, as it stands there: its days and times, its places. Empty where it tells nothing of it.
 * What tells `which`, `what`, `about` and `name` has no form by itself: for those nothing is found.
 */
export function valuesOf(kind: AnswerKind, clause: string): string[] {
  return kind === "where" ? placesIn(clause) : (FORMS[kind] ?? []).flatMap((form) => allOf(form, clause));
}

function allOf(form: RegExp, text: string): string[] {
  return [...text.matchAll(form)].map((match) => (match[1] ?? match[0]).toLowerCase());
}

const DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?";
const MONTH = "January|February|April|June|July|August|September|October|November|December";
const ORDINAL =
  "(?:\\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\\w+teenth|twentieth|twenty-\\w+(?:st|nd|rd|th)|thirtieth|thirty-first)";
const DATES: readonly RegExp[] = [
  new RegExp(`\\b${DAY}\\b`, "gi"),
  new RegExp(
    `\\b(?:${MONTH}|march the|march \\d+|(?:in|of|next|this|last|early|late) (?:march|may))\\b`,
    "gi",
  ),
  new RegExp(`\\bthe ${ORDINAL}\\b(?= of\\b| at\\b|[,.!]|$)`, "gi"),
  /\b(?:tomorrow|tonight|today|yesterday|christmas|easter|new year's|the weekend|the day after|next (?:week|month|year|spring|summer|autumn|winter)|this (?:week|month|year|morning|afternoon|evening|spring|summer|autumn|winter|weekend))\b/gi,
  /\b(?:in|since|from) ((?:19|20)\d\d)\b/gi,
  new RegExp(
    `\\b(?:${MONTH}|march|may) \\d{1,2}(?:st|nd|rd|th)?\\b|\\b\\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:march|may)\\b`,
    "gi",
  ),
  new RegExp(`\\bin (?:an?|${NUMBER_FORM}) (?:days?|weeks?|months?|years?|fortnight)\\b`, "gi"),
];
const CLOCKS: readonly RegExp[] = [
  new RegExp(
    `\\b(?:at|from|by|until|till|before|after|around|about) (?:about |around )?((?:half past |(?:a )?quarter (?:past|to) |\\w+ (?:past|to) )?(?:\\d{1,2}(?:[:.]\\d\\d)?|${SMALL_FORM}))\\b(?!%| (?:years?|months?|weeks?|days?|hours?|minutes?|pounds?|euros?|dollars?|miles?|kilos?|people|of)\\b)`,
    "gi",
  ),
  new RegExp(
    `\\b(?:half past|quarter (?:past|to)|(?:\\w+) past) (?:\\d{1,2}|${SMALL_FORM})\\b|\\b(?:\\d{1,2}|${SMALL_FORM}) o'clock\\b|\\b\\d{1,2}(?::\\d\\d)? ?[ap]\\.?m\\b|\\b\\d{1,2}:\\d\\d\\b|\\b(?:noon|midday|midnight)\\b`,
    "gi",
  ),
  new RegExp(
    `\\b(?:back|forward|moved|changed) to ((?:half past |(?:a )?quarter (?:past|to) )?(?:\\d{1,2}|${SMALL_FORM}))\\b`,
    "gi",
  ),
  /\bin the (?:morning|afternoon|evening)\b/gi,
];
const COLOURS =
  /\b(?:red|blue|green|yellow|navy|gr[ea]y|orange|purple|white|black|brown|turquoise|cream|pink|teal|beige|violet|crimson|scarlet|gold|silver|lilac|maroon|magenta|peach|ivory|mauve|lavender)\b/gi;
const OCCUPATION =
  "(?!lover|sister|brother|mother|father|daughter|grand\\w+|beginner|member|winner|loser|sleeper|riser|eater|believer|fighter|stranger|minor|survivor|supporter|monster|christian|vegetarian|disaster|matter|danger|bother|bitter|better|sinner|drinker|smoker|human|woman|man|another|other|bummer|corner|former|super|fair|major|starter|thinker|owner|number|user|twin)(?:\\w{2,}(?:er|or|ist|ian|man|woman|ant|smith|keeper)|nurse|vet|cook|chef|pilot|clerk|judge|coach|guard|priest|monk|nun|midwife|architect|student|cleaner|scientist)\\b";
const AGE_ENDS =
  "(?= (?:years?|months?|weeks?)(?: old)?\\b(?! (?:older|younger))| and\\b| now\\b| next\\b| tomorrow\\b| today\\b| but\\b| this\\b|[,.!;]|$)";

const FORMS: Partial<Record<AnswerKind, readonly RegExp[]>> = {
  when: [...DATES, ...CLOCKS],
  clock: CLOCKS,
  day: DATES,
  age: [
    new RegExp(
      `(?:\\b(?:is|am|are|turned|turns|turning|im)|'s|'m|'re) (?:just |only |now |almost |nearly |about |already |still )?(${NUMBER_FORM})${AGE_ENDS}`,
      "gi",
    ),
    new RegExp(`\\b(${NUMBER_FORM})[- ](?:years?|months?|weeks?)[- ]old\\b`, "gi"),
    new RegExp(`\\baged? (?:of )?(${NUMBER_FORM})\\b`, "gi"),
  ],
  many: [new RegExp(`\\b(${NUMBER_FORM})\\b`, "gi")],
  much: [
    /[£$€] ?\d[\d.,]*/g,
    new RegExp(
      `\\b${NUMBER_FORM} (?:pounds?|quid|euros?|dollars?|cents?|pence|bucks?|grand|francs?|rupees?|yen)\\b`,
      "gi",
    ),
  ],
  far: [
    new RegExp(
      `\\b${NUMBER_FORM} (?:miles?|kilomet(?:re|er)s?|km|met(?:re|er)s?|yards?|blocks?|stops?)\\b`,
      "gi",
    ),
  ],
  long: [
    new RegExp(
      `\\b(?:${NUMBER_FORM}|an?|half an) (?:minutes?|hours?|days?|nights?|weeks?|months?|years?|fortnight|inch(?:es)?|feet|met(?:re|er)s?|cm)\\b`,
      "gi",
    ),
  ],
  tall: [
    new RegExp(
      `\\b${NUMBER_FORM} (?:foot|feet|inch(?:es)?|cm|centimet(?:re|er)s?|met(?:re|er)s?)(?: ${NUMBER_FORM})?\\b`,
      "gi",
    ),
  ],
  heavy: [
    new RegExp(
      `\\b${NUMBER_FORM} (?:kilos?|kg|kilograms?|grams?|pounds?|stones?|tons?|tonnes?|ounces?)\\b`,
      "gi",
    ),
  ],
  colour: [COLOURS],
  job: [
    /\b(?:works? (?:as|in|at|for|with)|worked as|for a living|(?:my|his|her) job (?:is|was)|job (?:as|at|in))\b.*/gi,
    new RegExp(`(?:\\b(?:is|am|im)|'s|'m) (?:an?|the) (?:\\w+ ){0,2}?${OCCUPATION}`, "gi"),
  ],
  who: [
    /(?<!^)\b(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December|I\b)\p{Lu}\p{Ll}+\b/gu,
    /\b(?:my|our) (?:\w+ )?(?:sister|brother|mother|mum|mom|father|dad|wife|husband|partner|son|daughter|cousin|aunt|uncle|niece|nephew|neighbou?r|friend|boss|teacher|gran|grandm\w+|grandf\w+|grandson|granddaughter|colleague|flatmate|parents|kids|children)s?\b/gi,
  ],
};

/** Prepositions of place with what stands after them, unless that is a time or a manner of speaking. */
function placesIn(clause: string): string[] {
  const isCased = /\p{Lu}/u.test(clause.replaceAll(/\bI\b/g, "").slice(1));
  return [...clause.matchAll(PLACE)].flatMap((match) => {
    const [whole, preposition = "", determiner, noun = ""] = match;
    if (NO_PLACES.has(noun.toLowerCase()) || IS_NUMBER.test(noun)) return [];
    const isNamed = /^\p{Lu}/u.test(noun);
    const isPlain =
      determiner !== undefined || isNamed || AT_HOME.has(noun) || (!isCased && !/^to$/i.test(preposition));
    return isPlain ? [whole.toLowerCase()] : [];
  });
}

const IS_NUMBER = new RegExp(`^${NUMBER_FORM}$`, "i");
const PLACE =
  /\b(in|at|on|to|near|by|from|under|behind|next to|beside|inside|outside|above|opposite|into|round|off to)\s+(?:(the|my|our|an?|his|her|their|some)\s+)?([\p{L}\p{N}-]+)/giu;
const AT_HOME: ReadonlySet<string> = new Set([
  "home",
  "work",
  "school",
  "church",
  "hospital",
  "level",
  "platform",
  "row",
]);
const NO_PLACES: ReadonlySet<string> = new Set(
  (
    "january february march april may june july august september october november december monday tuesday wednesday " +
    "thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays morning mornings " +
    "evening evenings afternoon afternoons night nights week weeks weekend weekends month months year years hour hours " +
    "minute minutes moment second noon midday midnight time times once least most first last all fact general case " +
    "order charge love trouble hurry mind way end beginning phone holiday foot purpose own christmas easter spring " +
    "summer autumn winter dinner lunch breakfast tea half quarter one two three four five six seven eight nine ten " +
    "eleven twelve third fourth fifth sixth seventh eighth ninth tenth day days today tomorrow bed sleep be it that this " +
    "him her them me us you long bit lot few couple hundred thousand age rush mess state mood same past future present " +
    "start idea whole other others way heart hand fire sale board time-off dentist's"
  ).split(" "),
);
