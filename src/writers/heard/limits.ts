import type { SpeakerLabel, Turn } from "../../model/conversation.ts";
import { plain, sentencesIn } from "./sentences.ts";
import { isAsked } from "./turn-form.ts";

/** What nobody may offer to somebody who told that they cannot or will not have it. */
export interface Limits {
  /** Whether a reply offers what was excluded. */
  areBrokenBy(reply: string): boolean;
}

/**
 * What the others told that they do not eat, drink, like, want or have: "I'm allergic to nuts", "my mum's a vegetarian", "no
 * mushrooms", "I haven't got a garden". A later "it's all right, she eats fish" takes nothing back: what is left out harms
 * nobody. What somebody only dislikes, fears or lacks is not offered, but may be spoken of: whoever fears doctors may need one.
 */
export function limitsOf(history: readonly Turn[], speaker: SpeakerLabel): Limits {
  const excluded = new Set<string>();
  const disliked = new Set<string>();
  for (const [n, { speaker: who, text }] of history.entries()) {
    if (who === speaker || text === null) continue;
    for (const whole of sentencesIn(plain(text.slice(0, MAX_CHARS)).toLowerCase())) {
      const sentence = whole.slice(0, MAX_SENTENCE_CHARS);
      // "What can I bring, I'm allergic to nuts?" tells it; "Are you vegetarian?" does not.
      if (isAsked(sentence) && (ASKS_WHETHER.test(sentence) || !OF_OURS.test(sentence))) continue;
      const told = (form: RegExp) =>
        [...sentence.matchAll(form)].filter(({ index }) => !TAKEN_BACK.test(sentence.slice(0, index)));
      for (const [form, group] of DIETS)
        if (told(form).length > 0) for (const word of group) excluded.add(word);
      for (const form of ALLERGIES)
        for (const match of told(form)) for (const word of foodsIn(match[1] ?? "")) excluded.add(word);
      for (const form of EXCLUDES)
        for (const match of told(form)) for (const word of wordsOf(match[1] ?? "")) excluded.add(word);
      // What somebody lacks is spoken of at once, and not thought of as there later.
      const forms = n === history.length - 1 ? [DISLIKES] : [DISLIKES, LACKS];
      for (const form of forms)
        for (const match of told(form)) for (const word of wordsOf(match[1] ?? "")) disliked.add(word);
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
    areBrokenBy(reply) {
      if (forms.length + offers.length === 0) return false;
      const free = plain(reply).toLowerCase().replaceAll(FREE_OF, " ");
      // What is made of nuts is free of milk, and of nothing else.
      const said = excluded.has("almond") ? free : free.replaceAll(OF_NUTS, " ");
      return forms.some((form) => form.test(said)) || offers.some((form) => form.test(said));
    },
  };
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
    return noun.length > 2 && !VAGUE.has(noun) ? [singular(noun)] : [];
  });
}

/** What an allergy is to: every food in it, and where none is known what is named. */
function foodsIn(named: string): string[] {
  const foods = (named.match(/[\p{L}'-]+/gu) ?? []).flatMap((word) => GROUPS.get(singular(word)) ?? []);
  return [...foods, ...wordsOf(named)];
}

function singular(word: string): string {
  return word
    .replace(/ies$/, "y")
    .replace(/(?:(?<=[^s])s)$/, "")
    .replace(/(?<=(?:o|sh|ch))e$/, "");
}

function formOf(word: string): RegExp {
  const stem = word.endsWith("y") ? `${word.slice(0, -1)}(?:y|ie|ies)` : `${word}(?:s|es)?`;
  return new RegExp(`\\b${stem}\\b`, "i");
}

const LEADING =
  /^(?:(?:the|any|all|most|some|certain|(?:any|some|all|certain) (?:kinds?|sorts?) of|both|either|my|eating|drinking|raw|fresh|an?) )+/;
/** Before what would exclude something, and says that it does not, or no longer. */
const TAKEN_BACK =
  /\b(?:not|never|used to|no longer|isn't|aren't|wasn't|don't|doesn't|didn't|ex|(?:ex|former) \p{L}+)\b[^,;.]{0,16}$|\b(?:was|were) (?:an? )?$/u;
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
  /^(?:of|in|on|at|to|for|with|it|them|him|her|me|that|this|because|since|so|but|is|are|very|really|badly|severely)$/;
/** Excludes nothing that can be told from the rest. */
const VAGUE: ReadonlySet<string> = new Set(
  "people talk talking thing things stuff much lot time way day everything anything nothing work going being doing getting having making waiting losing idea feeling one place food sound look name".split(
    " ",
  ),
);

const NUTS =
  "nut peanut almond walnut pecan cashew hazelnut pistachio macadamia praline marzipan frangipane pesto nutella satay baklava nougat";
const FISH = "fish salmon tuna cod haddock trout mackerel sardine anchovy herring halibut sushi kipper";
const SHELLFISH =
  "shellfish shell prawn shrimp crab lobster mussel oyster clam scallop squid calamari langoustine paella";
const PORK = "pork bacon ham sausage chorizo salami pancetta prosciutto gammon hot dog";
const MEAT = `meat chicken beef lamb turkey duck steak veal venison mince burger meatball bolognese kebab pepperoni ribs roast ${PORK}`;
const DAIRY =
  "dairy milk cheese butter cream yogurt yoghurt custard mozzarella parmesan cheddar feta brie ricotta cheesecake latte cappuccino milkshake lasagne carbonara";
const EGGS = "egg omelette frittata quiche mayonnaise meringue";
const GLUTEN =
  "gluten wheat bread pasta cake toast noodle couscous flour pastry pizza biscuit cracker sandwich croissant spaghetti lasagne";
const ALCOHOL =
  "alcohol pint wine beer whisky whiskey gin vodka rum champagne prosecco cocktail sherry brandy lager cider";
const CAFFEINE = "caffeine coffee espresso latte cappuccino mocha tea matcha chai cola coke energy drink";
const FLIGHT = "flying flight plane aeroplane airplane airport airline";
const FRIGHT = "horror scary frightening fright spooky slasher zombie";
const MEAL = `porridge cereal muesli fruit banana apple soup rice salad breakfast snack ${MEAT} ${DAIRY} ${EGGS} ${GLUTEN}`;
const SUGAR = "sugar cake chocolate sweets biscuit honey syrup ice cream candy lemonade";

function group(words: string): string[] {
  return words
    .replaceAll(/(?<=hot|ice|energy) (?=dog|cream|drink)/g, "_")
    .split(" ")
    .map((word) => word.replace("_", " "));
}

const GROUPS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      [["nut", "peanut"], NUTS],
      [["fish"], FISH],
      [["seafood"], `seafood ${FISH} ${SHELLFISH}`],
      [["shellfish"], SHELLFISH],
      [["pork"], PORK],
      [["meat"], MEAT],
      [["dairy", "milk", "lactose"], DAIRY],
      [["cheese"], "cheese mozzarella parmesan cheddar feta brie ricotta cheesecake"],
      [["egg"], EGGS],
      [["gluten", "wheat"], GLUTEN],
      [["alcohol", "drink", "booze"], ALCOHOL],
      [["sugar"], SUGAR],
      [["caffeine"], CAFFEINE],
      [["flying", "flight", "fly", "plane"], FLIGHT],
      [["horror", "scary"], FRIGHT],
    ] as const
  ).flatMap(([names, words]) => names.map((name) => [name, group(words)] as const)),
);

const DIETS: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /\bvegetarian\b(?! (?:restaurant|food|option|dish))|\bveggie\b|\b(?:don't|doesn't|haven't|hasn't|never) (?:eat|eaten|touch(?:ed)?) (?:any )?meat\b|\b(?:gave|given|giving) up meat\b|\b(?:quit|stopped) eating meat\b/g,
    group(`${MEAT} ${FISH} ${SHELLFISH} gelatine`),
  ],
  [/\bpesc[ae]tarian\b/g, group(`${MEAT} gelatine`)],
  [/\bhindus?\b/g, group("beef steak veal burger")],
  [
    /\bvegan\b(?! (?:restaurant|food|option|dish))/g,
    group(`${MEAT} ${FISH} ${SHELLFISH} ${DAIRY} ${EGGS} honey gelatine`),
  ],
  [/\bc(?:o)?eliac\b|\bgluten[- ](?:free|intolerant)\b/g, group(GLUTEN)],
  [/\blactose[- ]intolerant\b|\bdairy[- ]free\b|\b(?:can't|cannot) do dairy\b/g, group(DAIRY)],
  [/\bdiabetic\b|\bdiabetes\b/g, group(SUGAR)],
  [
    /\bpregnant\b|\bsober\b|\bteetotal\b|\bdon't drink(?: (?:alcohol|anything))?[.!,]?$|\bexpecting (?:a baby|in)\b|\b(?:gave|given|giving) up drink(?:ing)?\b|\b(?:quit|stopped) drinking\b|\balcoholic\b(?! drink)|\bin recovery\b/g,
    group(ALCOHOL),
  ],
  [
    /\bnothing to eat (?:or drink )?(?:after|from|before|until|till)\b|\b(?:can't|cannot|mustn't|not to) eat (?:anything )?(?:after|from|before|until|till)\b|\bnil by mouth\b/g,
    group(MEAL),
  ],
  [/\b(?:don't|can't|cannot|won't|never|doesn't) fly\b/g, group(FLIGHT)],
  [/\bhalal\b|\bmuslims?\b/g, group(`${PORK} ${ALCOHOL}`)],
  [/\bkosher\b|\bjewish\b/g, group(`${PORK} ${SHELLFISH}`)],
];
const WHAT = "([\\p{L}'-]+(?: [\\p{L}'-]+){0,3}(?:(?:,? (?:or|and) |, )[\\p{L}'-]+(?: [\\p{L}'-]+)?){0,3})";
const ALLERGIES: readonly RegExp[] = [
  new RegExp(`\\b(?:allergic|allergy|allergies|intolerant|intolerance) (?:to|against) ${WHAT}`, "giu"),
  /\b([\p{L}-]+(?: [\p{L}-]+)?) (?:allerg(?:y|ies)|intolerance)\b/giu,
  /\b([\p{L}-]+) (?:(?:could|would|will|can) kill (?:me|him|her|them|us)|(?:brings?|brought) (?:me|him|her|them) out in|(?:gives?|gave) (?:me|him|her|them) (?:hives|a rash)|makes? (?:me|him|her|them|us) (?:ill|sick|itch|sneeze))\b/giu,
];
const EXCLUDES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:can't eat|can't have|can't drink|cannot eat|cannot have|mustn't eat|mustn't have|not allowed|(?:won't|don't|doesn't|never) (?:really )?(?:eat|drink|touch)|haven't (?:eaten|had|touched)|(?:gave|given|giving) up|(?:am|is|are|been|'m|'s|'re) off|(?:anything|everything) (?:but|except)) ${WHAT}`,
    "giu",
  ),
  new RegExp(
    `(?:^|[,.;] |\\b(?:but|and|with|please) )(?:no|without|nothing with|don't (?:suggest|say|offer|recommend|mention)|not even an?) (?!problem|sorry|thanks|idea|one\\b|worries|way|doubt|wonder)${WHAT}(?=[,.!?]|$| please| in| for)`,
    "giu",
  ),
  /\bnot (?:another |any |a |the )?([\p{L}-]+)(?=,? (?:please|again)\b)/giu,
];
/** What is only disliked or feared. */
const DISLIKES = new RegExp(
  `\\b(?:(?:can't|cannot) (?:stand|bear|abide|take|face)|(?:don't|doesn't|didn't|never) (?:really )?(?:like|do)|hates?|loathes?|detests?|despises?|not (?:keen on|into|fond of|a fan of)|sick of|terrified of|scared of|afraid of|phobia of) (?!it\\b|when\\b|how\\b|that\\b|this\\b|to\\b|him\\b|her\\b|them\\b|you\\b|me\\b|being\\b|having\\b)${WHAT}`,
  "giu",
);
/** What somebody has not got. */
const LACKS = new RegExp(
  `\\b(?:(?:have|i've|we've|got|there's|there is) no|(?:haven't got|hasn't got|don't have|doesn't have|don't own|isn't) (?:an?|any)|never had an?) (?!problem|sorry|idea|one\\b|doubt|time|reason|need|clue|choice)${WHAT}`,
  "giu",
);
