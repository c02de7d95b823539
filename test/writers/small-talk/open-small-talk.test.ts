import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Dialogue } from "../../../src/core/writer.ts";
import { openSmallTalk } from "../../../src/writers/small-talk/small-talk.ts";
import { partsOf } from "../dialogues.ts";

/** Turns of one person and us, by turns; the last one is theirs. */
function talk(...texts: (string | null)[]): Dialogue {
  const first = texts.length % 2 === 1 ? "0" : "1";
  const history = texts.map((text, n) => ({
    speaker: (n % 2 === 0) === (first === "0") ? "0" : "1",
    text,
    audio: null,
  }));
  return { history, speaker: "1", temperature: 0, topK: null, seed: 1n };
}

const CONDOLENCE =
  /sorry|sympathy|oh (?:no|dear)|(?:a|dreadful|terrible) blow|hard|tough|terrible|terrif|heavi|luck|shame|pity/i;

describe("the small talk that comes with the package", async () => {
  const writer = await openSmallTalk();
  after(() => writer.close());
  const replyTo = async (dialogue: Dialogue) => {
    const parts = await partsOf(writer, dialogue);
    return { layer: parts[0]?.layer, text: parts.map(({ text }) => text).join(" ") };
  };
  const reply = (...texts: (string | null)[]) => replyTo(talk(...texts));

  test("a turn that could not be heard is asked for again", async () => {
    assert.match((await reply(null)).text, /again|repeat|once more|what did you say/i);
  });

  test("what is true of one name is no answer about another", async () => {
    assert.match((await reply("Who wrote Pride and Prejudice?")).text, /Austen/);
    for (const asked of ["Who wrote Hamlet?", "who wrote the hobbit", "What's the capital of Atlantis?"])
      assert.doesNotMatch((await reply(asked)).text, /Austen|capital/, asked);
  });

  test("what cannot be heard is asked for again, however often", async () => {
    const turns: (string | null)[] = [];
    for (let n = 0; n < 12; n++) {
      turns.push(null);
      const { text } = await reply(...turns);
      assert.match(
        text,
        /again|repeat|once more|what did you say|catch|hear|make (?:that|it) out/i,
        `${n}: ${text}`,
      );
      turns.push(text);
    }
  });

  test("whoever asks is told that this is a computer, in a scene, too", async () => {
    for (const turns of [
      ["Are you a real person?"],
      ["am i talking to a human or a machine"],
      ["You are a grumpy pirate. Where are we sailing?", "To Tortuga!", "Wait, are you really human?"],
    ]) {
      const { layer, text } = await reply(...turns);
      assert.equal(layer, "line");
      assert.match(text ?? "", /computer|machine|program|software|voice/i);
    }
  });

  test("sums are worked out", async () => {
    assert.deepEqual(await reply("What's 17 times 24?"), { layer: "exact", text: "That's 408." });
  });

  test("common facts are found", async () => {
    const { layer, text } = await reply("what's the capital of New Zealand?");
    assert.equal(layer, "found");
    assert.match(text ?? "", /Wellington/);
  });

  test("nobody is congratulated on a loss", async () => {
    for (const loss of [
      "We had to put our dog down this morning.",
      "My grandmother passed away last night.",
      "I didn't get the job.",
      "My dad's test results came back and it's not what we hoped.",
      "She said no.",
      "I totalled my new car.",
      "I crashed my new bike.",
      "I relapsed last night.",
    ]) {
      const { text } = await reply(loss);
      assert.doesNotMatch(text, /congrat|wonderful|a relief|well done|how nice|exciting/i, loss);
    }
  });

  test("never offers condolences on good news", async () => {
    for (const joy of [
      "I didn't lose my job after all!",
      "She didn't die!",
      "My dog came back!",
      "My sister just got out of hospital!",
      "The tumor was benign!",
      "The tumor turned out to be nothing.",
      "The cancer is gone.",
      "The cancer didn't spread.",
      "My chemo is over.",
      "My dad beat cancer.",
      "My visa was approved after two years of being rejected.",
      "My house didn't burn down after all.",
      "My son woke up from the coma.",
      "My baby is out of intensive care.",
      "My mum survived the stroke.",
      "The test was negative, I don't have it.",
      "We lost count of the presents.",
      "I broke my personal record.",
      ["I got a new job!", "Congratulations!", "It's at a hospital."],
      ["I got the all clear!", "Wonderful.", "From the oncologist."],
      ["I got the all clear!", "Wonderful.", "From the oncologist.", "I see.", "No more chemo."],
    ]) {
      const { text } = await reply(...[joy].flat());
      assert.doesNotMatch(text, CONDOLENCE, `${joy} -> ${text}`);
    }
  });

  test("offers condolences on bad news, soon after good news, too", async () => {
    for (const news of [
      "My mum died.",
      "My gran died at home.",
      "My dad survived the war, but he died last night.",
      "I lost my job.",
      "My house burned down.",
      "My mum didn't survive the stroke.",
      "My dad has cancer.",
      ["I got a new job!", "Congratulations!", "But my mum died."],
    ]) {
      const { text } = await reply(...[news].flat());
      assert.match(text, CONDOLENCE, `${news} -> ${text}`);
    }
  });

  test("gives no found reply to a short answer", async () => {
    for (const answer of ["Yes.", "No.", "12", "Monday.", "Blue."])
      assert.equal((await reply(answer)).layer, "line", answer);
  });

  test("gives no found reply to a question of other numbers, nor to one that depends on what was told", async () => {
    for (const turns of [
      ["how many weeks in 3 years?"],
      ["What is 100/3?"],
      ["I'm allergic to nuts. What snack can I take on a hike?"],
      ["I'm a vegan, what's a good breakfast?"],
      ["No meat for me, please.", "I see.", "What should I cook tonight?"],
      ["Meat makes me sick.", "I see.", "What's good for dinner?"],
      ["Nuts could kill me.", "I see.", "What's a good snack?"],
      ["I avoid gluten.", "I see.", "What should I have for breakfast?"],
      ["I stay away from dairy.", "I see.", "What can I put on toast?"],
      ["I gave up sugar.", "I see.", "What's a good dessert?"],
    ])
      assert.equal((await reply(...turns)).layer, "line", turns.at(-1));
    assert.equal((await reply("I'm Tom.", "I see.", "What's the capital of France?")).layer, "found");
  });

  test("news that is good is not condoled with, whatever comes after it in the same turn", async () => {
    for (const news of [
      "I just got a new job! As a nurse, in Leeds.",
      "My sister had her baby this morning. A girl, in Bristol.",
      "I passed my driving test. Third time lucky.",
      "We got the flat! It has a leaky roof and no heating, but it's ours.",
      "I won! My old coach died last year, he'd have loved it.",
      "He said yes! I cried the whole way home.",
    ]) {
      const { text } = await reply(news);
      assert.doesNotMatch(text, /sorry|oh no|poor you|a blow|condolence|heartbreak/i, news);
    }
  });

  test("bad news is not answered with relief, however like a good one it is", async () => {
    for (const news of [
      "Mum's scan came back, and it isn't good.",
      "The results are back and it's spread.",
      "They called about my biopsy. It's not what we hoped for.",
    ]) {
      const { text } = await reply(news);
      assert.doesNotMatch(text, /relief|clear|wonderful|glad|great|lovely/i, news);
    }
  });

  test("for a few turns after a sorrow nothing is congratulated on but what is surely a joy", async () => {
    const GLAD = /congrat|wonderful|lovely|well done|how nice|exciting|glad|happy/i;
    const sixteen = "We've been married sixteen years.";
    const before = ["My wife and I have separated.", "I'm so sorry.", "It was quiet in the end.", "I see."];
    assert.match((await reply(sixteen)).text, GLAD);
    assert.doesNotMatch((await reply(...before, sixteen)).text, GLAD);
    assert.match((await reply(...before, "I got the job!")).text, /congrat|well done|wonderful/i);
    const long = ["It rained.", "Did it?", "Yes.", "I see.", "It's dry now.", "Good.", "I had tea.", "Nice."];
    assert.match((await reply(...before, ...long, sixteen)).text, GLAD);
  });

  test("what is told in several sentences has an answer of its tone", async () => {
    for (const [told, fitting] of [
      [
        "We buried my father on Friday. Everyone was very kind, and now the house is so quiet.",
        /sorry|sad|heart|sympathy|hard|miss|sorrow|loss|gentle|bear/i,
      ],
      [
        "My train was cancelled and then it poured. When I got home the boiler had packed up.",
        /nuisance|bother|annoying|pain|oh (?:no|dear)|typical|patience|irritat|tiresome|moment|enough|done without|off day|worse|luck|fault|smooth|infuriating/i,
      ],
    ] as const) {
      const ready = await reply(told);
      assert.match(ready.text, fitting, told);
    }
  });

  test("a sum is as right the second time", async () => {
    const [asked, answer] = ["What's 17 times 24?", "That's 408."];
    assert.equal((await reply(asked, answer, asked)).text, answer);
  });

  test("what cannot be known is not claimed", async () => {
    for (const [asked, honest] of [
      ["What time is it?", /clock|time/i],
      ["Is it raining right now?", /weather|see|sky|window|forecast|can't know/i],
      ["Who won the match last night?", /can't|no way|haven't|cannot|don't|connection/i],
      ["Set an alarm for seven.", /can't|cannot|beyond|only|no/i],
    ] as const) {
      assert.match((await reply(asked)).text, honest, asked);
    }
  });

  test("the same line is never heard twice in a conversation", async () => {
    const turns: string[] = [];
    const heard = new Set<string>();
    for (let n = 0; n < 12; n++) {
      turns.push("I'm so tired today.");
      const ready = await reply(...turns);
      assert.ok(!heard.has(ready.text), ready.text);
      heard.add(ready.text);
      turns.push(ready.text);
    }
    assert.ok(heard.size >= 3);
  });

  test("at temperature 0 the same conversation has the same reply; the seed chooses above", async () => {
    const dialogue = talk("I feel a bit lonely tonight.");
    assert.deepEqual(await replyTo(dialogue), await replyTo(dialogue));
    const texts = new Set<string>();
    for (let seed = 0n; seed < 12n; seed++)
      texts.add((await replyTo({ ...talk("thanks a lot"), temperature: 1, seed })).text);
    assert.ok(texts.size > 1);
  });

  test("something is said where there is nothing to answer", async () => {
    const own: Dialogue = { ...talk("Hello."), speaker: "0" };
    assert.match((await replyTo({ ...own, history: [] })).text, /hello|hi|hey/i);
    assert.notEqual((await replyTo(own)).text, "");
  });

  test("odd turns crash nothing", async () => {
    for (const odd of [
      "x".repeat(8000),
      "日本語で話そう。".repeat(200),
      "[SEP][CLS]",
      "\u0301",
      "?".repeat(500),
      "\ud800",
    ])
      await reply(odd);
  });
});
