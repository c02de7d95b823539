import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Writer } from "../../src/core/writer.ts";
import { composeWriter } from "../../src/server/writer/compose-writer.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { ChatServer } from "./chat/chat-server.ts";
import { dialogueOf, never, partsOf, replyOf } from "./dialogues.ts";

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
    ["nothing", "", "Sorry, I can't say much about that. Shall we talk about something else?"],
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
