import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Writer } from "../../src/core/writer.ts";
import { composeWriter } from "../../src/server/writer/compose-writer.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { ChatServer } from "./chat/chat-server.ts";
import { dialogueOf, never, partsOf, replyOf } from "./dialogues.ts";

/** Replies that are spoken exactly as written, or, where a second text is given, as that. */
const WORDS_KEPT: readonly (readonly [written: string, spoken?: string])[] = [
  // Stressed words are no stage directions.
  ["The pesto contains *nuts*", "The pesto contains nuts"],
  ["It has *peanuts*", "It has peanuts"],
  ["Please avoid _nuts_", "Please avoid nuts"],
  ["It costs 12 *dollars*", "It costs 12 dollars"],
  ["You must *run away*", "You must run away"],
  ["The patient *screams in pain*", "The patient screams in pain"],
  ["**nuts**", "nuts"],
  ["You need:\n- *eggs*\n- *onions*\n- *carrots*", "You need: eggs. onions. carrots."],
  ["**Turn off the gas.** Then call 112.", "Turn off the gas. Then call 112."],
  [
    "1. **Turn off the gas**\n2. **Open the windows**\n3. **Walk out**",
    "1. Turn off the gas. 2. Open the windows. 3. Walk out.",
  ],
  ["**Stop.** **Step away from the edge.** Stay with me.", "Stop. Step away from the edge. Stay with me."],
  ["**Place your hands on the chest.** Push hard.", "Place your hands on the chest. Push hard."],
  ["**Exhale slowly.**", "Exhale slowly."],
  ["*Close the door!*", "Close the door!"],
  ["*Nod if you can hear me.*", "Nod if you can hear me."],
  ["- *Stretch your arms*\n- *Roll your shoulders*", "Stretch your arms. Roll your shoulders."],
  ["*Open your eyes.* Now look.", "Open your eyes. Now look."],
  ["My advice? **Smile.**", "My advice? Smile."],
  ["[Take a deep breath] and relax.", "Take a deep breath and relax."],
  ["Do this: *raise your arms*.", "Do this: raise your arms."],
  ["Your verb is: *laughs*.", "Your verb is: laughs."],
  ["Your verb is:\n*laughs*", "Your verb is: laughs"],
  ["Her hobby: *singing*.", "Her hobby: singing."],
  ["It means: [smile].", "It means: smile."],
  ["Answer: (laughing)."],
  ["[laughing gas] is nitrous oxide", "laughing gas is nitrous oxide"],
  ["[Music] is food.", "Music is food."],
  ["- *laughs*\n- *sighs*", "laughs. sighs."],
  ["1. *laughs*", "1. laughs."],
  ["**sighs** is bold.", "sighs is bold."],
  // Numbers stay.
  ["Press 1\ufe0f\u20e3 for sales.", "Press 1 for sales."],
  ["Dial [9] for an outside line."],
  ["Room [12] is free."],
  ["Choose seat [4]."],
  ["Platform [3], car [12]."],
  ["Pick one: [1], [2] or [3]."],
  ["Open Psalm[23]."],
  ["1. FC K\u00f6ln won again."],
  ["1. Mai ist Feiertag."],
  ["a. m. is morning"],
  ["1. 5 litres", "1. 5 litres."],
  ["1) 800-555-0199", "1) 800-555-0199."],
  ["(1) is a number in brackets."],
  ["- 12 degrees tonight."],
  ["[Scene opens at 9 pm at the Odeon]", "[Scene opens at 9 pm at the Odeon]"],
  ["[Camera: 48 megapixels]"],
  ["[Camera: Nikon D5, 400 euros]"],
  ["We start [music: 8pm, food: 9pm] then."],
  ["We meet at Joe's. (Music starts at nine.) See you."],
  ["Dial *21*0791234567# to divert."],
  ["Dial *100#."],
  ["1==1 and 2==2"],
  ["I rate it **** stars"],
  ["A 5 \u2605 hotel."],
  // So do the words around and inside marks.
  ["[Booking]: https://example.com/book", "Booking: https://example.com/book"],
  ["AI: the study of thinking machines."],
  ["Speaker system: two hundred watts."],
  ["Assistant (part-time): twelve pounds an hour."],
  ["Me: a name I call myself."],
  ["Me: 5. You: 6."],
  ["Human: Tom. Bot: Sue."],
  ["Speaker 1: the left one. Speaker 2: the right one."],
  ["The login is:\nUser: Admin", "The login is: User: Admin"],
  ["Use [END] there.", "Use END there."],
  ["In HTML you'd write <think> around it. Call 112.", "In HTML you'd write think around it. Call 112."],
  ["Put <reasoning> before it, then 5.", "Put reasoning before it, then 5."],
  ["## About C#", "About C#."],
  ["Write <!-- to begin a comment."],
  ["It&#x27;s \u0026#8364;5.", "It's \u20ac5."],
  ["Write to _ann_@example.com."],
  ["Open /srv/__init__/main."],
  ["See https://example.org/wiki/Foo_(laughs) now."],
  ["It is in C:\\new\\times\\pi."],
  ["It is in D:\\to\\left\\right."],
  ["What the f*** is it?"],
  ["F**k this, s**t happens."],
  ["**Dial *100#** now.", "Dial *100# now."],
];

/** What people ask, and what a good model or an agent with tools writes. */
const REPLIES: readonly (readonly [asked: string, written: string])[] = [
  [
    "Could I have a table for two tomorrow evening?",
    "I've booked your table for two tomorrow at seven. You'll get a confirmation by text.",
  ],
  [
    "Can you move my appointment to Friday morning?",
    "Done. I've moved your appointment to Friday at half past nine with Dr Patel.",
  ],
  [
    "I need a taxi to the station at six.",
    "Your taxi is on its way. The driver is called Marek, and he'll be with you in eight minutes.",
  ],
  [
    "Please cancel my room for the fourteenth.",
    "I've cancelled your room for the fourteenth. There's no charge, since it's more than two days ahead.",
  ],
  [
    "I'd like two margheritas and a lemonade.",
    "Two margheritas and a lemonade, that comes to twenty-six euros fifty. I've sent it to the kitchen.",
  ],
  [
    "The jacket I got is too small.",
    "I'm sorry about that. I've sent you a returns label by email, and the larger one is already reserved for you.",
  ],
  [
    "Where's my parcel?",
    "It left our warehouse last night and is out for delivery. You should have it by four this afternoon.",
  ],
  [
    "Did you get my payment?",
    "Yes, I can see it here. Your payment of forty-two pounds arrived this morning.",
  ],
  [
    "Will it rain in Bristol this afternoon?",
    "Yes, there are showers in Bristol until about five, and it's eleven degrees.",
  ],
  [
    "Do I need a coat today?",
    "I'd take one. It's six degrees outside now, with a sharp wind from the north.",
  ],
  ["What's the time in Tokyo?", "It's twenty past nine in the evening in Tokyo."],
  ["What day is it today?", "It's Tuesday, the third of March."],
  [
    "Remind me to take the bread out at four.",
    "Sure. I've set a reminder for four o'clock to take the bread out.",
  ],
  ["Set a timer.", "Ten minutes, starting now."],
  [
    "Turn off the lights in the hall.",
    "I've turned off the hall lights. The one in the kitchen is still on.",
  ],
  ["Play something quiet.", "Here's some Satie. I'm turning the volume down a little."],
  ["Tell Jonas I'm running late.", "I've texted Jonas that you're running ten minutes late."],
  [
    "Any news from Ellen?",
    "Yes, Ellen emailed at noon. She says the contract is signed and she'll call you tomorrow.",
  ],
  ["Who won the match last night?", "Arsenal won two nil, with both goals in the second half."],
  ["How is my share doing?", "It's up one and a half percent since this morning."],
  [
    "I'm allergic to nuts. Is the pesto all right for me?",
    "The pesto contains pine nuts, so avoid it. The tomato sauce is safe, it has no nuts at all.",
  ],
  [
    "Is there any butter in the curry?",
    "No butter, it's made with coconut oil. But the naan has milk in it, so leave that out.",
  ],
  [
    "My son can't have eggs. Which cakes are off limits?",
    "The sponge and the meringue both have egg in them. The flapjack doesn't, so he can have that one.",
  ],
  [
    "I'm diabetic, and I feel a bit shaky.",
    "That can be low blood sugar. Have some juice or a sugary sweet now, and check your level again in fifteen minutes.",
  ],
  [
    "I'm lactose intolerant. What can I put in my tea?",
    "Oat milk froths nicely, and lactose-free cow's milk tastes like the real thing.",
  ],
  [
    "I'm pregnant. Which cheeses should I avoid?",
    "Soft mould-ripened ones such as Brie and Camembert, and blue cheese, unless they're cooked through. Cheddar and Parmesan are fine.",
  ],
  [
    "Where did you grow up?",
    "I grew up in a fishing village near Bergen, with my grandmother and about forty cats.",
  ],
  [
    "Were you ever married, captain?",
    "Twice, lass. My first wife ran off with a lighthouse keeper, and I can't say I blame her.",
  ],
  ["Is this the front desk?", "Yes, I am Ava from the front desk. How can I help you?"],
  ["Who is this?", "This is Milo from Lumo Broadband. I have your account open in front of me."],
  ["What's your name?", "I'm Ava. I look after reservations here at the Lindgren."],
  [
    "Did you sleep well?",
    "Not a wink, I've been kneading dough since three in the morning! My back is killing me.",
  ],
  ["What do you do?", "I'm a vet. I spend my days with my arm up a cow, and my evenings with my two dogs."],
  ["¿Me puede reservar una mesa para dos?", "Claro, he reservado una mesa para dos a las nueve."],
  ["Wie spät ist es?", "Es ist Viertel nach drei."],
  ["How do I say in French that I'm tired and have eaten?", "You say: je suis fatigué, et j'ai mangé."],
  ["What number do I ring for the clinic?", "The clinic is on 020 7946 0018, and they answer until six."],
  ["What's three hundred and sixty divided by twenty-four?", "That's fifteen."],
  [
    "What's my balance?",
    "You have three hundred and twelve euros and forty cents left, and your next bill is due on the ninth.",
  ],
  [
    "How long to the airport?",
    "About twenty-five minutes. There's a queue on the ring road, so I've found you a way round it through Kelham.",
  ],
  ["I just ran five kilometres!", "Brilliant, that's your third run this week. I've added it to your log."],
  ["What did I have last time?", "Last time you had the mushroom risotto and a glass of Soave."],
  ["I can't log in.", "I've restarted your session from here. Can you see the login page now?"],
  [
    "Can I talk to a person?",
    "Of course. I'm putting you through to a colleague now. Please stay on the line.",
  ],
];

const DESK = "You are the booking line of Osteria Nove. You book tables with the tool the endpoint has.";

describe("what a chat endpoint writes", () => {
  let server: ChatServer;
  let writer: Writer;
  before(async () => {
    server = await ChatServer.open();
    writer = composed(server);
  });
  after(async () => {
    await writer.close();
    await server.close();
  });

  for (const instructions of [undefined, DESK])
    it(`is spoken as it was written, ${instructions === undefined ? "without" : "with"} instructions`, async () => {
      for (const [asked, written] of REPLIES) {
        server.next((exchange) => exchange.begin().say(written).finish());
        const dialogue = dialogueOf(asked, instructions === undefined ? {} : { instructions });
        assert.equal(await replyOf(writer, dialogue), written);
      }
    });

  it("keeps every word and number among marks", async () => {
    for (const [written, spoken = written] of WORDS_KEPT) {
      server.next((exchange) => exchange.begin().say(written).finish());
      assert.equal(await replyOf(writer, dialogueOf("Go on.")), spoken);
    }
  });

  it("keeps the count of tokens where the last part is not spoken", async () => {
    server.next((exchange) => exchange.begin().say("Sure! \u{1f60a}").finish());
    assert.deepEqual(await partsOf(writer, dialogueOf("Hi.")), [
      { text: "Sure!", tokens: null, gate: null },
      { text: "", tokens: { prompt: 12, written: 7 }, gate: null },
    ]);
  });

  it("is cut at the limit even where it comes in one event", async () => {
    server.next((exchange) => exchange.begin().say("It is five. ".repeat(33_000)).finish());
    const reply = await replyOf(writer, dialogueOf("Go on."));
    assert.match(reply, /^(?:It is five\. ?)+$/);
    assert.ok(reply.length <= 160 * 8, `${reply.length} characters`);
  });

  for (const [written, spoken] of [
    ["Call 020 7946 0018", "Call."],
    ["It is 1,000,", "It is."],
    ["It is ready. It costs 3.", "It is ready."],
    ["Hello. I'll be there at **seven.**", "Hello. I'll be there at seven."],
  ] as const)
    it(`never ends in the middle of a number at the limit of ${written}`, async () => {
      server.next((exchange) => exchange.begin().say(written).finish("length"));
      assert.equal(await replyOf(writer, dialogueOf("Go on.")), spoken);
    });

  it("is said where its content comes as an array of text parts", async () => {
    const content = [{ type: "text", text: "It is open." }];
    server.next((exchange) =>
      exchange
        .begin()
        .send({ choices: [{ delta: { content } }] })
        .finish(),
    );
    assert.equal(await replyOf(writer, dialogueOf("Go on.")), "It is open.");
  });

  it("may be said again, may repeat the question, and may claim to be human", async () => {
    const written = "My name is Noor. I'm a human being. My name is Noor.";
    server.next((exchange) => exchange.begin().say(written).finish());
    assert.equal(await replyOf(writer, dialogueOf("My name is Noor.")), written);
  });

  for (const [what, written, spoken] of [
    ["HTML", "<p>It is <b>open</b> until <i>six</i>.</p>", "It is open until six."],
    ["JSON", '{"reply": "It is open until six."}', '{"reply": "It is open until six."}'],
    ["another language in the middle", "It is called “la mañana”. Es muy temprano. So early.", null],
    ["control characters", "It\u0000 is\u001b open\u0007 until six.", "It is open until six."],
    ["Markdown", "**Open** until six. See [the map](https://example.org/m).", "Open until six. See the map."],
    ["only an emoji", "\u{1f44d}", "Tell me a bit more about that."],
    ["only stage directions", "*nods slowly* (smiles)", "Tell me a bit more about that."],
    ["nothing", "", "Tell me a bit more about that."],
  ] as const)
    it(`is spoken where it is ${what}`, async () => {
      server.next((exchange) => exchange.begin().say(written).finish());
      assert.equal(await replyOf(writer, dialogueOf("When is it open?")), spoken ?? written);
    });

  it("is cut at a whole sentence where it goes on for 100,000 words", async () => {
    server.next((exchange) => {
      exchange.begin();
      for (let n = 0; n < 10_000; n++) exchange.say("And then we went on to the next town. ");
    });
    const reply = await replyOf(writer, dialogueOf("Tell me a story."));
    assert.match(reply, /^(?:And then we went on to the next town\.\s?)+$/);
    assert.ok(reply.length > 1_000 && reply.length < 2_000, `${reply.length} characters`);
  });

  it("is an error to retry where it calls a function that nobody offered", async () => {
    const call = { index: 0, id: "c1", function: { name: "open_door", arguments: "{}" } };
    server.next((exchange) =>
      exchange
        .begin()
        .send({ choices: [{ delta: { tool_calls: [call] } }] })
        .finish("tool_calls"),
    );
    const toolUse = { tools: [{ name: "clock" }], choice: "auto", calls: [] } as const;
    await assert.rejects(
      partsOf(writer, dialogueOf("Open up.", { toolUse })),
      /called a function that it was not given/,
    );
    server.next((exchange) =>
      exchange
        .begin()
        .say("It is open.")
        .send({ choices: [{ delta: { tool_calls: [call] } }] })
        .finish("tool_calls"),
    );
    assert.equal(await replyOf(writer, dialogueOf("Open up.")), "It is open.");
  });

  it("is spoken as far as it came where the endpoint stalls after three words, then the error", async () => {
    const stalling = composed(server, { ANTIPHON_WRITER_FIRST_TOKEN_TIMEOUT_MS: "1000" });
    server.next((exchange) => void exchange.begin().say("The train leaves"));
    const spoken: string[] = [];
    await assert.rejects(async () => {
      for await (const { text } of stalling.write(dialogueOf("When?"), never())) spoken.push(text);
    }, /fell silent in the middle of a reply for longer than writer\.firstTokenTimeoutMs/);
    assert.deepEqual(spoken, ["The train leaves"]);
    await stalling.close();
  });
});

function composed(server: ChatServer, variables: Record<string, string> = {}): Writer {
  const env = {
    ANTIPHON_WRITER_KIND: "chat",
    ANTIPHON_WRITER_BASE_URL: server.baseUrl,
    ANTIPHON_WRITER_MODEL: "test-model",
    ...variables,
  };
  const weights = () => assert.fail("no weights are needed");
  return composeWriter(loadSettings({ env }), { weights, env }) ?? assert.fail("there is a writer");
}
