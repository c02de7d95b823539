/** The singular of a word, or near it. */
export function singular(word: string): string {
  return word
    .replace(/ies$/, "y")
    .replace(/(?:(?<=[^s])s)$/, "")
    .replace(/(?<=(?:o|sh|ch))e$/, "");
}

const NUTS =
  "nut peanut almond walnut pecan cashew hazelnut pistachio macadamia praline marzipan frangipane pesto nutella satay baklava nougat";
export const FISH =
  "fish salmon tuna cod haddock trout mackerel sardine anchovy herring halibut sushi kipper";
export const SHELLFISH =
  "shellfish shell prawn shrimp crab lobster mussel oyster clam scallop squid calamari langoustine paella";
export const PORK = "pork bacon ham sausage chorizo salami pancetta prosciutto gammon hot dog";
export const MEAT = `meat chicken beef lamb turkey duck steak veal venison mince burger meatball bolognese kebab pepperoni ribs roast ${PORK}`;
export const DAIRY =
  "dairy milk cheese butter cream yogurt yoghurt custard mozzarella parmesan cheddar feta brie ricotta cheesecake latte cappuccino milkshake lasagne carbonara";
export const EGGS = "egg omelette frittata quiche mayonnaise meringue";
export const GLUTEN =
  "gluten wheat bread pasta cake toast noodle couscous flour pastry pizza biscuit cracker sandwich croissant spaghetti lasagne";
export const ALCOHOL =
  "alcohol pint wine beer whisky whiskey gin vodka rum champagne prosecco cocktail sherry brandy lager cider";
export const CAFFEINE =
  "caffeine coffee espresso latte cappuccino mocha tea matcha chai cola coke energy drink";
export const MEAL = `porridge cereal muesli fruit banana apple soup rice salad breakfast snack ${MEAT} ${DAIRY} ${EGGS} ${GLUTEN}`;
export const SUGAR = "sugar cake chocolate sweets biscuit honey syrup ice cream candy lemonade";

/** The names of a list, in which some are of two words. */
export function group(words: string): string[] {
  return words
    .replaceAll(/(?<=hot|ice|energy) (?=dog|cream|drink)/g, "_")
    .split(" ")
    .map((word) => word.replace("_", " "));
}

/** In these groups words that mostly mean something else. */
const NO_FOODS: ReadonlySet<string> = new Set(
  "shell roast rib ribs nut hot dog energy drink pint ice".split(" "),
);
/**
 * What is eaten and drunk, beside what the groups name: by these words it is told that a reply offers food. Rather too many than
 * too few; none that mostly means something else.
 */
const OTHERS =
  "apple apricot avocado banana blackberry blackcurrant blueberry cherry clementine cranberry currant date dragonfruit elderberry fig gooseberry grape grapefruit guava jackfruit kiwi lemon lime lychee mandarin mango melon nectarine orange papaya peach pear pineapple plantain plum pomegranate prune quince raisin raspberry redcurrant rhubarb satsuma strawberry sultana tangerine watermelon berry fruit smoothie juice squash cordial " +
  "artichoke asparagus aubergine bean beetroot broccoli cabbage capsicum carrot cassava cauliflower celeriac celery chard chickpea chilli chili chive coleslaw corn cornflake courgette cress cucumber edamame eggplant endive fennel garlic gherkin ginger kale kimchi kohlrabi leek lentil lettuce mushroom okra olive onion parsley parsnip pea pepper pickle potato pumpkin radish rocket salad sauerkraut shallot spinach sprout swede sweetcorn tofu tempeh tomato truffle turnip vegetable veg veggie yam zucchini " +
  "agar barley bran bulgur cereal chapati dumpling farro granola grits muesli naan noodle oat oatcake oatmeal polenta porridge quinoa rice roti rye semolina sourdough tapioca tortilla bagel baguette bap brioche bun chip crisp crouton crumpet dosa fries fritter gnocchi granola hash idli loaf macaroni muffin paratha penne pie pitta poppadom pretzel puri ravioli risotto samosa scone stuffing taco tagliatelle tart toastie waffle wrap yorkshire " +
  "aioli balsamic basil bouillon broth caper cardamom cinnamon clove coriander cumin curry dhal dal dip dressing gravy guacamole harissa hummus jam jelly ketchup lard margarine marmalade marmite mayo mint miso molasses mustard nutmeg oil oregano paprika pesto rosemary saffron sage salsa salt sauce sesame spice stew stock sugar tahini tarragon thyme turmeric tzatziki vanilla vinegar wasabi " +
  "biryani broth burrito cassoulet casserole chowder crumble enchilada fajita falafel goulash jambalaya kedgeree korma laksa moussaka paella pad-thai pho pilaf pilau pudding ramen ratatouille shakshuka soup stir-fry tagine tempura teriyaki tikka trifle vindaloo " +
  "brownie caramel cheesecake chocolate cookie crepe cupcake dessert donut doughnut eclair flapjack fondant fudge gateau gelato gingerbread icing jaffa liquorice lolly lollipop macaron marshmallow mousse nougat pancake pavlova popcorn sorbet sponge strudel sundae sweet tiramisu toffee treacle truffle ladoo laddu halwa gulab jalebi kheer barfi burfi " +
  "cocoa kefir kombucha lassi lemonade milkshake punch soda squash tonic absinthe ale bourbon cava liqueur mead port rosé sake scotch spirit spritz stout tequila vermouth mocktail " +
  "blt brunch buffet dinner eel goose goat haggis hare hotpot kidney lamb liver mutton offal oxtail partridge pasty pate pheasant pigeon poultry quail quorn rabbit roe caviar seitan snail tripe veal yolk ghee paneer halloumi gouda camembert stilton mascarpone creme quark skyr whey custard seaweed nori seed";

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

const FOODS: ReadonlySet<string> = new Set(
  [
    ...group(
      `${OTHERS} ${NUTS} ${FISH} ${SHELLFISH} ${MEAT} ${DAIRY} ${EGGS} ${GLUTEN} ${ALCOHOL} ${CAFFEINE} ${SUGAR}`,
    ),
  ].filter((word) => !NO_FOODS.has(word)),
);

/** What a text, in small letters, names that is eaten or drunk, in the singular. */
export function foodsNamed(text: string): readonly string[] {
  return (text.match(/[\p{L}'-]+/gu) ?? []).map((word) => singular(word)).filter((word) => FOODS.has(word));
}

/** Whether a text speaks of eating or drinking, or names some of it. */
export function isAboutFood(text: string): boolean {
  return EATING.test(text) || foodsNamed(text.toLowerCase()).length > 0;
}

const EATING =
  /\b(?:eat\p{L}*|cook\p{L}*|bak(?:e|ing)|dinner|lunch|supper|breakfast|brunch|tea ?time|snack\p{L}*|meal|dish(?:es)?|recipe|menu|starter|main|order|serve|feed|nibbles?|bites?|buffet|picnic|barbecue|bbq|feast|takeaway|restaurant|caf[eé]|butcher|baker|grocer\p{L}*|pudding|dessert|drinks?|toast|hungry|peckish|treat|lunchbox|hamper|canap[eé]s?|on the table|for tea)\b/iu;
