import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { itemText } from "../../../src/api/realtime/conversation-items.ts";
import type { ServerEvent } from "../../../src/api/realtime/realtime-dialect.ts";
import type { ResponseDelta } from "../../../src/api/realtime/realtime-response.ts";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import type { ClientEvent } from "../../../src/contract/realtime/client-events.ts";
import fc from "../../properties.ts";
import { SessionDriver, sentIn } from "./session-driver.ts";

/** Adds a user message and returns the events sent. */
function created(driver: SessionDriver, id: string, text: string, previous_item_id?: string) {
  const previous = previous_item_id === undefined ? {} : { previous_item_id };
  const content = [{ type: "input_text" as const, text }];
  const item = { id, type: "message" as const, role: "user" as const, content };
  return sentIn(driver.client({ type: "conversation.item.create", ...previous, item }));
}

describe("a session's conversation", () => {
  it("drops its oldest items when it is too long, and reports them as deleted", () => {
    const driver = new SessionDriver();
    const create = (id: string, text: string, after?: string) =>
      created(driver, id, text, after).map(({ type, item_id, previous_item_id: previous }) => [
        type,
        item_id ?? previous,
      ]);
    for (let n = 0; n < 1_000; n += 1) create(`item${n}`, "text");
    const events = (deleted: string, previous: string | null) => [
      ["conversation.item.deleted", deleted],
      ["conversation.item.added", previous],
      ["conversation.item.done", previous],
    ];
    assert.deepEqual(create("first", "text", "root"), events("item0", null));
    assert.deepEqual(
      create("second", "text", "first"),
      events("first", null),
      "its predecessor is the oldest",
    );
    assert.deepEqual(create("last", "text"), events("second", "item999"));
    assert.equal(driver.session.items.length, 1_000);
    for (let n = 0; n < 9; n += 1) create(`long${n}`, "x".repeat(100_000));
    assert.equal(create("longest", "x".repeat(100_000)).length, 1_000 - 9 + 2);
    assert.equal(driver.session.items.length, 10);
  });

  it("puts items where the client wants them and refuses duplicates", () => {
    const driver = new SessionDriver();
    const create = (id: string, text: string, after?: string) => created(driver, id, text, after)[0]!;
    assert.equal(create("b", "second").previous_item_id, null);
    assert.equal(create("a", "first", "root").previous_item_id, null);
    assert.equal(create("c", "between", "a").previous_item_id, "a");
    assert.equal((create("a", "again").error as { code: string }).code, "item_create_duplicate_item_id");
    assert.equal(create("d", "lost", "nowhere").type, "error");
    assert.deepEqual(driver.session.items.map(itemText), ["first", "between", "second"]);
  });
});

type Move = (driver: SessionDriver) => readonly SessionEffect[];

const client =
  (event: ClientEvent): Move =>
  (driver) =>
    driver.client(event);
const detection = (turn_detection: object | null) =>
  ({ type: "session.update", session: { audio: { input: { turn_detection } } } }) as ClientEvent;
const silentDelta = { base64: "AA", durationMs: 80, words: [] };
/** Revisions of which some are long past and some never were. */
const revision = fc.nat(12);

const EVENTS: readonly ClientEvent[] = [
  { type: "response.create" },
  { type: "response.create", response: { conversation: "none" } },
  { type: "response.create", response: { output_modalities: ["text"] } },
  {
    type: "response.create",
    response: {
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Sing." }] }],
    },
  },
  { type: "response.cancel" },
  { type: "input_audio_buffer.commit" },
  { type: "input_audio_buffer.clear" },
  detection(null),
  detection({ type: "semantic_vad" }),
  detection({ type: "server_vad" }),
  detection({ type: "server_vad", interrupt_response: false }),
  detection({ type: "server_vad", antiphon_min_interruption_words: 1 }),
];

const weighted = (weight: number, arbitrary: fc.Arbitrary<Move>) => ({ weight, arbitrary });
const move: fc.Arbitrary<Move> = fc.oneof(
  weighted(
    6,
    fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom(0.01, 0.4, 0.99)).map(
      ([count, probability]) =>
        (driver) =>
          driver.windows(count, probability),
    ),
  ),
  weighted(
    3,
    fc.constantFrom("Yes.", "", null).map((text) => (driver) => transcribed(driver, text)),
  ),
  weighted(
    6,
    fc.nat(3).map((at) => {
      const words = [{ endMs: 80 * (at + 1), endsAt: 4 }];
      return delta({ text: "word ", audio: { ...silentDelta, words } });
    }),
  ),
  weighted(
    2,
    fc.nat(3).map((n) => delta({ call: { callId: `call_${n}`, name: "clock", arguments: "{}" } })),
  ),
  weighted(
    1,
    fc.nat(3).map((n) =>
      client({
        type: "conversation.item.create",
        item: { type: "function_call_output", call_id: `call_${n}`, output: "Noon." },
      }),
    ),
  ),
  weighted(
    2,
    fc.constant((driver) => (hasRequest(driver) ? driver.completeReply() : [])),
  ),
  weighted(
    1,
    fc
      .record({ revision, finished: fc.double({ min: 0, max: 1, noNaN: true }) })
      .map((verdict) => (driver) => driver.step({ type: "verdict", ...verdict })),
  ),
  weighted(
    1,
    fc
      .record({ revision, text: fc.constantFrom("Late.", null) })
      .map((late) => (driver) => driver.step({ type: "transcript", seconds: 1, ...late })),
  ),
  weighted(
    1,
    fc.integer({ min: 1, max: 40 }).map((number) => (driver) => {
      const responseId = `resp_${number}`;
      const late = { text: "late", audio: silentDelta };
      return isMade(driver, responseId)
        ? driver.step({ type: "response_delta", responseId, delta: late })
        : [];
    }),
  ),
  weighted(3, fc.constantFrom(...EVENTS).map(client)),
  weighted(
    1,
    fc.nat(500).map((audio_end_ms) => (driver) => {
      const item = driver.session.items.findLast(
        (each) => each.type === "message" && each.outputAudio !== null,
      );
      const at = { item_id: item?.id ?? "item_none", content_index: 0, audio_end_ms };
      return driver.client({ type: "conversation.item.truncate", ...at });
    }),
  ),
  weighted(
    1,
    fc.constant((driver) => driver.wake()),
  ),
);

/** The user starts to speak, and the client requests a response meanwhile. */
const requestedWhileSpeaking = fc.constant<Move>((driver) => [
  ...driver.windows(10, 0.99),
  ...driver.respond(),
]);

const hasRequest = ({ effects }: SessionDriver) => effects.some(({ type }) => type === "respond");

const delta =
  (of: Partial<ResponseDelta>): Move =>
  (driver) =>
    hasRequest(driver) ? driver.delta(of) : [];

/** A response that is still to be generated has no deltas. */
function isMade({ effects, sent }: SessionDriver, responseId: string): boolean {
  const isAsked = effects.some(
    (effect) => effect.type === "respond" && effect.request.responseId === responseId,
  );
  return isAsked || !sent.some((event) => event.type === "response.created" && idOf(event) === responseId);
}

function transcribed(driver: SessionDriver, text: string | null): readonly SessionEffect[] {
  return driver.effects.some(({ type }) => type === "transcribe") ? driver.transcript(text) : [];
}

/** Whether speech may interrupt a response. */
function interruptsIn({ session }: SessionDriver): boolean {
  const { turnDetection } = session.settings;
  return turnDetection !== null && turnDetection.interrupt_response !== false;
}

const idOf = ({ response }: ServerEvent) => (response as { readonly id: string }).id;

/** Checks the effects of every move of random sequences; `open` returns a check with a state of its own. */
function holds(
  open: () => (effects: readonly SessionEffect[], driver: SessionDriver) => void,
  moves: fc.Arbitrary<Move> = move,
): void {
  fc.assert(
    fc.property(fc.array(moves, { maxLength: 60 }), (sequence) => {
      const check = open();
      const driver = new SessionDriver();
      for (const each of sequence) check(each(driver), driver);
    }),
    { numRuns: 300 },
  );
}

describe("a session after any sequence of events", () => {
  it("sends one response.done per response.created, and no event of the response after it", () => {
    holds(() => {
      const open = new Set<string>();
      const over = new Set<string>();
      return (effects) => {
        for (const event of sentIn(effects)) {
          if (event.type === "response.created") open.add(idOf(event));
          else if (event.type === "response.done") {
            assert.ok(open.delete(idOf(event)), "response.done without response.created");
            over.add(idOf(event));
          } else if (event.type.startsWith("response."))
            assert.ok(open.has(event.response_id as string), event.type);
        }
      };
    });
  });

  it("has the items that it announced, less the deleted ones", () => {
    holds(() => {
      const announced = new Set<unknown>();
      return (effects, driver) => {
        for (const { type, item, item_id } of sentIn(effects)) {
          if (type === "conversation.item.added") announced.add((item as { readonly id: string }).id);
          else if (type === "conversation.item.deleted") assert.ok(announced.delete(item_id));
        }
        assert.deepEqual(new Set(driver.session.items.map(({ id }) => id)), announced);
      };
    });
  });

  it("meters exactly the audio transcribed for a turn, none of it twice", () => {
    holds(() => {
      const asked = new Map<number, { readonly from: number; readonly to: number }>();
      let bufferStart = 0;
      let takenUpTo = 0;
      return (effects) => {
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
      };
    });
  });

  it("sends no audio of an interrupted response", () => {
    holds(() => {
      let maySound = new Set<string>();
      const outOfBand = new Set<string>();
      return (effects, driver) => {
        for (const event of sentIn(effects)) {
          if (event.type === "input_audio_buffer.speech_started" && interruptsIn(driver))
            maySound = new Set([...maySound].filter((id) => outOfBand.has(id)));
          if (event.type === "response.created") {
            maySound.add(idOf(event));
            const { conversation_id } = event.response as { readonly conversation_id?: string };
            if (conversation_id === undefined) outOfBand.add(idOf(event));
          }
          if (event.type === "response.output_audio.delta")
            assert.ok(maySound.has(event.response_id as string));
        }
      };
    });
  });

  it("sends no audio of a conversation's response during speech that may interrupt it", () => {
    const moves = fc.oneof({ weight: 9, arbitrary: move }, { weight: 1, arbitrary: requestedWhileSpeaking });
    holds(() => {
      const others = new Set<string>();
      let isSpeaking = false;
      return (effects, driver) => {
        // Speech that did not interrupt goes on not interrupting.
        const mayInterrupt = interruptsIn(driver);
        isSpeaking &&= mayInterrupt;
        for (const { type, response, response_id } of sentIn(effects)) {
          if (type === "input_audio_buffer.speech_started") isSpeaking = mayInterrupt;
          else if (/^input_audio_buffer\.(speech_stopped|committed|cleared)$/.test(type)) isSpeaking = false;
          else if (type === "response.created") {
            const { id, conversation_id, output_modalities } = response as {
              readonly id: string;
              readonly conversation_id?: string;
              readonly output_modalities: readonly string[];
            };
            // Only this test gives audio to a text response.
            if (conversation_id === undefined || output_modalities[0] === "text") others.add(id);
          } else if (type === "response.output_audio.delta")
            assert.ok(!isSpeaking || others.has(response_id as string));
        }
      };
    }, moves);
  });

  it("never extends the played part of a truncated response", () => {
    holds(() => {
      const announced = new Map<string, number>();
      return (effects, driver) => {
        for (const event of sentIn(effects)) {
          if (event.type !== "conversation.item.truncated") continue;
          const [id, ms] = [event.item_id as string, event.audio_end_ms as number];
          assert.ok(ms <= (announced.get(id) ?? Number.POSITIVE_INFINITY));
          assert.ok(Number.isInteger(ms));
          announced.set(id, ms);
        }
        for (const item of driver.session.items) {
          if (item.type !== "message" || item.outputAudio === null) continue;
          assert.ok(item.outputAudio.playedMs(driver.nowMs) <= item.outputAudio.sentMs);
          assert.ok(item.outputAudio.text.startsWith(itemText(item)!));
        }
      };
    });
  });

  it("sends the items of a response one after another, each to its end", () => {
    holds(() => {
      const open = new Map<string, string>();
      return (effects) => {
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
      };
    });
  });

  it("has one response in the conversation at a time", () => {
    holds(() => {
      let open: string | null = null;
      return (effects) => {
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
      };
    });
  });
});
