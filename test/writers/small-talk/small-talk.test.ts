import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { abortable } from "../../../src/core/abortable.ts";
import type { Dialogue } from "../../../src/core/writer.ts";
import { openSmallTalk, SmallTalk } from "../../../src/writers/small-talk/small-talk.ts";
import { writerConformance } from "../conformance.ts";
import { byTurns, dialogueOf, never, partsOf, replyOf } from "../dialogues.ts";
import { fewReplies, SMALL_BANK } from "./few-replies.ts";

const along = async () => Float32Array.of(1, 0);

writerConformance("small talk", async () => new SmallTalk(fewReplies(), along), {
  countsTokens: false,
  makeSlowReader: async () =>
    new SmallTalk(fewReplies(), (_, signal) => abortable(new Promise(() => {}), signal)),
});

describe("SmallTalk", () => {
  it("writes a reply sentence by sentence, with its layer", async () => {
    const bank = SMALL_BANK.map((entry) => ({ ...entry, reply: "A blue one. Or a red one." }));
    const writer = new SmallTalk(fewReplies({ bank }), along);
    assert.deepEqual(await partsOf(writer, dialogueOf("which balloon flew past?")), [
      { text: "A blue one.", tokens: null, gate: null, layer: "found" },
      { text: "Or a red one.", tokens: null, gate: null, layer: "found" },
    ]);
  });

  it("says once, in its voice's language, that it speaks English only and how to connect a model", async () => {
    const writer = new SmallTalk(fewReplies(), along);
    for (const [language, name, later] of [
      ["es", "español", /^Todavía no tengo un modelo/],
      ["it", "italiano", /^Non ho ancora un modello/],
    ] as const) {
      const dialogue = { ...dialogueOf("Hola, ¿qué tal?"), language };
      const once = await replyOf(writer, dialogue);
      assert.match(once, new RegExp(`ingl.*${name}.*antiphon models pull`));
      const turn = (speaker: string, text: string) => ({ speaker, text, audio: null });
      const history = [...dialogue.history, turn(dialogue.speaker, once), turn("9", "Bueno.")];
      assert.match(await replyOf(writer, { ...dialogue, history }), later);
    }
    const english = dialogueOf("ask me now then?");
    assert.equal(await replyOf(writer, { ...english, language: "fr" }), await replyOf(writer, english));
  });

  it("finds no reply that names what the conversation has not, or that plays a role", async () => {
    const vectors: Readonly<Record<string, [number, number]>> = { ask: [1, 0], sail: [0, 1] };
    const embed = async (text: string) => Float32Array.from(vectors[text.split(" ")[0]!] ?? [0.7, 0.7]);
    const writer = new SmallTalk(fewReplies(), embed);
    assert.equal(await replyOf(writer, dialogueOf("ask me now then?")), "A blue one.");
    const [part] = await partsOf(writer, dialogueOf("sail over there somewhere"));
    assert.notEqual(part?.layer, "found");
  });

  it("answers no question with a reply to a statement", async () => {
    const bank = SMALL_BANK.map((entry) => ({ ...entry, isAnswer: false }));
    // Near the answered turn, but not the same.
    const writer = new SmallTalk(fewReplies({ bank }), async () => Float32Array.of(0.8, 0.6));
    assert.equal(await replyOf(writer, dialogueOf("a balloon flew past")), "A blue one.");
    assert.equal(await replyOf(writer, dialogueOf("which balloon flew past?")), "I don't know.");
  });

  it("finds no reply for a turn that depends on its context", async () => {
    const bank = SMALL_BANK.map((entry) => ({ ...entry, borrowed: [] }));
    const matrices = { ...fewReplies().matrices, previous: Int32Array.of(0, 0, 1) };
    const writer = new SmallTalk(fewReplies({ bank, matrices }), along);
    assert.equal(
      await replyOf(writer, dialogueOf(byTurns(["What rose?", "I see.", "why?"]))),
      "I don't know.",
    );
    assert.equal(
      await replyOf(writer, dialogueOf(byTurns(["What rose?", "I see.", "why bread?"]))),
      "A blue one.",
    );
  });

  it("gives no found reply to a question once something was ruled out", async () => {
    const writer = new SmallTalk(fewReplies(), along);
    const asked = (told: string) => dialogueOf(byTurns([told, "I see.", "what could I bake?"]));
    assert.equal(await replyOf(writer, asked("I had a long day.")), "A blue one.");
    for (const told of [
      "I'm allergic to nuts.",
      "My sister is vegan.",
      "We don't eat meat.",
      "I can’t swim.",
    ])
      assert.equal(await replyOf(writer, asked(told)), "I don't know.", told);
    for (const newest of ["I'm allergic to nuts. What could I bake?", "I'm a vegan, what could I bake?"])
      assert.equal(await replyOf(writer, dialogueOf(newest)), "I don't know.", newest);
  });

  it("recommends no food or film once anything was told", async () => {
    const [greeting, ...acts] = fewReplies().acts;
    const book = fewReplies({ acts: [{ ...greeting!, name: "cook", answered: "none" }, ...acts] });
    const writer = new SmallTalk(book, along);
    const asked = (told: string) => dialogueOf(byTurns([told, "I see.", "what could I bake?"]));
    assert.equal(await replyOf(writer, asked("What rose?")), "A blue one.");
    for (const told of ["No meat for me.", "I gave up sugar.", "I avoid gluten.", "Can nuts kill me?"])
      assert.equal(await replyOf(writer, asked(told)), "I don't know.", told);
  });

  it("reports a failing encoder as an error to retry, without the text", async () => {
    const writer = new SmallTalk(fewReplies(), async () => {
      throw new Error("broken");
    });
    await assert.rejects(partsOf(writer, dialogueOf("a secret told"), never()), {
      name: "WriterError",
      message: "the embedded writer failed: retry",
      retryAfterMs: 1_000,
    });
  });
});

/** A dialogue by turns, the last of them the user's. */
function talk(...texts: (string | null)[]): Dialogue {
  return dialogueOf(texts.length % 2 === 1 ? byTurns(texts) : byTurns([null, ...texts]).slice(1));
}

const CONDOLENCE =
  /sorry|sympathy|oh (?:no|dear)|(?:a|dreadful|terrible) blow|hard|tough|terrible|terrif|heavi|luck|shame|pity/i;

describe("the packaged small talk", async () => {
  const writer = await openSmallTalk();
  after(() => writer.close());
  const replyTo = async (dialogue: Dialogue) => {
    const parts = await partsOf(writer, dialogue);
    return { layer: parts[0]?.layer, text: parts.map(({ text }) => text).join(" ") };
  };
  const reply = (...texts: (string | null)[]) => replyTo(talk(...texts));

  it("answers about no name but the one that was asked for", async () => {
    assert.match((await reply("Who wrote Pride and Prejudice?")).text, /Austen/);
    for (const asked of ["Who wrote Hamlet?", "who wrote the hobbit", "What's the capital of Atlantis?"])
      assert.doesNotMatch((await reply(asked)).text, /Austen|capital/, asked);
  });

  it("asks again for an unintelligible turn, however often", async () => {
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

  it("says that it is a computer when asked, even in role play", async () => {
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

  it("works out sums, repeatedly, and finds common facts", async () => {
    const [asked, answer] = ["What's 17 times 24?", "That's 408."];
    assert.deepEqual(await reply(asked), { layer: "exact", text: answer });
    assert.equal((await reply(asked, answer, asked)).text, answer);
    const { layer, text } = await reply("what's the capital of New Zealand?");
    assert.equal(layer, "found");
    assert.match(text ?? "", /Wellington/);
  });

  it("never congratulates on a loss", async () => {
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

  it("never offers condolences on good news", async () => {
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

  it("offers condolences on bad news, soon after good news, too", async () => {
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

  it("gives no found reply to a short answer", async () => {
    for (const answer of ["Yes.", "No.", "12", "Monday.", "Blue."])
      assert.equal((await reply(answer)).layer, "line", answer);
  });

  it("gives no found reply to a question with other numbers or about what the user said", async () => {
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

  it("never offers condolences on good news with bad details", async () => {
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

  it("never answers bad news with relief", async () => {
    for (const news of [
      "Mum's scan came back, and it isn't good.",
      "The results are back and it's spread.",
      "They called about my biopsy. It's not what we hoped for.",
    ]) {
      const { text } = await reply(news);
      assert.doesNotMatch(text, /relief|clear|wonderful|glad|great|lovely/i, news);
    }
  });

  it("congratulates only on sure joys for a few turns after a loss", async () => {
    const GLAD = /congrat|wonderful|lovely|well done|how nice|exciting|glad|happy/i;
    const sixteen = "We've been married sixteen years.";
    const before = ["My wife and I have separated.", "I'm so sorry.", "It was quiet in the end.", "I see."];
    assert.match((await reply(sixteen)).text, GLAD);
    assert.doesNotMatch((await reply(...before, sixteen)).text, GLAD);
    assert.match((await reply(...before, "I got the job!")).text, /congrat|well done|wonderful/i);
    const long = ["It rained.", "Did it?", "Yes.", "I see.", "It's dry now.", "Good.", "I had tea.", "Nice."];
    assert.match((await reply(...before, ...long, sixteen)).text, GLAD);
  });

  it("answers several sentences in their tone", async () => {
    for (const [news, fitting] of [
      [
        "We buried my father on Friday. Everyone was very kind, and now the house is so quiet.",
        /sorry|sad|heart|sympathy|hard|miss|sorrow|loss|gentle|bear/i,
      ],
      [
        "My train was cancelled and then it poured. When I got home the boiler had packed up.",
        /nuisance|bother|annoying|pain|oh (?:no|dear)|typical|patience|irritat|tiresome|moment|enough|done without|off day|worse|luck|fault|smooth|infuriating/i,
      ],
    ] as const) {
      const { text } = await reply(news);
      assert.match(text, fitting, news);
    }
  });
  it("admits what it cannot know", async () => {
    for (const [asked, honest] of [
      ["What time is it?", /clock|time/i],
      ["Is it raining right now?", /weather|see|sky|window|forecast|can't know/i],
      ["Who won the match last night?", /can't|no way|haven't|cannot|don't|connection/i],
      ["Set an alarm for seven.", /can't|cannot|beyond|only|no/i],
    ] as const) {
      assert.match((await reply(asked)).text, honest, asked);
    }
  });

  it("never repeats a line in a conversation", async () => {
    const turns: string[] = [];
    const used = new Set<string>();
    for (let n = 0; n < 12; n++) {
      turns.push("I'm so tired today.");
      const ready = await reply(...turns);
      assert.ok(!used.has(ready.text), ready.text);
      used.add(ready.text);
      turns.push(ready.text);
    }
    assert.ok(used.size >= 3);
  });

  it("repeats a reply at temperature 0, and chooses by seed above", async () => {
    const dialogue = talk("I feel a bit lonely tonight.");
    assert.deepEqual(await replyTo(dialogue), await replyTo(dialogue));
    const texts = new Set<string>();
    for (let seed = 0n; seed < 12n; seed++)
      texts.add((await replyTo({ ...talk("thanks a lot"), temperature: 1, seed })).text);
    assert.ok(texts.size > 1);
  });

  it("speaks where there is nothing to answer", async () => {
    const own: Dialogue = { ...talk("Hello."), speaker: "0" };
    assert.match((await replyTo({ ...own, history: [] })).text, /hello|hi|hey/i);
    assert.notEqual((await replyTo(own)).text, "");
  });

  it("takes odd turns", async () => {
    const odd = [
      "x".repeat(8000),
      "日本語で話そう。".repeat(200),
      "[SEP][CLS]",
      "\u0301",
      "?".repeat(500),
      "\ud800",
    ];
    for (const text of odd) await reply(text);
  });
});
