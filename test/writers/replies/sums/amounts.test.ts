import assert from "node:assert/strict";
import { test } from "node:test";
import { sumOverTurns } from "../../../../src/writers/replies/sums/amounts.ts";
import { byTurns } from "../../dialogues.ts";

/** Turns of one person and us, and what comes of them. */
const TALKS: readonly (readonly [turns: readonly string[], answer: string | null])[] = [
  [["what's 12 times 12", "That's 144.", "divide that by four"], "That's 36."],
  [["What is 7 times 8?", "That's 56.", "Halve it."], "That's 28."],
  [["What's 15% of 80?", "That's 12.", "and plus 5?"], "That's 17."],
  [["What's 200 minus 35?", "That's 165.", "And with 10% off?"], "That's 148.5."],
  [["What's 60 plus 20?", "That's 80.", "and divided by zero?"], null],
  [
    ["I have forty chairs for the hall.", "Good.", "We lent twelve to the school. How many are left?"],
    "That leaves 28 chairs.",
  ],
  [
    ["I've got 24 eggs", "Good.", "and I used 9 for the cake", "ok", "how many eggs do i have left"],
    "That leaves 15 eggs.",
  ],
  [
    ["I spent £12 on flowers", "Nice.", "and £30 on the cake", "Lovely.", "How much is that altogether?"],
    "That's £42 altogether.",
  ],
  [["The bill is £96.", "Right.", "There are six of us. How much each?"], "That's £16 each."],
  [
    ["The bill is £100.", "Right.", "There are three of us. How much is that each?"],
    "That's about £33.33 each.",
  ],
  [
    [
      "I've got three pets. Biscuit is the tortoise, Duke's the budgie and Lady Jane is the ferret.",
      "All right.",
      "It is. Now a test: which of mine is the budgie, and who's the thief?",
    ],
    null,
  ],
  [
    ["I've got forty chairs and I lent twelve to the school.", "All right.", "how many do I have left?"],
    "That leaves 28 chairs.",
  ],
  [
    ["I had 90 saved. The guitar is 240 euros.", "All right.", "how much more do I need?"],
    "That's €150 more.",
  ],
  [["I get 15 a week and I need 150.", "All right.", "how many weeks will that take?"], "That's 10 weeks."],
  [
    ["I run five kilometres in thirty minutes.", "All right.", "how long for ten at that speed"],
    "That's 60 minutes.",
  ],
  [["We are six and the bill is 132.", "All right.", "how much each?"], "That's 22 each."],
  [["The bill is 132 and we're six.", "All right.", "What does each of us pay?"], "That's 22 each."],
  [
    ["Flights are 220 each and there are four of us.", "All right.", "what's that in total?"],
    "That's 880 altogether.",
  ],
  [
    ["A ticket is 12 euros.", "All right.", "We're five people.", "All right.", "How much altogether?"],
    "That's €60 altogether.",
  ],
  [["I've done 12 pages out of 40.", "All right.", "how many pages are left"], "That leaves 28 pages."],
  [
    ["I read 30 pages a day and the book has 300.", "All right.", "How long will it take me?"],
    "That's 10 days.",
  ],
  [["three packs of six eggs", "All right.", "how many eggs is that"], "That's 18 eggs altogether."],
  [
    ["We leave at nine and it takes three and a half hours.", "All right.", "when do we get there?"],
    "That would be 12:30.",
  ],
  [
    ["The film starts at 7.30 and lasts two hours.", "All right.", "When does it end?"],
    "That would be 9:30.",
  ],
  [
    ["Dinner's at eight and I need 45 minutes to cook.", "All right.", "when should I start?"],
    "That would be 7:15.",
  ],
  [["I was born in 1961.", "All right.", "how old will I be in 2030?"], null],
  [["my rent is 800 and I earn 2100.", "All right.", "what's left after rent?"], "That leaves 1,300."],
  [
    ["It's 340 for the week plus 60 for the dog.", "All right.", "what's that all together?"],
    "That's 400 altogether.",
  ],
  [
    ["And I pay half.", "All right.", "Cottage is 600 for four friends.", "All right.", "what's my share?"],
    "That's 150 each.",
  ],
  [["I run five kilometres in thirty minutes.", "All right.", "at that speed ten?"], "That's 60 minutes."],
  [
    [
      "I'm saving up for a guitar, it's 240 euros.",
      "All right.",
      "90 so far.",
      "All right.",
      "I get 15 a week for walking next door's dogs.",
      "All right.",
      "How many more weeks then?",
    ],
    "That's 10 weeks.",
  ],
  [["We have 24 pupils and 3 are ill.", "All right.", "How many are there?"], null],
  [["We have 24 pupils and 3 are ill.", "All right.", "so how many come in total"], null],
  [["I have a cat that is 3 and two dogs", "All right.", "how many pets in total"], null],
  [
    ["It costs 30 a night and we stay four nights.", "All right.", "How much altogether?"],
    "That's 120 altogether.",
  ],
  [
    ["It's 30 a night.", "All right.", "We're there four nights.", "All right.", "what does that come to?"],
    "That's 120 altogether.",
  ],
  [
    ["The taxi was 18, dinner 42 and the museum 20.", "All right.", "how much did I spend altogether"],
    "That's 80 altogether.",
  ],
  [["I weigh 82 kilos and lost 3.", "All right.", "how many kilos are left"], "That leaves 79 kilos."],
  [
    ["My meeting starts at 2 and lasts an hour and a half.", "All right.", "when am I done?"],
    "That would be 3:30.",
  ],
  [
    ["The roast needs two hours and we eat at seven.", "All right.", "When do I put it in?"],
    "That would be 5 o'clock.",
  ],
  [["The shop opens at nine and closes at six.", "All right.", "when should I go?"], null],
  [["I have two brothers and one sister.", "All right.", "How many siblings is that altogether?"], null],
  [["I owe Tom 20 and Mia 35.", "All right.", "how much do I owe in total?"], "That's 55 altogether."],
  [["I am 34 and my brother is 29.", "All right.", "how much older am I?"], null],
  [["We need 50 chairs and have 32.", "All right.", "How many more do we need?"], "That's 18 chairs more."],
  [["I slept from eleven to six.", "All right.", "how many hours is that"], null],
  // Of rates, of what nearly was, of others, of what is told twice.
  [
    ["I had 50 euros, spent 10 euros on Monday and 10 euros on Tuesday.", "All right.", "How much is left?"],
    "That leaves €30.",
  ],
  [
    [
      "I have 40 tablets and I used 4 tablets each day this week.",
      "All right.",
      "How many tablets are left?",
    ],
    null,
  ],
  [["I had 50 euros and spent 10 euros twice.", "All right.", "How much is left?"], null],
  [["I pay £800 rent a month and the bills cost £100 a week.", "All right.", "How much altogether?"], null],
  [["The book costs £10 each.", "All right.", "I paid £20.", "All right.", "How much altogether?"], null],
  [
    [
      "I had 30 euros.",
      "All right.",
      "I didn't spend 10 euros after all.",
      "All right.",
      "How much is left?",
    ],
    null,
  ],
  [["I had 30 euros.", "All right.", "I nearly spent 10 euros.", "All right.", "How much is left?"], null],
  [["I had 20 sweets.", "All right.", "I did not eat 5 of them.", "All right.", "How many are left?"], null],
  [
    [
      "I have 20 apples and gave 3 to Ann.",
      "All right.",
      "Ben gave me 5 apples.",
      "All right.",
      "How many apples are left?",
    ],
    "That leaves 22 apples.",
  ],
  [
    [
      "I have 20 apples.",
      "All right.",
      "My brother ate 5 apples of his own.",
      "All right.",
      "How many apples are left?",
    ],
    null,
  ],
  [
    [
      "I had £20.",
      "All right.",
      "I had £20 at the start, as I said.",
      "All right.",
      "I spent £5.",
      "All right.",
      "How much is left?",
    ],
    null,
  ],
  [["I spent £20, and I won £100.", "All right.", "How much did I spend altogether?"], null],
  [["I owe Ann 30 and Ben owes me 10.", "All right.", "How much do I owe altogether?"], null],
  [["We're 4 friends, dinner was £80 and I already paid £20.", "All right.", "How much each?"], null],
  [["There's me and 3 friends and the bill was £80.", "All right.", "how much each"], "That's £20 each."],
  [
    [
      "I need 500 pounds.",
      "All right.",
      "I've saved 200 and spent 100.",
      "All right.",
      "How much do I still need?",
    ],
    null,
  ],
  [["I had 50 euros and spent between 10 and 20 euros.", "All right.", "What's left?"], null],
  [
    ["Dinner cost 80 pounds and the wine was 20 pounds. We're 4 people.", "All right.", "How much each?"],
    null,
  ],
  [
    ["I spent 30 pounds on a cake. Then I spent 10 pounds on balloons.", "All right.", "How much is left?"],
    null,
  ],
  [["I had 50 pounds. I spent 20 pounds.", "All right.", "How much do I have altogether?"], null],
  [
    [
      "I have 40 chairs. No, 50 chairs.",
      "All right.",
      "We lent 12 chairs.",
      "All right.",
      "How many chairs are left?",
    ],
    null,
  ],
  [
    [
      "Dinner came to a hundred and twenty, and there's four of us.",
      "All right.",
      "But Raj is only having a soda, so the other three split it.",
      "All right.",
      "How much each for us three?",
    ],
    null,
  ],
  [
    [
      "The fish has to go in at twenty to seven, and it needs thirty-five minutes.",
      "All right.",
      "So when do I take it out?",
    ],
    "That would be 7:15.",
  ],
  [
    [
      "Uncle Jorge sent me fifty bucks, and Grandma gave me a twenty.",
      "All right.",
      "I blew thirty of it on a hoodie.",
      "All right.",
      "How much have I got left?",
    ],
    null,
  ],
  [["Hello.", "It has three hearts.", "Take two."], null],
  [["My gran was 90.", "All right.", "Double that"], null],
  // Of two things, of a correction, of a time, of nothing: in doubt none.
  [["I have 3 cats.", "Sweet.", "and 2 dogs", "Nice.", "How many are left?"], null],
  [["I have 40 chairs, I mean 50.", "Right.", "We lent 12 chairs. How many are left?"], null],
  [["The train is at 5.", "Right.", "How many are left?"], null],
  [["Hello.", "Hello.", "How many are left?"], null],
  [["I'm 70 years old.", "Congratulations.", "divide that by four"], null],
  [["We were ten at dinner and ate two cakes.", "Nice.", "How much each?"], null],
  [
    [
      "I've twelve blister packs in the cupboard, and I've just given out five.",
      "All right.",
      "How many have I got left?",
    ],
    "That leaves 7 blister packs.",
  ],
  [
    [
      "The train leaves at 2:40 and it takes, like, an hour and a half.",
      "All right.",
      "What time do I get in?",
    ],
    "That would be 4:10.",
  ],
  [
    ["two tickets at 18.50 each plus a 3 dollar booking fee ugh", "All right.", "whats that altogether"],
    "That's $40 altogether.",
  ],
  [
    ["I had ten sweeties and I gave three to Noah and two to Isla.", "All right.", "How many do I have now?"],
    "That leaves 5 sweeties.",
  ],
  [
    ["The blue sofa is 650 and the grey one's 580.", "All right.", "How much cheaper is the grey?"],
    "That's 70.",
  ],
  [
    [
      "im saving for a skateboard its 75 and i already have 35",
      "All right.",
      "i get ten a week",
      "All right.",
      "how many weeks left",
    ],
    "That's 4 weeks.",
  ],
  [["My landlord put the rent up from 900 to 960.", "All right.", "How much did it go up by?"], "That's 60."],
  [
    [
      "I'm leaving work at ten to six, and it's like twenty-five minutes on the bike.",
      "All right.",
      "When will I be home?",
    ],
    "That would be 6:15.",
  ],
  [["I have 3 cats and 2 dogs.", "All right.", "what's the difference between cats and dogs?"], null],
  [
    [
      "The flight is 220 each, there are four of us and the hotel is 300.",
      "All right.",
      "what's that altogether?",
    ],
    "That's 1,180 altogether.",
  ],
  [["I bought two shirts at 20 each and a hat for 15.", "All right.", "how much is that altogether?"], null],
  [
    [
      "The train is at 9. It takes 40 minutes to get to the station.",
      "All right.",
      "What time should I leave home?",
    ],
    "That would be 8:20.",
  ],
  [
    [
      "Dinner is at 7. It takes 30 minutes to get to the place.",
      "All right.",
      "When should I leave to be there on time?",
    ],
    "That would be 6:30.",
  ],
  [["I read 30 pages in 20 minutes.", "All right.", "How long would 3 chapters take?"], null],
  [["I run five kilometres in thirty minutes.", "All right.", "how long would one pizza take?"], null],
  [
    ["I run five kilometres in thirty minutes.", "All right.", "how long would 10 kilometres take?"],
    "That's 60 minutes.",
  ],
  [
    ["I save 20 pounds a week and the bike costs 300.", "All right.", "How long would it take?"],
    "That's 15 weeks.",
  ],
  [
    ["The hotel is 80 euros a night and we are four people.", "All right.", "How much is it altogether?"],
    null,
  ],
];

for (const [turns, answer] of TALKS)
  test(`${turns.join(" / ")} → ${answer}`, () => {
    assert.equal(sumOverTurns(byTurns(turns), "1"), answer);
  });
