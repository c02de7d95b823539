import assert from "node:assert/strict";
import { test } from "node:test";
import { itemText } from "../../../src/api/realtime/conversation-items.ts";
import { OutputAudio } from "../../../src/api/realtime/output-audio.ts";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import { heardText, RealtimeConversation } from "../../../src/client/realtime.ts";
import type { ClientEvent } from "../../../src/contract/realtime/client-events.ts";
import type { WordTiming } from "../../../src/contract/spoken.ts";
import { FakePlayer, FakeSocket } from "../../client/fake-conversation.ts";
import fc from "../../properties.ts";
import { SessionDriver, sentIn } from "./session-driver.ts";

/** A sentence with its first 240 ms of audio, in which one word ends. */
function begun(): OutputAudio {
  const reply = new OutputAudio();
  reply.addText("Alpha, bravo charlie.");
  reply.addAudio(240, [{ endMs: 200, endsAt: 5 }], 1_000);
  return reply;
}

test("words whose audio was not sent count as unplayed", () => {
  const interrupted = begun();
  interrupted.interrupt(9_000);
  assert.equal(interrupted.playedText(), "Alpha,");
  const truncated = begun();
  assert.equal(truncated.truncate(240), 240);
  assert.equal(truncated.playedText(), "Alpha,");
});

test("a response played to its end has all its text", () => {
  const reply = begun();
  reply.addAudio(500, [{ endMs: 700, endsAt: 20 }], 1_100);
  reply.complete();
  reply.truncate(100_000);
  assert.equal(reply.playedText(), "Alpha, bravo charlie.");
});

test("without word timings, the played text follows the share of the audio sent", () => {
  const reply = new OutputAudio();
  reply.addText("One two three.");
  reply.addAudio(800, [], 0);
  reply.truncate(400);
  assert.equal(reply.playedText(), "One");
});

const TEXT = "Well, “yes” — two words… and naïve 🙂 ones!";
const FRAME_MS = 80;

interface Reply {
  /** Frames per word. */
  readonly frames: readonly number[];
  /** Silent frames before the first word. */
  readonly silent: number;
  readonly hasWordTimings: boolean;
  /** Frames received before the interruption, and the fraction of them played. */
  readonly received: number;
  readonly played: number;
  readonly ends: boolean;
}

const words = [...TEXT.matchAll(/[\p{L}\p{N}]+/gu)].map((found) => ({
  word: found[0],
  offset: [...TEXT.slice(0, found.index)].length,
  length: [...found[0]].length,
}));

const reply: fc.Arbitrary<Reply> = fc.record({
  frames: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: words.length, maxLength: words.length }),
  silent: fc.nat(3),
  hasWordTimings: fc.boolean(),
  received: fc.nat(24),
  played: fc.constantFrom(0, 0.3, 0.77, 1),
  ends: fc.boolean(),
});

/** The words that begin in each frame. */
function framesOf({ frames, silent }: Reply): readonly (readonly WordTiming[])[] {
  const all: WordTiming[][] = Array.from({ length: silent }, () => []);
  for (const [index, word] of words.entries()) {
    const start = all.length * (FRAME_MS / 1_000);
    const end = start + frames[index]! * (FRAME_MS / 1_000) - 0.0333;
    all.push([{ ...word, start, end }], ...Array.from({ length: frames[index]! - 1 }, () => []));
  }
  return all;
}

/** The played text of an interrupted response, by the client and by the session. */
async function playedTexts(made: Reply): Promise<readonly [string, string]> {
  const driver = new SessionDriver();
  let player: FakePlayer | null = null;
  const conversation = new RealtimeConversation({
    baseUrl: "http://host:1",
    apiKey: "ek_1",
    WebSocket: FakeSocket,
    openPlayer: (events) => {
      player = new FakePlayer(events);
      return player;
    },
  });
  await conversation.connect();
  const socket = FakeSocket.last;
  const tell = (effects: readonly SessionEffect[]) => socket.tell(...sentIn(effects));
  tell(driver.client({ type: "response.create" }));
  const { responseId } = driver;
  const base64 = Buffer.alloc(2 * 24 * FRAME_MS).toString("base64");
  const steps = framesOf(made).map((begun, at) => {
    const ends = begun.map(({ end, offset, length }) => ({ endMs: 1_000 * end, endsAt: offset + length }));
    const marks = made.hasWordTimings ? begun : [];
    const audio = { base64, durationMs: FRAME_MS, words: made.hasWordTimings ? ends : [], marks };
    const delta = { text: at === 0 ? TEXT : "", audio };
    return driver.step({ type: "response_delta", responseId, delta });
  });
  if (made.ends) steps.push(driver.completeReply());
  const received = Math.max(1, Math.min(made.received, steps.length));
  for (const effects of steps.slice(0, received)) tell(effects);
  player!.positionS = (made.played * player!.samples) / 24_000;
  const before = socket.sent.length;
  conversation.interrupt();
  // The rest is on its way already.
  for (const effects of steps.slice(received)) tell(effects);
  for (const event of socket.sent.slice(before)) tell(driver.client(event as ClientEvent));
  return [heardText(conversation.turns.at(-1)!), itemText(driver.session.items.at(-1)!) ?? ""];
}

test("the client and the session agree on the played text of an interrupted response", async () => {
  const shown = new Set<string>();
  await fc.assert(
    fc.asyncProperty(reply, async (made) => {
      const [ofClient, ofSession] = await playedTexts(made);
      assert.equal(ofClient, ofSession);
      shown.add(ofClient);
    }),
    { numRuns: 300 },
  );
  for (const text of ["", "Well,", "Well, “yes”", TEXT])
    assert.ok(shown.has(text), `${text} was never heard`);
});
