import assert from "node:assert/strict";
import { test } from "node:test";
import { limitsOf } from "../../../../src/writers/replies/memory/limits.ts";
import { byTurns } from "../../dialogues.ts";

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
  ["I like nuts.", ["A walnut cake."], []],
  ["I don't have any idea.", ["Here's an idea."], []],
];

for (const [told, fits, breaks] of TOLD)
  test(told, () => {
    const limits = limitsOf(byTurns([told, "I see.", "What could I have?"]), "1");
    for (const reply of fits) assert.equal(limits.areBrokenBy(reply), false, reply);
    for (const reply of breaks) assert.equal(limits.areBrokenBy(reply), true, reply);
  });

test("what we said ourselves excludes nothing", () => {
  const limits = limitsOf(byTurns(["Hello.", "I hate mushrooms.", "Why?"]), "1");
  assert.equal(limits.areBrokenBy("Mushroom soup."), false);
});
