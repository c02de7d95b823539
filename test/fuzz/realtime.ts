import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { ClientSecrets } from "../../src/api/realtime/client-secrets.ts";
import type { ServerEvent } from "../../src/api/realtime/realtime-dialect.ts";
import { ServiceError } from "../../src/contract/errors.ts";
import { readJsonBody } from "../../src/contract/json/read-json.ts";
import { CLIENT_EVENTS, readClientEvent } from "../../src/contract/realtime/client-events.ts";
import { ClientSecretRequest } from "../../src/contract/realtime/session.ts";
import { parseClientSecretRequest } from "../../src/contract/validate.ts";
import { openRunner } from "../api/realtime/runner.ts";
import { wireFaults } from "../api/realtime/wire-faults.ts";
import { type Dice, diceOf } from "./dice.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Messages, each with the turns of the event loop before it. */
export type RealtimeMessages = readonly { readonly text: string; readonly afterTurns: number }[];

/** Returns protocol events, some of them corrupted; the same for the same random source. */
export function realtimeMessages(random: Random): RealtimeMessages {
  const dice = diceOf(random);
  return dice.several(5, 60, () => ({
    text: bent(JSON.stringify(dice.one(EVENTS)(dice)), dice),
    afterTurns: dice.chance(0.3) ? dice.upTo(6) : 0,
  }));
}

/** Fuzzes a session whose other parts are scripted. */
export const realtimeFuzz: Fuzzer = {
  async run(random: Random, activeMs): Promise<void> {
    const beganMs = activeMs?.() ?? 0;
    let bytes = tryClientSecret(diceOf(random));
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    const { runner, sent, failures, leave } = openRunner({ random });
    try {
      runner.begin();
      for (const { text, afterTurns } of realtimeMessages(random)) {
        for (let count = 0; count < afterTurns; count += 1) await turn();
        const message = Buffer.from(text);
        const event = readClientEvent(message);
        assert.ok(JSON.stringify(event).length <= message.length + 1_000, "more is kept than was sent");
        bytes += message.length;
        await runner.receive(event);
      }
      const last = '{"type":"conversation.item.retrieve","item_id":"of nobody","event_id":"last"}';
      await runner.receive(readClientEvent(Buffer.from(last)));
      const error = sent.findLast(({ type }) => type === "error");
      assert.equal((error!.error as { event_id: string }).event_id, "last", "the session does not answer");
    } finally {
      leave();
      await runner.whenIdle();
      process.off("unhandledRejection", note);
    }
    assert.deepEqual(unhandled, []);
    for (const event of sent) assert.ok(JSON.stringify(event).length <= MAX_ANSWER_CHARS, event.type);
    if (activeMs !== undefined) {
      const tookMs = activeMs() - beganMs;
      assert.ok(tookMs <= MAX_MS + bytes * MAX_MS_PER_BYTE, `${tookMs} ms for ${bytes} bytes`);
    }
    assert.deepEqual(failures, []);
    check(sent);
  },
  async close() {},
};

/** Characters of an event: all settings that a session may have. */
const MAX_ANSWER_CHARS = 200_000;
/** Milliseconds per input, most of them for its audio, and per byte. */
const MAX_MS = 1_500;
const MAX_MS_PER_BYTE = 0.001;

/** Issues and resolves a client secret of a corrupted session. Returns the bytes of the request. */
function tryClientSecret(dice: Dice): number {
  const update = EVENTS.map((make) => make(dice)).find(({ type }) => type === "session.update")!;
  const body = Buffer.from(bent(JSON.stringify({ session: update.session }), dice));
  try {
    const { value } = readJsonBody(body, ClientSecretRequest, { isNullAbsent: true });
    assert.ok(JSON.stringify(value).length <= body.length + 1_000, "more is kept than was sent");
    const { session = {} } = parseClientSecretRequest(value);
    const secrets = new ClientSecrets();
    const { value: secret } = secrets.issue("ant_a", 60, session);
    assert.deepEqual(secrets.resolve(secret), { apiKey: "ant_a", session });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
  return body.length;
}

function check(sent: readonly ServerEvent[]): void {
  const told = sent.map((event, at): ServerEvent => ({ event_id: `event_${at}`, ...event }));
  const faults = told.flatMap((event) => wireFaults(JSON.parse(JSON.stringify(event)) as ServerEvent));
  assert.deepEqual([...new Set(faults)], []);
  const open = new Set<string>();
  let inConversation: string | null = null;
  for (const event of sent) {
    const response = event.response as { id: string; conversation_id?: string } | undefined;
    if (event.type === "response.created") {
      open.add(response!.id);
      if (response!.conversation_id !== undefined) {
        assert.equal(inConversation, null, "two responses at once");
        inConversation = response!.id;
      }
    } else if (event.type === "response.done") {
      assert.ok(open.delete(response!.id), "response.done without response.created");
      if (inConversation === response!.id) inConversation = null;
    } else if (event.type.startsWith("response."))
      assert.ok(open.has(event.response_id as string), event.type);
  }
}

/** Few enough to collide. */
const ID = (dice: Dice) =>
  dice.one(["a", "b", "item_3", "item_5", "item_7", "resp_4", "root", "", "x".repeat(200)]);
const TEXT = (dice: Dice) => dice.one(["", "Hello.", "one two three", "\u0000\u2028é👍", "x".repeat(5_000)]);

function sound(dice: Dice, isLoud: boolean): string {
  const bytes = Buffer.alloc(dice.one([0, 1, 959, 960, 9_600, 9_601, 48_000]));
  if (isLoud)
    for (let at = 0; at + 1 < bytes.length; at += 2) bytes.writeInt16LE(9_000 * Math.sin(at / 5), at);
  return bytes.toString("base64");
}

const content = (dice: Dice) =>
  dice.several(0, 2, () =>
    dice.one<() => unknown>([
      () => ({ type: "input_text", text: TEXT(dice) }),
      () => ({ type: "input_audio", transcript: dice.one([null, "Hi.", undefined]) }),
      () => ({ type: "output_text", text: TEXT(dice) }),
    ])(),
  );

const item = (dice: Dice) =>
  dice.one<() => unknown>([
    () => ({
      id: ID(dice),
      type: "message",
      role: dice.one(["user", "assistant", "system"]),
      content: content(dice),
    }),
    () => ({ type: "function_call", name: "weather", arguments: "{}", call_id: ID(dice) }),
    () => ({ type: "function_call_output", call_id: ID(dice), output: TEXT(dice) }),
  ])();

const format = (dice: Dice) =>
  dice.one([{ type: "audio/pcm", rate: 24_000 }, { type: "audio/pcmu" }, { type: "audio/pcma" }]);

const detection = (dice: Dice) =>
  dice.one<() => unknown>([
    () => null,
    () => ({ type: "semantic_vad", eagerness: dice.one(["low", "medium", "high", "auto"]) }),
    () => ({
      type: "server_vad",
      silence_duration_ms: dice.one([0, 32, 200, 500]),
      prefix_padding_ms: dice.one([0, 300, 5_000]),
      idle_timeout_ms: dice.one([null, 1_000, 120_000]),
      create_response: dice.chance(0.8),
      interrupt_response: dice.chance(0.8),
      antiphon_min_interruption_words: dice.one([0, 2]),
    }),
  ])();

const response = (dice: Dice) => ({
  ...(dice.chance(0.3) ? { conversation: "none" } : {}),
  ...(dice.chance(0.3) ? { input: dice.several(0, 2, () => item(dice)) } : {}),
  ...(dice.chance(0.3) ? { metadata: dice.one([null, {}, { a: "1" }, "text"]) } : {}),
  ...(dice.chance(0.3) ? { max_output_tokens: dice.one([1, 4_096, "inf", "many", 0]) } : {}),
  ...(dice.chance(0.2) ? { output_modalities: dice.one([["audio"], ["text"], []]) } : {}),
  ...(dice.chance(0.2) ? { instructions: dice.one([null, "", "Be brief."]) } : {}),
});

const EVENTS: readonly ((dice: Dice) => Record<string, unknown>)[] = [
  ...Array.from({ length: 6 }, () => (dice: Dice) => ({
    type: "input_audio_buffer.append",
    audio: sound(dice, dice.chance(0.5)),
  })),
  () => ({ type: "input_audio_buffer.commit" }),
  () => ({ type: "input_audio_buffer.clear" }),
  (dice) => ({ type: "response.create", ...(dice.chance(0.5) ? { response: response(dice) } : {}) }),
  (dice) => ({ type: "response.cancel", ...(dice.chance(0.3) ? { response_id: ID(dice) } : {}) }),
  (dice) => ({
    type: "conversation.item.create",
    item: item(dice),
    ...(dice.chance(0.4) ? { previous_item_id: dice.one([null, "root", "a", "nobody"]) } : {}),
  }),
  (dice) => ({ type: "conversation.item.delete", item_id: ID(dice) }),
  (dice) => ({ type: "conversation.item.retrieve", item_id: ID(dice), event_id: TEXT(dice).slice(0, 500) }),
  (dice) => ({
    type: "conversation.item.truncate",
    item_id: ID(dice),
    content_index: dice.upTo(2),
    audio_end_ms: dice.one([0, 12.5, 1e9, 250]),
  }),
  (dice) => ({
    type: "session.update",
    session: {
      ...(dice.chance(0.2) ? { type: dice.one(["realtime", "transcription"]) } : {}),
      ...(dice.chance(0.2) ? { instructions: TEXT(dice) } : {}),
      ...(dice.chance(0.2) ? { tool_choice: dice.one(["auto", { type: "function", name: "a" }]) } : {}),
      audio: {
        input: {
          ...(dice.chance(0.4) ? { format: format(dice) } : {}),
          ...(dice.chance(0.5) ? { turn_detection: detection(dice) } : {}),
          ...(dice.chance(0.3)
            ? { transcription: dice.one([null, {}, { language: "en", delay: "low" }]) }
            : {}),
        },
        output: {
          ...(dice.chance(0.3) ? { format: format(dice) } : {}),
          ...(dice.chance(0.2) ? { voice: dice.one(["alloy", { id: "ash" }, "nobody's"]) } : {}),
          ...(dice.chance(0.2) ? { speed: dice.one([0.25, 1.5, 1]) } : {}),
        },
      },
    },
  }),
  (dice) => ({ type: dice.one(Object.keys(CLIENT_EVENTS)) }),
];

const ODD = [
  ...["null", "true", "[]", "{}", '""', "-1", "0.5", "1e999", '"\\ud800"'],
  `${"[".repeat(500)}${"]".repeat(500)}`,
];

const JUNK = [
  `[${"{},".repeat(2_000)}{}]`,
  `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
  `"${"x".repeat(20_000)}"`,
];

/** Sometimes replaces a value, or cuts, doubles or breaks the text. */
export function bent(text: string, dice: Dice): string {
  if (dice.chance(0.75)) return text;
  const at = dice.upTo(text.length);
  return dice.one<() => string>([
    () => text.slice(0, at),
    () => text.slice(at),
    () => text + text,
    () => text.replace(/:("[^"]*"|\d+|null|true|false)/, () => `:${dice.one(ODD)}`),
    () =>
      text.replaceAll(/:("[^"]*"|\d+|null|true|false)/g, (value) =>
        dice.chance(0.3) ? `:${dice.one(ODD)}` : value,
      ),
    () => text.replace("{", '{"__proto__":{"type":"response.create"},"constructor":1,'),
    () =>
      text
        .replaceAll("{", () => (dice.chance(0.5) ? `{"junk":${dice.one(JUNK)},` : "{"))
        .replaceAll(",}", "}"),
    () => dice.one(ODD),
  ])();
}
