import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FEATURES,
  featureCount,
  featuresOf,
  type Offer,
  ORIGINS,
  worthOf,
} from "../../../src/writers/replies/reckoning.ts";
import { readReplyBook } from "../../../src/writers/replies/reply-book.ts";
import { talkOf } from "../../../src/writers/replies/talk.ts";
import { byTurns, dialogueOf } from "../dialogues.ts";

function talk(...turns: string[]) {
  const found = talkOf(dialogueOf(byTurns(turns)));
  assert.ok(found !== null);
  return found;
}

function offer(fields: Partial<Offer>): Offer {
  return { origin: "found", text: "Wellington is the capital.", nearness: 0.9, context: 0, ...fields };
}

test("there is a weight for each number that is known of an offer, of each origin", async () => {
  const { reckoning } = await readReplyBook();
  assert.equal(featuresOf(offer({}), talk("What's the capital of New Zealand?")).length, FEATURES);
  for (const origin of ORIGINS) assert.equal(reckoning[origin].length, featureCount(origin), origin);
});

test("what was learnt says what it ought to", async () => {
  const { reckoning } = await readReplyBook();
  const opening = talk("What's the capital of New Zealand?");
  const following = talk("I like stamps.", "So do many.", "And which?");
  const honest = offer({ origin: "honest", text: "I don't know which, sorry." });
  const worth = (one: Offer, at = opening) => worthOf(one, at, reckoning);
  assert.ok(worth(offer({})) > worth(offer({ nearness: 0.7 })), "what is nearer is better");
  assert.ok(worth(offer({})) > worth(honest), "a near reply to a whole question is better than none");
  assert.ok(worth(honest, following) > worth(offer({}), following), "to half a question it is not");
  assert.ok(worth(offer({}), opening) > worth(offer({}), following));
});

test("worth is between 0 and 1, whatever is offered", async () => {
  const { reckoning } = await readReplyBook();
  for (const origin of ORIGINS)
    for (const text of ["", "?", "word ".repeat(2_000)])
      for (const nearness of [-1, 0, 1]) {
        const worth = worthOf(
          { origin, text, nearness, context: nearness },
          talk("Hm.", "Yes?", "x"),
          reckoning,
        );
        assert.ok(worth >= 0 && worth <= 1, `${origin} ${worth}`);
      }
});
