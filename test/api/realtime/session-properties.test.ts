import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { itemText } from "../../../src/api/realtime/conversation-items.ts";
import type { ServerEvent } from "../../../src/api/realtime/realtime-dialect.ts";
import type { SessionEffect, SessionEvent } from "../../../src/api/realtime/session-events.ts";
import type { ClientEvent } from "../../../src/contract/realtime/client-events.ts";
import fc from "../../properties.ts";
import { sentIn, Table } from "./events.ts";

type Move = (table: Table) => readonly SessionEffect[];

const probability = fc.constantFrom(0.01, 0.4, 0.99);
const client =
  (event: ClientEvent): Move =>
  (table) =>
    table.client(event);

/** Answers to questions of which some were asked long ago, and some never. */
const revision = fc.nat(12);
const responseNumber = fc.integer({ min: 1, max: 40 });

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ count: fc.integer({ min: 1, max: 30 }), probability }).map(
      ({ count, probability: p }): Move =>
        (table) =>
          table.windows(count, p),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom("Yes.", "", null).map(
      (text): Move =>
        (table) =>
          answer(table, text),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.nat(3).map(
      (at): Move =>
        (table) =>
          reply(table, (responseId) => ({
            type: "response_delta",
            responseId,
            delta: {
              text: "word ",
              audio: { base64: "AA", durationMs: 80, words: [{ endMs: 80 * (at + 1), endsAt: 4 }] },
            },
          })),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat(3).map(
      (n): Move =>
        (table) =>
          reply(table, (responseId) => ({
            type: "response_delta",
            responseId,
            delta: { text: "", audio: null, call: { callId: `call_${n}`, name: "clock", arguments: "{}" } },
          })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(3).map((n) =>
      client({
        type: "conversation.item.create",
        item: { type: "function_call_output", call_id: `call_${n}`, output: "Noon." },
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constant<Move>((table) =>
      reply(table, (responseId) => ({
        type: "response_ended",
        responseId,
        end: { type: "completed", usage: { inputTokens: 0, textTokens: 1, audioTokens: 1 } },
      })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ revision, finished: fc.double({ min: 0, max: 1, noNaN: true }) }).map(
      (verdict): Move =>
        (table) =>
          table.tell({ type: "verdict", ...verdict }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ revision, text: fc.constantFrom("Late.", null) }).map(
      (heard): Move =>
        (table) =>
          table.tell({ type: "transcript", seconds: 1, ...heard }),
    ),
  },
  {
    weight: 1,
    arbitrary: responseNumber.map(
      (number): Move =>
        (table) => {
          const responseId = `resp_${number}`;
          const delta = { text: "late", audio: { base64: "AA", durationMs: 80, words: [] } };
          return isMade(table, responseId) ? table.tell({ type: "response_delta", responseId, delta }) : [];
        },
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<ClientEvent>(
        { type: "response.create" },
        { type: "response.create", response: { conversation: "none" } },
        { type: "response.cancel" },
        { type: "input_audio_buffer.commit" },
        { type: "input_audio_buffer.clear" },
        { type: "session.update", session: { audio: { input: { turn_detection: null } } } },
        {
          type: "session.update",
          session: { audio: { input: { turn_detection: { type: "semantic_vad" } } } },
        },
        { type: "session.update", session: { audio: { input: { turn_detection: { type: "server_vad" } } } } },
        {
          type: "session.update",
          session: {
            audio: { input: { turn_detection: { type: "server_vad", interrupt_response: false } } },
          },
        },
        {
          type: "session.update",
          session: {
            audio: { input: { turn_detection: { type: "server_vad", antiphon_min_interruption_words: 1 } } },
          },
        },
        { type: "response.create", response: { output_modalities: ["text"] } },
        {
          type: "response.create",
          response: {
            input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Sing." }] }],
          },
        },
      )
      .map(client),
  },
  {
    weight: 1,
    arbitrary: fc.nat(500).map(
      (ms): Move =>
        (table) => {
          const item = table.session.items.findLast(
            (each) => each.type === "message" && each.outputAudio !== null,
          );
          const itemId = item?.id ?? "item_none";
          return table.client({
            type: "conversation.item.truncate",
            item_id: itemId,
            content_index: 0,
            audio_end_ms: ms,
          });
        },
    ),
  },
  { weight: 1, arbitrary: fc.constant<Move>((table) => table.tell({ type: "timer", isBehind: false })) },
);

/** Somebody begins to speak, and a reply is asked for meanwhile. */
const askedInATurn = fc.constant<Move>((table) => [
  ...table.windows(10, 0.99),
  ...table.client({ type: "response.create" }),
]);

/** Nothing is told of a reply that is still to be made. */
function isMade({ effects, sent }: Table, responseId: string): boolean {
  const isAsked = effects.some(
    (effect) => effect.type === "respond" && effect.request.responseId === responseId,
  );
  return isAsked || !sent.some((event) => event.type === "response.created" && idOf(event) === responseId);
}

function answer(table: Table, text: string | null): readonly SessionEffect[] {
  return table.effects.some(({ type }) => type === "transcribe") ? table.heard(text) : [];
}

function reply(table: Table, event: (responseId: string) => SessionEvent): readonly SessionEffect[] {
  const asked = table.effects.findLast(({ type }) => type === "respond");
  return asked?.type === "respond" ? table.tell(event(asked.request.responseId)) : [];
}

function run(
  moves: readonly Move[],
  check: (table: Table, effects: readonly SessionEffect[]) => void,
): Table {
  const table = new Table();
  for (const each of moves) check(table, each(table));
  return table;
}

/** Whether somebody who speaks may interrupt. */
function interruptsIn({ session }: Table): boolean {
  const { turnDetection } = session.settings;
  return turnDetection !== null && turnDetection.interrupt_response !== false;
}

const idOf = ({ response }: ServerEvent) => (response as { readonly id: string }).id;

describe("a session, whatever happens in whatever order,", () => {
  it("tells one end of every reply that it has told the beginning of, and nothing of it after that", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const open = new Set<string>();
        const over = new Set<string>();
        run(moves, (_, effects) => {
          for (const event of sentIn(effects)) {
            if (event.type === "response.created") open.add(idOf(event));
            else if (event.type === "response.done") {
              assert.ok(open.delete(idOf(event)), "an end without a beginning");
              over.add(idOf(event));
            } else if (event.type.startsWith("response."))
              assert.ok(open.has(event.response_id as string), event.type);
          }
        });
        assert.ok(open.size <= 61);
      }),
      { numRuns: 300 },
    );
  });

  it("has the items that it has told, less those it has told as deleted", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const told = new Set<unknown>();
        run(moves, (table, effects) => {
          for (const { type, item, item_id } of sentIn(effects)) {
            if (type === "conversation.item.added") told.add((item as { readonly id: string }).id);
            else if (type === "conversation.item.deleted") assert.ok(told.delete(item_id));
          }
          assert.deepEqual(new Set(table.session.items.map(({ id }) => id)), told);
        });
      }),
      { numRuns: 300 },
    );
  });

  it("meters what is recognised of a turn, all of which is kept, and no sound twice", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const asked = new Map<number, { readonly from: number; readonly to: number }>();
        let bufferStart = 0;
        let takenUpTo = 0;
        run(moves, (_, effects) => {
          for (const effect of effects) {
            if (effect.type === "transcribe") {
              assert.ok(effect.from >= bufferStart);
              asked.set(effect.revision, effect);
            } else if (effect.type === "forget_audio") {
              assert.ok(effect.before > bufferStart);
              bufferStart = effect.before;
            } else if (effect.type === "turn_committed") {
              const { from, to } = asked.get(effect.revision)!;
              assert.equal(effect.seconds, (to - from) / 16_000);
              assert.ok(from >= takenUpTo && effect.seconds <= 126);
              takenUpTo = to;
            }
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  it("sends no sound of a conversation's reply from the moment that somebody speaks until they have been answered", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let maySound = new Set<string>();
        const besides = new Set<string>();
        run(moves, (table, effects) => {
          for (const event of sentIn(effects)) {
            if (event.type === "input_audio_buffer.speech_started" && interruptsIn(table))
              maySound = new Set([...maySound].filter((id) => besides.has(id)));
            if (event.type === "response.created") {
              maySound.add(idOf(event));
              const { conversation_id } = event.response as { readonly conversation_id?: string };
              if (conversation_id === undefined) besides.add(idOf(event));
            }
            if (event.type === "response.output_audio.delta")
              assert.ok(maySound.has(event.response_id as string));
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  it("sends no sound of a conversation's reply while somebody speaks who may interrupt it", () => {
    const moveOrAsk = fc.oneof({ weight: 9, arbitrary: move }, { weight: 1, arbitrary: askedInATurn });
    fc.assert(
      fc.property(fc.array(moveOrAsk, { maxLength: 60 }), (moves) => {
        const others = new Set<string>();
        let isSpeaking = false;
        run(moves, (table, effects) => {
          // Who did not interrupt what is being said goes on not to.
          const mayInterrupt = interruptsIn(table);
          isSpeaking &&= mayInterrupt;
          for (const { type, response, response_id } of sentIn(effects)) {
            if (type === "input_audio_buffer.speech_started") isSpeaking = mayInterrupt;
            else if (/^input_audio_buffer\.(speech_stopped|committed|cleared)$/.test(type))
              isSpeaking = false;
            else if (type === "response.created") {
              const { id, conversation_id, output_modalities } = response as {
                readonly id: string;
                readonly conversation_id?: string;
                readonly output_modalities: readonly string[];
              };
              // One in text alone is given sound by this test only.
              if (conversation_id === undefined || output_modalities[0] === "text") others.add(id);
            } else if (type === "response.output_audio.delta")
              assert.ok(!isSpeaking || others.has(response_id as string));
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  it("never takes more of a reply for heard than before, once it was cut, and never more than was sent", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const told = new Map<string, number>();
        run(moves, (table, effects) => {
          for (const event of sentIn(effects)) {
            if (event.type !== "conversation.item.truncated") continue;
            const [id, ms] = [event.item_id as string, event.audio_end_ms as number];
            assert.ok(ms <= (told.get(id) ?? Number.POSITIVE_INFINITY));
            assert.ok(Number.isInteger(ms));
            told.set(id, ms);
          }
          for (const item of table.session.items) {
            if (item.type !== "message" || item.outputAudio === null) continue;
            assert.ok(item.outputAudio.playedMs(table.nowMs) <= item.outputAudio.sentMs);
            assert.ok(item.outputAudio.text.startsWith(itemText(item)!));
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  it("tells the items of a reply one after the other, each to its end", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const open = new Map<string, string>();
        run(moves, (_, effects) => {
          for (const event of sentIn(effects)) {
            const replyId = event.response_id as string;
            const itemId = (event.item as { readonly id: string } | undefined)?.id ?? event.item_id;
            if (event.type === "response.output_item.added") {
              assert.equal(open.get(replyId), undefined);
              open.set(replyId, itemId as string);
            } else if (event.type.startsWith("response.") && replyId !== undefined)
              assert.equal(open.get(replyId), itemId, event.type);
            if (event.type === "response.output_item.done") open.delete(replyId);
            if (event.type === "response.done") assert.equal(open.get(idOf(event)), undefined);
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  it("has one conversation reply at a time", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let open: string | null = null;
        run(moves, (_, effects) => {
          for (const event of sentIn(effects)) {
            const response = event.response as
              | { readonly id: string; readonly conversation_id?: string }
              | undefined;
            if (response?.conversation_id === undefined) continue;
            if (event.type === "response.created") {
              assert.equal(open, null);
              open = response.id;
            }
            if (event.type === "response.done") open = null;
          }
        });
      }),
      { numRuns: 300 },
    );
  });
});
