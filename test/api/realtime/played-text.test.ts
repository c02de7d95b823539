import assert from "node:assert/strict";
import { test } from "node:test";
import { itemText } from "../../../src/api/realtime/conversation-items.ts";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import { heardText, RealtimeConversation } from "../../../src/client/realtime.ts";
import type { ClientEvent } from "../../../src/contract/realtime/client-events.ts";
import type { WordTiming } from "../../../src/contract/spoken.ts";
import { FakePlayer, FakeSocket } from "../../client/fake-conversation.ts";
import fc from "../../properties.ts";
import { sentIn, Table } from "./events.ts";

const TEXT = "Well, “yes” — two words… and naïve 🙂 ones!";
const FRAME_MS = 80;

interface Reply {
  /** Frames of each word; the voice is silent for so many before the first. */
  readonly frames: readonly number[];
  readonly silent: number;
  readonly tellsWords: boolean;
  /** Frames that the client has when it is interrupted, and how much of them it has played, from 0 to 1. */
  readonly came: number;
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
  tellsWords: fc.boolean(),
  came: fc.nat(24),
  played: fc.constantFrom(0, 0.3, 0.77, 1),
  ends: fc.boolean(),
});

/** Each frame's words: those that begin in it. */
function framesOf({ frames, silent }: Reply): readonly (readonly WordTiming[])[] {
  const all: WordTiming[][] = Array.from({ length: silent }, () => []);
  for (const [index, word] of words.entries()) {
    const start = all.length * (FRAME_MS / 1_000);
    const end = start + frames[index]! * (FRAME_MS / 1_000) - 0.0333;
    all.push([{ ...word, start, end }], ...Array.from({ length: frames[index]! - 1 }, () => []));
  }
  return all;
}

/** What the client shows of an interrupted reply, and what the session keeps. */
async function bothOf(made: Reply): Promise<readonly [string, string]> {
  const table = new Table();
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
  tell(table.client({ type: "response.create" }));
  const { responseId } = table;
  const base64 = Buffer.alloc(2 * 24 * FRAME_MS).toString("base64");
  const steps = framesOf(made).map((begun, at) => {
    const ends = begun.map(({ end, offset, length }) => ({ endMs: 1_000 * end, endsAt: offset + length }));
    const marks = made.tellsWords ? begun : [];
    const audio = { base64, durationMs: FRAME_MS, words: made.tellsWords ? ends : [], marks };
    const delta = { text: at === 0 ? TEXT : "", audio };
    return table.tell({ type: "response_delta", responseId, delta });
  });
  if (made.ends) steps.push(table.ends());
  const came = Math.max(1, Math.min(made.came, steps.length));
  for (const effects of steps.slice(0, came)) tell(effects);
  player!.positionS = (made.played * player!.samples) / 24_000;
  const before = socket.sent.length;
  conversation.interrupt();
  // What is on its way comes all the same.
  for (const effects of steps.slice(came)) tell(effects);
  // The client's events are the protocol's.
  for (const event of socket.sent.slice(before)) tell(table.client(event as ClientEvent));
  return [heardText(conversation.turns.at(-1)!), itemText(table.session.items.at(-1)!) ?? ""];
}

test("the client shows as heard what the session keeps, also of a voice that tells no words, or none yet", async () => {
  const shown = new Set<string>();
  await fc.assert(
    fc.asyncProperty(reply, async (made) => {
      const [ofClient, ofSession] = await bothOf(made);
      assert.equal(ofClient, ofSession);
      shown.add(ofClient);
    }),
    { numRuns: 300 },
  );
  for (const text of ["", "Well,", "Well, “yes”", TEXT])
    assert.ok(shown.has(text), `${text} was never heard`);
});
