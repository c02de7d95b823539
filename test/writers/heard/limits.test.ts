import assert from "node:assert/strict";
import { test } from "node:test";
import { limitsOf } from "../../../src/writers/heard/limits.ts";
import { byTurns } from "../dialogues.ts";

/** What somebody told, what may be offered after it, and what may not. */
const TOLD: readonly (readonly [told: string, fits: readonly string[], breaks: readonly string[]])[] = [
  [
    "I'm allergic to nuts.",
    ["An apple cake.", "A nut-free cake."],
    ["A walnut cake.", "Try pesto.", "Peanut butter?"],
  ],
  [
    "My mum's a vegetarian.",
    ["Leave out the chicken.", "Mushroom risotto."],
    ["A chicken curry.", "Fish and chips."],
  ],
  ["she's vegan", ["Lentil soup.", "Oat milk works."], ["An omelette.", "Add some cheese.", "Honey cake."]],
  ["We don't eat pork.", ["Roast beef."], ["Bacon sandwiches.", "A ham pie."]],
  ["i hate mushrooms", ["Tomato soup."], ["Mushroom risotto.", "Fried mushrooms."]],
  ["One cheese toastie, no cheese please", ["A plain toastie."], ["Extra cheddar?"]],
  ["I'm lactose intolerant.", ["A fruit salad."], ["An ice cream sundae with cream."]],
  ["I don't drink.", ["Ginger ale."], ["A glass of wine."]],
  ["He can't stand cats.", ["Get a dog."], ["A cat would cheer him up."]],
  ["I don't like him.", ["Tell him so.", "Then keep away."], []],
  ["I'm allergic to tree nuts.", ["An apple."], ["A walnut salad."]],
  [
    "I think my son is allergic to both nuts and eggs.",
    ["Porridge."],
    ["Peanut butter toast.", "An omelette."],
  ],
  ["I'm allergic to wheat, eggs, and milk.", ["Rice."], ["Pasta.", "An egg.", "A glass of milk."]],
  ["I'm allergic to strawberries.", ["Apricot jam."], ["Strawberry jam on toast.", "Strawberries."]],
  ["Nuts bring me out in hives.", ["Crisps."], ["Apple slices with peanut butter."]],
  ["I have nut allergies", [], ["Cashews?"]],
  ["I haven't eaten meat for years.", ["Roasted vegetables."], ["Roasted vegetables with sausages."]],
  ["I gave up meat", [], ["A steak."]],
  ["He's two years sober.", ["A coffee."], ["A pint with friends."]],
  ["No coriander in mine please", ["A tomato salsa."], ["Chop some coriander."]],
  [
    "I can't have caffeine.",
    ["Herbal tea.", "A glass of water."],
    ["A small tea with milk.", "Strong coffee."],
  ],
  ["I don't do flying, full stop.", ["Take the train."], ["Ask for a flight.", "The airport is near."]],
  ["please don't say running, my knees are finished", ["Swimming."], ["A minute of running."]],
  ["I cannot abide gardening.", ["Painting."], ["Gardening is satisfying."]],
  ["They said nothing to eat after midnight.", ["Only water."], ["Porridge with fruit."]],
  ["i hate horror films", ["A comedy."], ["Something scary."]],
  ["No balcony, not even a windowsill.", [], ["A windowsill is enough for herbs."]],
  ["I was diagnosed coeliac last year.", ["Rice."], ["A slice of toast."]],
  ["I was told I'm diabetic.", ["That's sweet of you."], ["A chocolate cake.", "Sweets."]],
  ["I can't eat green olives.", ["Green beans."], ["Olives and bread."]],
  ["I'm allergic to cookies.", [], ["Have a cookie."]],
  ["I'm allergic to milk.", ["Almond milk.", "Coconut yoghurt."], ["A glass of milk."]],
  ["I'm allergic to nuts, I told you.", [], ["Toast with almond butter.", "Almond milk."]],
  ["I'm allergic to nuts, so what should I bake?", ["Scones."], ["A walnut cake."]],
  ["Can you suggest a dinner for my vegan sister?", ["Lentil soup."], ["A chicken curry."]],
  ["sesame sends my flatmate to hospital so we dont keep it", ["A lentil soup."], ["Homemade hummus."]],
  ["Teo breaks out in hives if egg so much as touches his plate.", ["A fruit salad."], ["Beat three eggs."]],
  ["Milk and I fell out years ago, it goes straight through me.", ["Oat milk."], ["A bowl of custard."]],
  ["We're Jains.", ["Rice with lentils."], ["A curry with onions."]],
  ["I'm frightened of horses.", ["Go by bike."], ["A horse would be quicker."]],
  ["I won't set foot in an aeroplane.", ["Take the ferry."], ["Any aeroplane is safe."]],
  // "No" and "not" that exclude nothing of the offer.
  [
    "I'm vegan.",
    ["No cheese, just lentils.", "Don't add butter."],
    [
      "No problem, how about a cheese omelette?",
      "Why don't you try cheese on toast?",
      "Not sure, but a cheese omelette.",
    ],
  ],
  [
    "I'm allergic to nuts, badly.",
    [],
    ["You can't go wrong with peanut butter.", "Never say no to a peanut butter sandwich."],
  ],
  ["I never eat out.", ["Then stay in. Eating out is dear anyway."], []],
  ["No offence, but no.", ["No offence taken."], []],
  ["My son is not allowed peanuts.", [], ["Peanut butter."]],
  ["She is not keen on olives.", [], ["Olives and bread."]],
  ["i cant eat nuts", [], ["Yoghurt with nuts."]],
  ["Keep nuts away from my son.", [], ["A walnut cake."]],
  ["Nuts are what I can't eat.", [], ["Almonds."]],
  ["If I eat nuts I end up in A&E.", [], ["Pecan pie."]],
  ["Meat's off the menu for me.", [], ["Sausages."]],
  ["We avoid animal products.", ["Lentils."], ["Sausages."]],
  ["My wife dislikes mushrooms.", [], ["A mushroom risotto."]],
  ["i dont drink coffee", [], ["A coffee."]],
  ["Don't forget I'm allergic to nuts", [], ["Walnuts."]],
  ["I'm not vegan but allergic to eggs", ["Cheese."], ["An omelette."]],
  ["Is it bad that I'm allergic to nuts?", [], ["Walnuts."]],
  ["I've stopped eating bread", [], ["A slice of bread."]],
  ["allergies: eggs, milk and nuts", [], ["Three eggs."]],
  ["I have a severe nut allergy.", ["A severe storm."], ["Walnuts."]],
  // Nobody's way to eat, and nothing that is not wanted.
  ["It's a lovely vegetarian lasagne.", ["A steak."], []],
  ["He's in recovery after the operation.", ["A beer."], []],
  ["I haven't had breakfast yet.", ["A good breakfast."], []],
  ["I haven't had chocolate this good in years.", ["More chocolate!"], []],
  ["Penguins can't fly.", ["Book a flight."], []],
  ["I'm off to Spain.", ["Spain is lovely."], []],
  // Food beside a harm that it did not do.
  ["My mum's in hospital, so I took her grapes.", ["More grapes would cheer her up."], []],
  ["I fell out with my sister over a cake.", ["Bake her a cake."], []],
  ["He's allergic to cats but he loves cake.", ["A cake, then."], ["A cat would like it."]],
  // What is not so, is asked, or was.
  ["I'm not allergic to nuts.", ["A walnut cake."], []],
  ["I'm not a vegetarian.", ["A steak."], []],
  ["Are you vegetarian?", ["A steak."], []],
  ["My ex was a vegan.", ["A steak."], []],
  ["I don't hate mushrooms.", ["Mushroom soup."], []],
  ["I used to be vegetarian.", ["A steak."], []],
  // Whoever fears something may need it.
  ["I can't stand doctors.", ["You should see a doctor about that."], []],
  ["I'm terrified of my husband.", ["Is your husband there now?"], []],
  ["I don't like it when people shout.", ["When did it begin?"], []],
  ["No problem.", ["That's a problem."], []],
  ["I hate my job.", ["Then look for another job."], []],
  ["I like nuts.", ["A walnut cake."], []],
  ["I don't have any idea.", ["Here's an idea."], []],
];

for (const [told, fits, breaks] of TOLD)
  test(told, () => {
    const limits = limitsOf(byTurns([told, "I see.", "What could I have?"]), "1");
    for (const reply of fits) assert.equal(limits.areBrokenBy(reply), false, reply);
    for (const reply of breaks) assert.equal(limits.areBrokenBy(reply), true, reply);
  });

test("what somebody dislikes may be spoken of where they ask about it", () => {
  const told = ["I'm afraid of dogs.", "I see.", "How do I get over being afraid of dogs?"];
  assert.equal(limitsOf(byTurns(told), "1").areBrokenBy("Start with a small dog behind a fence."), false);
  assert.equal(limitsOf(byTurns(["I'm afraid of dogs."]), "1").areBrokenBy("Get a dog."), true);
});

test("what somebody lacks is spoken of at once, and is not there later", () => {
  const talk = ["I haven't got a car.", "I see.", "How do I get to the lake?"];
  assert.equal(limitsOf(byTurns(talk), "1").areBrokenBy("An hour by car."), true);
  assert.equal(limitsOf(byTurns(talk.slice(0, 1)), "1").areBrokenBy("Without a car, buses are slow."), false);
  assert.equal(limitsOf(byTurns(talk.slice(0, 1)), "1").areBrokenBy("A car is dear, anyway."), false);
});

test("an allergy in a long turn is read, too", () => {
  const told = `${"We went to the sea and it was lovely. ".repeat(50)}I'm allergic to nuts.`;
  assert.equal(limitsOf(byTurns([told, "I see.", "A snack?"]), "1").areBrokenBy("Walnuts."), true);
});

test("what we said ourselves excludes nothing", () => {
  const limits = limitsOf(byTurns(["Hello.", "I hate mushrooms.", "Why?"]), "1");
  assert.equal(limits.areBrokenBy("Mushroom soup."), false);
});

test("after anything about a diet, food that nobody named is a risk", () => {
  const talk = ["My doctor says no salt for me now.", "I see.", "I fancy chickpeas. What goes with them?"];
  const limits = limitsOf(byTurns(talk), "1");
  for (const reply of ["Serve them with feta.", "A curry, perhaps."])
    assert.equal(limits.areRiskedBy(reply), true);
  for (const reply of ["Chickpeas are a good choice.", "Have a nice evening."])
    assert.equal(limits.areRiskedBy(reply), false);
  assert.equal(limitsOf(byTurns(["I fancy a curry."]), "1").areRiskedBy("With rice."), false);
});

test("what nobody will have is named as it was told", () => {
  const whatOf = (text: string) => limitsOf(byTurns([text]), "1").told.map(({ what }) => what);
  assert.deepEqual(whatOf("I can't stand the seaside."), ["the seaside"]);
  assert.deepEqual(whatOf("I'm allergic to nuts."), ["nuts"]);
  assert.deepEqual(whatOf("doc says no grapefruit with my pills"), ["grapefruit"]);
  assert.deepEqual(whatOf("Anything but running, my knees are finished."), ["running"]);
  assert.deepEqual(whatOf("My sister is vegan."), ["anything from animals"]);
  for (const loss of [
    "I can't have children.",
    "I have no family left.",
    "Mum's gone, and no goodbye.",
    "I've given up hope.",
  ])
    assert.deepEqual(whatOf(loss), [], loss);
  assert.deepEqual(whatOf("We had a lovely time."), []);
});
