/** The words of a text, each in the singular or near it. */
export function singularsIn(text: string): readonly string[] {
  return (text.match(/[\p{L}'-]+/gu) ?? []).map((word) => singular(word));
}

/** The singular of a word, or near it. */
export function singular(word: string): string {
  return word
    .replace(/ies$/, "y")
    .replace(/(?:(?<=[^s])s)$/, "")
    .replace(/(?<=(?:o|sh|ch))e$/, "");
}

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
  "gluten wheat bread pasta cake toast noodle couscous flour pastry pizza biscuit cracker sandwich croissant spaghetti lasagne beer lager ale pie pancake dumpling muffin bagel scone crumble barley rye pretzel waffle brownie cookie bun baguette naan chapati pitta tortilla";
const ALCOHOL =
  "alcohol pint wine beer whisky whiskey gin vodka rum champagne prosecco cocktail sherry brandy lager cider";
const CAFFEINE = "caffeine coffee espresso latte cappuccino mocha tea matcha chai cola coke energy drink";
const MEAL = `porridge cereal muesli fruit banana apple soup rice salad breakfast snack ${MEAT} ${DAIRY} ${EGGS} ${GLUTEN}`;
const SUGAR =
  "sugar cake chocolate sweets biscuit honey syrup ice cream candy lemonade doughnut donut brownie cookie fudge toffee caramel muffin pudding jam coke cola";

/** The names of a list, in which some are of two words. */
export function group(words: string): string[] {
  return words
    .replaceAll(/(?<=hot|ice|energy) (?=dog|cream|drink)/g, "_")
    .split(" ")
    .map((word) => word.replace("_", " "));
}

/** In these groups words that mostly mean something else. */
const NO_FOODS: ReadonlySet<string> = new Set(["shell", "roast", "pint"]);
/**
 * What is eaten and drunk, beside what the groups name: by these words it is told that a reply offers food. Rather too many than
 * too few; none that mostly means something else.
 */
const OTHERS =
  "apple apricot avocado banana blackberry blackcurrant blueberry cherry clementine cranberry currant dragonfruit elderberry fig gooseberry grape grapefruit guava jackfruit kiwi lemon lychee mandarin mango melon nectarine papaya peach pear pineapple plantain pomegranate prune quince raisin raspberry redcurrant rhubarb satsuma strawberry sultana tangerine watermelon berry fruit smoothie juice cordial " +
  "artichoke asparagus aubergine bean beetroot broccoli cabbage capsicum carrot cassava cauliflower celeriac celery chard chickpea chilli chili chive coleslaw corn cornflake courgette cress cucumber edamame eggplant endive fennel garlic gherkin ginger kale kimchi kohlrabi leek lentil lettuce mushroom okra olive onion parsley parsnip pea pepper pickle potato pumpkin radish salad sauerkraut shallot spinach sprout sweetcorn tofu tempeh tomato truffle turnip vegetable veg veggie yam zucchini " +
  "agar barley bran bulgur cereal chapati dumpling farro granola grits muesli naan noodle oat oatcake oatmeal polenta porridge quinoa rice roti rye semolina sourdough tapioca tortilla bagel baguette brioche bun chip crouton crumpet dosa fries fritter gnocchi granola idli loaf macaroni muffin paratha penne pie pitta poppadom pretzel puri ravioli risotto samosa scone stuffing taco tagliatelle tart toastie waffle yorkshire " +
  "aioli balsamic basil bouillon broth caper cardamom cinnamon coriander cumin curry dhal dal dressing gravy guacamole harissa hummus jam jelly ketchup lard margarine marmalade marmite mayo mint miso molasses mustard nutmeg oregano paprika pesto rosemary saffron salsa salt sauce sesame spice stew sugar tahini tarragon thyme turmeric tzatziki vanilla vinegar wasabi " +
  "biryani broth burrito cassoulet casserole chowder crumble enchilada fajita falafel goulash jambalaya kedgeree korma laksa moussaka paella pad-thai pilaf pilau pudding ramen ratatouille shakshuka soup stir-fry tagine tempura teriyaki tikka trifle vindaloo " +
  "brownie caramel cheesecake chocolate cookie crepe cupcake dessert donut doughnut eclair flapjack fondant fudge gateau gelato gingerbread icing liquorice lolly lollipop macaron marshmallow mousse nougat pancake pavlova popcorn sorbet sponge strudel sundae tiramisu toffee treacle truffle ladoo laddu halwa gulab jalebi kheer barfi burfi " +
  "cocoa kefir kombucha lassi lemonade milkshake soda tonic absinthe ale bourbon cava liqueur mead sake scotch spritz tequila vermouth mocktail " +
  "blt eel haggis hare hotpot lamb liver mutton offal oxtail partridge pasty pate pheasant poultry quail quorn roe caviar seitan tripe veal yolk ghee paneer halloumi gouda camembert stilton mascarpone creme quark skyr whey custard seaweed nori";

/** Foods by what they are made of, of each name of a group all that belongs to it, in small letters and the singular. */
export const FOOD_GROUPS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      [["nut", "peanut"], NUTS],
      [["fish"], FISH],
      [["seafood"], `seafood ${FISH} ${SHELLFISH}`],
      [["shellfish"], SHELLFISH],
      [["pork"], PORK],
      [["meat"], MEAT],
      [["dairy", "milk", "lactose"], DAIRY],
      [["cheese"], "cheese mozzarella parmesan cheddar feta brie ricotta cheesecake halloumi paneer"],
      [["egg"], EGGS],
      [["gluten", "wheat"], GLUTEN],
      [["alcohol", "drink", "booze"], ALCOHOL],
      [["sugar"], SUGAR],
      [["caffeine"], CAFFEINE],
      [["sesame"], "sesame tahini hummus halva"],
      [["soy", "soya"], "soy soya tofu edamame miso tempeh"],
    ] as const
  ).flatMap(([names, words]) => names.map((name) => [name, group(words)] as const)),
);

/** Ways to eat, each with what it leaves out, as one would say it and in all. The forms are for contracted text ("don't"). */
export const DIETS: readonly {
  readonly form: RegExp;
  readonly what: string;
  readonly foods: readonly string[];
}[] = [
  {
    form: /\bvegetarian\b(?! (?:restaurant|food|option|dish))|\bveggie\b(?! (?:burger|mince|sausage))|\b(?:don't|doesn't|haven't|hasn't|never) (?:eat|eaten|touch(?:ed)?) (?:any )?meat\b|\b(?:gave|given|giving) up meat\b|\b(?:quit|stopped) eating meat\b/g,
    what: "meat",
    foods: group(`${MEAT} ${FISH} ${SHELLFISH} gelatine`),
  },
  { form: /\bpesc[ae]tarian\b/g, what: "meat", foods: group(`${MEAT} gelatine`) },
  { form: /\bhindus?\b/g, what: "beef", foods: group("beef steak veal burger") },
  {
    form: /\bjains?\b/g,
    what: "meat and nothing that grows underground",
    foods: group(
      `${MEAT} ${FISH} ${SHELLFISH} ${EGGS} honey gelatine onion garlic potato carrot beetroot radish ginger leek turnip`,
    ),
  },
  {
    form: /\bvegan\b(?! (?:restaurant|food|option|dish))|\bplant[- ]based\b|\b(?:avoid|don't (?:eat|consume|use)|no) animal products\b/g,
    what: "anything from animals",
    foods: group(`${MEAT} ${FISH} ${SHELLFISH} ${DAIRY} ${EGGS} honey gelatine`),
  },
  { form: /\bc(?:o)?eliac\b|\bgluten[- ](?:free|intolerant)\b/g, what: "gluten", foods: group(GLUTEN) },
  {
    form: /\blactose[- ]intolerant\b|\bdairy[- ]free\b|\bcan't do dairy\b/g,
    what: "milk",
    foods: group(DAIRY),
  },
  { form: /\bdiabetic\b|\bdiabetes\b/g, what: "sugar", foods: group(SUGAR) },
  {
    form: /\bpregnant\b|\bsober\b|\bteetotal(?:ler)?\b|\bdon't drink(?: (?:alcohol|anything))?[.!,]?$|\bexpecting (?:a baby|in)\b|\b(?:gave|given|giving) up drink(?:ing)?\b|\b(?:quit|stopped) drinking\b|\balcoholic\b(?! drink)|\bin recovery\b(?! (?:after|from|room|ward|following))/g,
    what: "alcohol",
    foods: group(ALCOHOL),
  },
  {
    form: /\bnothing to eat (?:or drink )?(?:after|from|before|until|till)\b|\b(?:can't|mustn't|not to) eat (?:anything )?(?:after|from|before|until|till)\b|\bnil by mouth\b/g,
    what: "food",
    foods: group(MEAL),
  },
  { form: /\bhalal\b|\bmuslims?\b/g, what: "pork", foods: group(`${PORK} ${ALCOHOL}`) },
  { form: /\bkosher\b|\bjewish\b/g, what: "pork", foods: group(`${PORK} ${SHELLFISH}`) },
];

const FOODS: ReadonlySet<string> = new Set(
  group(
    `${OTHERS} ${NUTS} ${FISH} ${SHELLFISH} ${MEAT} ${DAIRY} ${EGGS} ${GLUTEN} ${ALCOHOL} ${CAFFEINE} ${SUGAR}`,
  ).filter((word) => !NO_FOODS.has(word)),
);

/** What a text, in small letters, names that is eaten or drunk, in the singular. */
export function foodsNamed(text: string): readonly string[] {
  return singularsIn(text).filter((word) => FOODS.has(word));
}

/** Whether a text speaks of eating or drinking, or names some of it. */
export function isAboutFood(text: string): boolean {
  return EATING.test(text) || foodsNamed(text.toLowerCase()).length > 0;
}

const EATING =
  /\b(?:eat\p{L}*|cook\p{L}*|bak(?:e|ing)|dinner|lunch|supper|breakfast|brunch|tea ?time|snack\p{L}*|meal|dish(?:es)?|recipe|menu|starter|main|order|serve|feed|nibbles?|buffet|picnic|barbecue|bbq|feast|takeaway|restaurant|caf[eé]|butcher|baker|grocer\p{L}*|pudding|dessert|drinks?|toast|hungry|peckish|treat|lunchbox|hamper|canap[eé]s?|on the table|for tea)\b/iu;
