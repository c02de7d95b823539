import type { SpeakerLabel, Turn } from "../../../model/conversation.ts";
import { MAX_TURN_CHARS, plain, sentencesIn } from "./statements.ts";

/** What nobody may offer to somebody who told that they cannot or will not have it. */
export interface Limits {
  /** Whether a reply offers what was excluded. */
  areBrokenBy(reply: string): boolean;
}

/**
 * What the others told that they do not eat, drink, like or want: "I'm allergic to nuts", "my mum's a vegetarian", "no
 * mushrooms". A later "it's all right, she eats fish" takes nothing back: what is left out harms nobody.
 */
export function limitsOf(history: readonly Turn[], speaker: SpeakerLabel): Limits {
  const excluded = new Set<string>();
  for (const { speaker: who, text } of history) {
    if (who === speaker || text === null || text.length > MAX_TURN_CHARS) continue;
    for (const sentence of sentencesIn(plain(text).toLowerCase())) {
      for (const [form, group] of DIETS)
        if (form.test(sentence)) for (const word of group) excluded.add(word);
      for (const form of EXCLUDES)
        for (const match of sentence.matchAll(form))
          for (const word of wordsOf(match[1] ?? "")) excluded.add(word);
    }
  }
  const forms = [...excluded].map((word) => formOf(word));
  return {
    areBrokenBy(reply) {
      if (forms.length === 0) return false;
      const said = plain(reply).toLowerCase().replaceAll(FREE_OF, " ");
      return forms.some((form) => form.test(said));
    },
  };
}

/** What is named, and what belongs to it. */
function wordsOf(named: string): string[] {
  return named
    .replace(/^(?:the|any|all|my|most|eating|drinking|raw|fresh|a|an) /, "")
    .split(/,? (?:or|and) |, /)
    .flatMap((part) => {
      const words = part.replace(/^(?:the|any|all|most|raw|fresh) /, "").split(" ");
      const noun = words.slice(0, 2).filter((word) => !SMALL.test(word));
      const heads = noun.length > 0 ? [noun[0] ?? ""] : [];
      return heads.flatMap(
        (word) => GROUPS.get(singular(word)) ?? (word.length > 2 && !VAGUE.has(word) ? [singular(word)] : []),
      );
    });
}

function singular(word: string): string {
  return word.replace(/(?:(?<=[^s])s)$/, "").replace(/(?<=(?:o|sh|ch))e$/, "");
}

function formOf(word: string): RegExp {
  return new RegExp(`\\b${word}(?:s|es)?\\b`, "i");
}

/** Says that something is not in it. */
const FREE_OF =
  /\b(?:no|not|without|avoid(?:ing)?|leave out|skip(?:ping)?|instead of|rather than|free of|except|never|isn't|aren't|hasn't|don't|can't|won't|allergic to|allergy to|off)\b[^.!?;]*|\b[\w-]+-free\b|\b(?:dairy|nut|gluten|egg|meat|alcohol|sugar)[ -]free [\w]+|\b(?:oat|almond|soya?|coconut|rice|vegan|plant|vegetarian|veggie)[ -](?:milk|yogh?urt|cheese|cream|butter|sausages?|burgers?|mince)\b/g;
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
  "shellfish prawn shrimp crab lobster mussel oyster clam scallop squid calamari langoustine paella";
const PORK = "pork bacon ham sausage chorizo salami pancetta prosciutto gammon hot dog";
const MEAT = `meat chicken beef lamb turkey duck steak veal venison mince burger meatball bolognese kebab pepperoni ribs roast ${PORK}`;
const DAIRY =
  "dairy milk cheese butter cream yogurt yoghurt custard mozzarella parmesan cheddar feta brie ricotta cheesecake latte cappuccino milkshake lasagne carbonara";
const EGGS = "egg omelette frittata quiche mayonnaise meringue";
const GLUTEN =
  "gluten wheat bread pasta cake toast noodle couscous flour pastry pizza biscuit cracker sandwich croissant spaghetti lasagne";
const ALCOHOL =
  "alcohol wine beer whisky whiskey gin vodka rum champagne prosecco cocktail sherry brandy lager cider";
const SUGAR = "sugar cake chocolate sweet biscuit honey syrup ice cream candy lemonade";

function group(words: string): string[] {
  return words
    .replace("hot dog", "hot_dog")
    .replace("ice cream", "ice_cream")
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
    ] as const
  ).flatMap(([names, words]) => names.map((name) => [name, group(words)] as const)),
);

const DIETS: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /\bvegetarian\b(?! (?:restaurant|food|option|dish))|\bveggie\b|\bdon't eat (?:any )?meat\b/,
    group(`${MEAT} ${FISH} ${SHELLFISH} gelatine`),
  ],
  [
    /\bvegan\b(?! (?:restaurant|food|option|dish))/,
    group(`${MEAT} ${FISH} ${SHELLFISH} ${DAIRY} ${EGGS} honey gelatine`),
  ],
  [/\bc(?:o)?eliac\b|\bgluten[- ](?:free|intolerant)\b/, group(GLUTEN)],
  [/\blactose[- ]intolerant\b|\bdairy[- ]free\b/, group(DAIRY)],
  [/\bdiabetic\b|\bdiabetes\b/, group(SUGAR)],
  [/\bnut allergy\b|\ballergic to nuts?\b/, group(NUTS)],
  [
    /\bpregnant\b|\bsober\b|\bteetotal\b|\bdon't drink(?: (?:alcohol|anything))?[.!,]?$|\bexpecting (?:a baby|in)\b|\bgave up drinking\b/,
    group(ALCOHOL),
  ],
  [/\bhalal\b|\bmuslim\b/, group(`${PORK} ${ALCOHOL}`)],
  [/\bkosher\b/, group(`${PORK} ${SHELLFISH}`)],
];
const WHO = "(?:i|we|he|she|they|(?:my|our) [\\p{L}']+|\\p{L}+)";
const WHAT = "((?:[\\p{L}'-]+ ?){1,3}(?:(?:, | or | and )[\\p{L}'-]+){0,3})";
const EXCLUDES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:allergic to|allergy to|intolerant to|can't stand|can't bear|can't eat|can't have|cannot eat|cannot have|can't drink|mustn't eat|mustn't have|not allowed|(?:won't|don't|doesn't|never|didn't) (?:really )?(?:eat|drink|like|touch)|hates?|off|sick of|terrified of|scared of|afraid of|phobia of) ${WHAT}`,
    "giu",
  ),
  new RegExp(`\\b${WHO} (?:has|have|'s got|'ve got|got) an? ([\\p{L}-]+) allergy\\b`, "giu"),
  /\b([\p{L}-]+) (?:makes? (?:me|him|her|them|us) (?:ill|sick|itch|sneeze)|allergy)\b/giu,
  new RegExp(`(?:^|[,.;] |\\b(?:but|and|with|please) )no ${WHAT}(?=[,.!?]|$| please| in| for)`, "giu"),
  /\b(?:anything but|not) (?:another |any |a |the )?([\p{L}-]+)(?=,? (?:please|again)\b)/giu,
];
