import type { SpeakerLabel, Turn } from "../../model/conversation.ts";
import { DIETS, FOOD_GROUPS, foodsNamed, group, singular, singularsIn } from "./foods.ts";
import { plain, sentencesIn } from "./sentences.ts";
import { isAsked } from "./turn-form.ts";

/** What nobody may offer to somebody who told that they cannot or will not have it. */
export interface Limits {
  /** What was told, oldest first. */
  readonly told: readonly Limit[];
  /** Whether a reply offers what was excluded. */
  areBrokenBy(reply: string): boolean;
  /** Whether it may: after anything about a diet it names food that they did not name. For those who know little of food. */
  areRiskedBy(reply: string): boolean;
}

/** One of them. */
export interface Limit {
  /** As it was named: "nuts", "the seaside". */
  readonly what: string;
  /** Counts the turns of the conversation. */
  readonly turn: number;
  /** The sentence in which it was told, in small letters. */
  readonly sentence: string;
  readonly isFood: boolean;
}

/**
 * What the others told that they do not eat, drink, like, want or have: "I'm allergic to nuts", "my mum's a vegetarian", "no
 * mushrooms", "I haven't got a garden". A later "it's all right, she eats fish" takes nothing back: what is left out harms
 * nobody. What somebody only dislikes, fears or lacks is not offered, but may be spoken of: whoever fears doctors may need one.
 */
export function limitsOf(history: readonly Turn[], speaker: SpeakerLabel): Limits {
  const excluded = new Set<string>();
  const disliked = new Set<string>();
  const limits: Limit[] = [];
  const wanted = new Set<string>();
  let isDiet = false;
  for (const [n, { speaker: who, text }] of history.entries()) {
    if (who === speaker || text === null) continue;
    for (const whole of sentencesIn(contracted(plain(text.slice(0, MAX_CHARS)).toLowerCase()))) {
      const sentence = whole.slice(0, MAX_SENTENCE_CHARS);
      // "What can I bring, I'm allergic to nuts?" tells it; "Are you vegetarian?" does not.
      const isOnlyAsked =
        isAsked(sentence) &&
        !TOLD_IN_ASKING.test(sentence) &&
        (ASKS_WHETHER.test(sentence) || !OF_OURS.test(sentence));
      const foods = foodsNamed(sentence);
      if (!isOnlyAsked && (DIETARY.test(sentence) || (foods.length > 0 && REFUSES.test(sentence))))
        isDiet = true;
      else for (const food of foods) wanted.add(food);
      if (isOnlyAsked) continue;
      const told = (form: RegExp) =>
        [...sentence.matchAll(form)].filter(
          ({ index }) => !TAKEN_BACK.test(sentence.slice(0, index).replaceAll(STILL_TELLS, " ")),
        );
      const note = (what: string, words: readonly string[], into: Set<string>, isWish = true) => {
        for (const word of words) into.add(word);
        const isFood = words.some((word) => foodsNamed(word).length > 0);
        if (
          (isWish || isFood) &&
          words.some((word) => !NEEDED.test(word)) &&
          what !== "" &&
          !UNSAYABLE.test(what)
        )
          limits.push({ what, turn: n, sentence, isFood });
      };
      for (const { form, what, foods } of WAYS)
        for (const { 0: match, index } of told(form)) {
          const [next = ""] = sentence.slice(index + match.length).match(/^ [\p{L}'-]+/u) ?? [];
          // "A vegetarian lasagne" is nobody's way to eat, nor does a cat have one.
          if (foodsNamed(next).length === 0 && !OF_AN_ANIMAL.test(sentence.slice(0, index)))
            note(what, foods, excluded);
        }
      // "Sesame sends my flatmate to hospital": whatever is named there.
      if (foods.length > 0 && told(HARMS).length > 0)
        note(
          foods[0] ?? "",
          foods.flatMap((food) => GROUPS.get(food) ?? [food]),
          excluded,
        );
      for (const form of ALLERGIES)
        for (const [, what = ""] of told(form)) note(nameOf(what), foodsIn(what), excluded);
      for (const form of HARMFUL)
        for (const [, what = ""] of told(form)) if (isThing(what)) note(what, foodsIn(what), excluded);
      for (const form of EXCLUDES)
        for (const [, what = ""] of told(form)) note(nameOf(what), wordsOf(what), excluded);
      for (const form of EXCLUDES_FOOD)
        for (const [, what = ""] of told(form))
          if (isFoodIn(what)) note(nameOf(what), wordsOf(what), excluded);
      // "No family left" is no wish.
      for (const [, what = ""] of told(WITHOUT))
        note(nameOf(what), wordsOf(what), excluded, WISHES.test(sentence));
      for (const [, what = ""] of told(DISLIKES)) note(nameOf(what), wordsOf(what), disliked);
      // What somebody lacks is spoken of at once, and not thought of as there later.
      if (n < history.length - 1)
        for (const [, what = ""] of told(LACKS)) note(nameOf(what), wordsOf(what), disliked, false);
    }
  }
  // Who asks after it wants to hear of it.
  const asked = sentencesIn(history.at(-1)?.text ?? "")
    .filter((sentence) => isAsked(sentence))
    .join(" ");
  const forms = [...excluded].map((word) => formOf(word));
  const offers = [...disliked]
    .filter((word) => !NEEDED.test(word) && !formOf(word).test(asked))
    .map((word) => formOf(word));
  return {
    told: limits,
    areBrokenBy(reply) {
      if (forms.length + offers.length === 0) return false;
      const free = plain(reply).toLowerCase().replaceAll(FREE_OF, " ");
      // What is made of nuts is free of milk, and of nothing else.
      const said = excluded.has("almond") ? free : free.replaceAll(OF_NUTS, " ");
      return forms.some((form) => form.test(said)) || offers.some((form) => form.test(said));
    },
    areRiskedBy(reply) {
      if (!isDiet) return false;
      const said = plain(reply).toLowerCase().replaceAll(FREE_OF, " ");
      return foodsNamed(said).some((food) => !wanted.has(food) || excluded.has(food));
    },
  };
}

/** "Do not" and, as it is typed in haste, "dont" as "don't". */
function contracted(text: string): string {
  return text
    .replaceAll(
      /\b(?:(is|are|was|ca|wo)nt|(do|does|did|have|has|had|should|must|would|could)(?: not|nt))\b/g,
      "$1$2n't",
    )
    .replaceAll(/\bcan ?not\b/g, "can't")
    .replaceAll(/\bwill not\b/g, "won't")
    .replaceAll(/\bim\b/g, "i'm")
    .replaceAll(/\bive\b/g, "i've");
}

/** Whether what is named is food, or something else that people cannot bear. */
function isThing(named: string): boolean {
  return isFoodIn(named) || ALLERGENS.test(named);
}

function isFoodIn(named: string): boolean {
  return foodsNamed(named).length > 0 || singularsIn(named).some((word) => GROUPS.has(word));
}

/** The first thing that is named: "nuts" of "nuts or seeds at home". */
function nameOf(named: string): string {
  const [first = ""] = named.split(/,? (?:or|and) |, /);
  const words = first.replace(LEADING_NAME, "").split(" ");
  const end = words.findIndex((word) => SMALL.test(word));
  return (end < 0 ? words : words.slice(0, end)).join(" ");
}

/** What is named, and what belongs to it. */
function wordsOf(named: string): string[] {
  return named.split(/,? (?:or|and) |, /).flatMap((part) => {
    const words = part.replace(LEADING, "").split(" ").slice(0, 3);
    const foods = words.flatMap((word) => GROUPS.get(singular(word)) ?? []);
    if (foods.length > 0) return foods;
    const [first = "", second = ""] = words.slice(0, 2).filter((word) => !SMALL.test(word));
    // "Green olives" are olives; of "loud music", or where another clause begins, the first word is what is meant.
    const noun =
      /[^s]s$/.test(second) && !first.endsWith("s") && !VAGUE.has(singular(second)) ? second : first;
    // Nobody who cannot stand country music minds the country.
    if (NEEDED.test(noun) && second !== "" && noun === first) return [`${first} ${singular(second)}`];
    return noun.length > 2 && !VAGUE.has(noun) ? [singular(noun)] : [];
  });
}

/** What an allergy is to: every food in it, and where none is known what is named. */
function foodsIn(named: string): string[] {
  const foods = singularsIn(named).flatMap((word) => GROUPS.get(word) ?? []);
  return [...foods, ...wordsOf(named)];
}

function formOf(word: string): RegExp {
  const stem = word.endsWith("y") ? `${word.slice(0, -1)}(?:y|ie|ies)` : `${word}(?:s|es)?`;
  return new RegExp(`\\b${stem}\\b`, "i");
}

const LEADING =
  /^(?:(?:the|any|all|most|some|certain|(?:any|some|all|certain) (?:kinds?|sorts?) of|both|either|my|eating|drinking|raw|fresh|an?) )+/;
const LEADING_NAME = /^(?:(?:any|all|some|more|another|certain|eating|drinking|having) )+/;
/** Not said back as what is to be left out: "near the road", "my new haircut". */
const UNSAYABLE =
  /^(?:more|much|yet|well|my|our|his|her|their|your|its|near|out|in|on|at|to|into|with|by|over|up|down|it|that|this|those|these|him|them|you)\b/;
/** Before what would exclude something, and says that it does not, or no longer. */
const TAKEN_BACK =
  /\b(?:not|never|used to|no longer|isn't|aren't|wasn't|don't|doesn't|didn't|ex|(?:ex|former) \p{L}+)\b(?:(?!\bbut\b)[^,;.]){0,16}$|\b(?:was|were) (?:an? )?$/u;
/** Denies nothing of what follows. */
const STILL_TELLS =
  /\b(?:don't forget|(?:didn't|never|don't think i) (?:say|said|mention|mentioned|tell|told)|not only|not sure if i (?:said|told|mentioned))\b/g;
/** Tells something in a question about something else. */
const TOLD_IN_ASKING =
  /\b(?:i'm|i am|he's|she's|we're|they're|my \p{L}+(?:'s| is)) (?:(?:very|really|badly|severely|also) )?(?:allergic|intolerant|vegan|vegetarian|c(?:o)?eliac|diabetic|pregnant)\b|^can't (?:stand|bear|abide) [^?]*$/u;
const OF_AN_ANIMAL =
  /\b(?:cat|dog|bitch|mare|horse|cow|sow|ewe|goat|rabbit|hamster|gerbil|guinea pig|bird|penguin|ostrich|chicken|hen|it)(?:e?s)?(?:'s| is| are| was| were)?(?: \p{L}+)? $/u;
/** Something is wanted, of which this is left out. */
const WISHES = /\bplease\b|\b(?:want|like|prefer|need|knees?|hips?|doctor|house|allowed)\b/;
const ALLERGENS =
  /^(?:pollen|dust|cats?|dogs?|bees?|wasps?|penicillin|latex|grass|hay|feathers?|mould|mold|nickel|aspirin|ibuprofen)$/;
/** Says that something is not in it. */
const FREE_OF =
  /\b(?:no (?!problem|reason|need|to\b)|without|avoid(?:ing)?|leav(?:e|ing) out|skip(?:ping)?|instead of|rather than|free of|except|isn't|aren't|hasn't|doesn't (?:have|contain)|allergic to|allergy to|(?:don't|never) (?:use|add|put|eat|have|give|buy|order|offer|serve))(?: ?[\p{L}'-]+){1,3}|\b[\w-]+-free\b|\b(?:dairy|nut|gluten|egg|meat|alcohol|sugar)[ -]free [\w]+|\b(?:decaf\p{L}*|herbal|mint|peppermint|camomile|chamomile|fruit|ginger) (?:tea|coffee)\b|\b(?:oat|soya?|rice|vegan|plant|vegetarian|veggie)[ -](?:milk|yogh?urt|cheese|cream|butter|sausages?|burgers?|mince)\b/gu;
const OF_NUTS = /\b(?:almond|coconut|cashew)[ -](?:milk|yogh?urt|cheese|cream|butter)\b/gu;
const ASKS_WHETHER =
  /^(?:(?:and|so|but|or) )?(?:are|is|do|does|did|have|has|was|were) (?:you|he|she|it|they|this|that|there|the|your|his|her|their) (?!know\b|have\b|think\b|got\b)/;
/** Of whoever speaks, or whom they speak for. */
const OF_OURS = /\b(?:i|i'm|i've|me|my|our|we|we're|us|someone|somebody|guests?|friends?|people|for an?)\b/;
const MAX_CHARS = 6_000;
const MAX_SENTENCE_CHARS = 600;
/** Somebody may need what they fear or cannot bear. */
const NEEDED =
  /^(?:doctor|nurse|dentist|hospital|ambulance|police|surgery|operation|needle|injection|medicine|pill|tablet|therap\p{L}+|counsell?or|help|husband|wife|partner|mother|mum|mom|father|dad|sister|brother|son|daughter|boss|teacher|school|job|work|dark|night|exam|test|school|homework|people|men|women|life|myself|himself|herself|future|change|death|dying|mess|noise|winter|summer|monday|morning|weather|rain|cold|heat|phone|email|name|house|home|city|town|country)$/u;
const SMALL =
  /^(?:left|any|anymore|until|till|if|when|after|before|again|ever|please|anymore|of|in|on|at|to|for|with|it|them|him|her|me|that|this|because|since|so|but|is|are|very|really|badly|severely)$/;
/** Excludes nothing that can be told from the rest. */
const VAGUE: ReadonlySet<string> = new Set(
  "people talk talking thing things stuff much lot time way day everything anything nothing work going being doing getting having making waiting losing idea feeling one place food sound look name out near alone away again yet here there anyone anybody someone somebody everyone fear offence offense deal big wonder matter chance point use hurry rush pressure".split(
    " ",
  ),
);

const FLIGHT = "flying flight plane aeroplane airplane airport airline";
const FRIGHT = "horror scary frightening fright spooky slasher zombie";
/** Ways to live, each with what it leaves out. */
const WAYS = [
  ...DIETS,
  {
    form: /\b(?:don't|can't|won't|never|doesn't) fly\b/g,
    what: "flying",
    foods: group(FLIGHT),
  },
];
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ...FOOD_GROUPS,
  ...["flying", "flight", "fly", "plane"].map((name) => [name, group(FLIGHT)] as const),
  ...["horror", "scary"].map((name) => [name, group(FRIGHT)] as const),
]);

/** Somebody's way to eat, or what is not to be eaten. */
const DIETARY =
  /\b(?:hives|allerg\p{L}+|intoleran\p{L}+|anaphyla\p{L}+|epi-?pen|c(?:o)?eliac|crohn'?s|gout|dialysis|diabet\p{L}+|vegan|vegetarian|veggie|pesc[ae]tarian|kosher|halal|jains?|hindus?|muslims?|jewish|mormon|adventist|ramadan|fasting|(?:for|at) lent|pregnant|breastfeeding|sober|teetotal\p{L}*|thickened|pur[eé]ed?|soft food|nil by mouth|keto|gluten|lactose|dairy[- ]free|low[- ](?:salt|sugar|fat)|(?:swallow\p{L}*|stomach|gallbladder|kidneys?|cholesterol|blood sugar))\b/iu;
/** Beside a food: that it does harm. */
const HARMS =
  /\b(?:hives|anaphyla\p{L}+|epi-?pen|rash|swells? up|swelled up|(?:sends?|sent|puts?|put|lands?|landed) (?:\p{L}+ ){1,3}(?:in|to|into) (?:the )?(?:hospital|a&e|e\.?r)\b|(?:could|would|will|can|nearly) kill(?:ed)? (?:me|him|her|them|us|my)|(?:ends?|ended) up in (?:a&e|hospital|e\.?r\b)|finished (?:me|him|her) off|gives? (?:me|him|her|them) (?:panic attacks|migraines?|headaches?|heartburn|a headache|a migraine)|throat closes?|palpitations|straight through|upsets? (?:me|(?:my|his|her|their) (?:stomach|tummy|gut|belly))|(?:sets?|set) (?:me|him|her|them|my \p{L}+) off|(?:makes?|made) (?:me|him|her|them|us) (?:ill|sick|poorly|itch|sneeze|swell|vomit)|and (?:i|me) (?:don't|do not|didn't|never) (?:get on|agree)|(?:doesn't|don't|didn't) agree with (?:me|him|her|us|them)|and (?:i|me) (?:fell out|stopped being friends))/giu;
/** Beside a food: that it is not wanted, or does harm. */
const REFUSES =
  /\b(?:no|not|never|nor|neither|without|nothing|can't|couldn't|won't|don't|doesn't|didn't|haven't|hasn't|isn't|aren't|hates?|loathes?|detests?|despises?|off|avoid\p{L}*|allerg\p{L}+|rash|swells?|swelling|ill|sick|poorly|throat|hospital|ambulance|kills?|killed|choke\p{L}*|disagrees?|fell out|react\p{L}*|banned|forbid\p{L}*|gave up|given up|giving up|quit|stopped|cut(?:ting)? (?:out|down|back)|straight through|upsets?|sets? (?:me|him|her) off|poison\p{L}*|vomit\p{L}*|throws? up|threw up|doctor|nurse|dietitian|dietician)\b/iu;
const WHAT = "([\\p{L}'-]+(?: [\\p{L}'-]+){0,3}(?:(?:,? (?:or|and) |, )[\\p{L}'-]+(?: [\\p{L}'-]+)?){0,3})";
const ALLERGIES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:allergic|allergy|allergies|intolerant|intolerance|reacts? (?:badly )?) ?(?:to|against|:) ?${WHAT}`,
    "giu",
  ),
];
/** A word before what it does: "a nut allergy", "nuts make me ill". */
const HARMFUL: readonly RegExp[] = [
  /\b([\p{L}-]+) (?:allerg(?:y|ies)|intolerance)\b/giu,
  /\b([\p{L}-]+) (?:(?:could|would|will|can) kill (?:me|him|her|them|us)|(?:brings?|brought) (?:me|him|her|them) out in|makes? (?:me|him|her|them|us) (?:ill|sick|itch|sneeze))\b/giu,
  /\bkeep ([\p{L}-]+) away from\b/giu,
  /\b([\p{L}-]+)(?:'s|'re| is| are) (?:haram|forbidden|banned|off the menu|(?:all )?(?:what|something|one thing) (?:i|we|he|she|they) (?:can't|don't|won't|mustn't) (?:eat|have|touch|drink))\b/giu,
];
/** What is not eaten, drunk or used, whatever it is. */
const EXCLUDES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:(?:can't|mustn't|shouldn't|won't|don't|doesn't|didn't|never) (?:really |ever )?(?:eat|drink|touch|consume)|(?:stopped|quit|avoids?|avoiding) (?:eating|drinking|having)|(?:anything|everything) (?:but|except)|don't (?:suggest|say|offer|recommend|mention)) ${WHAT}`,
    "giu",
  ),
  new RegExp(`\\b(?:haven't|hasn't|not) (?:eaten|touched) ${WHAT}(?= (?:for|in|since)\\b)`, "giu"),
  /\bnot (?:another |any |a |the )?([\p{L}-]+)(?=,? (?:please|again)\b)/giu,
];
/** The same, where only of food it is plain that it is meant for good. */
const EXCLUDES_FOOD: readonly RegExp[] = [
  new RegExp(
    `\\b(?:(?:can't|mustn't|shouldn't|not allowed(?: to)?) have|not allowed|(?:gave|given|giving) up|(?:am|is|are|been|'m|'s|'re) off|avoids?|avoiding|cut(?:ting)? out) ${WHAT}`,
    "giu",
  ),
];
/** "No mushrooms", and, where something is asked for, "no running". */
const WITHOUT = new RegExp(
  `(?:^|[,.;:] |\\b(?:but|and|with|please|so|means|says|said) )(?:no|without|nothing with|not even an?) (?!problem|sorry|thanks|idea|one\\b|worries|way|doubt|wonder)${WHAT}(?=[,.!?]|$| please| in\\b| for\\b| with\\b| or\\b| and\\b)`,
  "giu",
);
/** What is only disliked or feared. */
const DISLIKES = new RegExp(
  `\\b(?:can't (?:stand|bear|abide|take|face)|(?:don't|doesn't|didn't|never) (?:really )?(?:like|do)|dislikes?|hates?|loathes?|detests?|despises?|not (?:keen on|into|fond of|a fan of)|(?:sick|terrified) of|(?:frightened|scared|afraid|wary|tired|fed up) (?:of|with)|phobia of|won't set foot (?:in|on)|(?:cured|put) (?:me|him|her|us|them) (?:of|off)) (?!it\\b|when\\b|how\\b|that\\b|this\\b|to\\b|him\\b|her\\b|them\\b|you\\b|me\\b|being\\b|having\\b)${WHAT}`,
  "giu",
);
/** What somebody has not got. */
const LACKS = new RegExp(
  `\\b(?:(?:have|i've|we've|got|there's|there is) no|(?:haven't got|hasn't got|don't have|doesn't have|don't own|isn't) (?:an?|any)|never had an?) (?!problem|sorry|idea|one\\b|doubt|time|reason|need|clue|choice)${WHAT}`,
  "giu",
);
