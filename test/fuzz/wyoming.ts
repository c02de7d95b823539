import assert from "node:assert/strict";
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import {
  encodeEvent,
  MAX_DATA_BYTES,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  wyomingEvent,
} from "../../src/api/wyoming/wyoming-event.ts";
import { CONNECTION_BUDGET } from "../../src/limits/event-loop-budget.ts";
import { WyomingClient } from "../api/wyoming/client.ts";
import { ScriptedRecogniser } from "../recognition/scripted-recogniser.ts";
import { within } from "../waiting.ts";
import { type Dice, diceOf } from "./dice.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";
import { LoggedServer } from "./logged-server.ts";

/** Chunks, each with the turns of the event loop before it. */
export type WyomingBytes = readonly { readonly bytes: Uint8Array; readonly afterTurns: number }[];

/** Returns protocol events, some of them corrupted; the same for the same random source. */
export function wyomingBytes(random: Random): WyomingBytes {
  const dice = diceOf(random);
  const conversations = dice.several(1, 3, () => dice.one(CONVERSATIONS)(dice));
  const events = dice.chance(0.5) ? interleaved(conversations, dice) : conversations.flat();
  const bytes = Buffer.concat(events.map((event) => bentBytes(sentEvent(event, dice), dice)));
  return cut(dice.chance(0.2) ? bytes.subarray(0, dice.upTo(bytes.length)) : bytes, dice);
}

const logged = new LoggedServer({ wyoming: true, recogniser: new ScriptedRecogniser() });

/** Fuzzes the bridge of a server that is started with the first call. */
export const wyomingFuzz: Fuzzer = {
  run: (random: Random) =>
    logged.use(async ({ wyomingUrl }) => {
      await attack(wyomingUrl!, wyomingBytes(random));
      await isStillThere(wyomingUrl!);
    }),
  close: () => logged.close(),
};

/** Completes any open event and then is invalid, which ends the connection. */
const END = Buffer.alloc(MAX_HEADER_BYTES + MAX_DATA_BYTES + MAX_PAYLOAD_BYTES + 2, "\n");

async function attack(url: string, pieces: WyomingBytes): Promise<void> {
  const beganMs = performance.now();
  const client = await WyomingClient.open(url);
  try {
    for (const { bytes, afterTurns } of [...pieces, { bytes: END, afterTurns: 0 }]) {
      for (let i = 0; i < afterTurns; i++) await turn();
      if (client.socket.destroyed) break;
      if (!client.socket.write(bytes)) await Promise.race([once(client.socket, "drain"), closed(client)]);
    }
    await within("the end of a connection that sent no event", closed(client));
  } finally {
    client.close();
  }
  let answeredBytes = 0;
  for (const { type, data } of client.events) {
    assert.notEqual(data.code, "internal_error");
    if (type === "info" || type === "pong") answeredBytes += JSON.stringify(data).length;
  }
  const regained = (CONNECTION_BUDGET.perS * (performance.now() - beganMs)) / 1_000;
  const most = CONNECTION_BUDGET.burst + regained + MAX_HEADER_BYTES + MAX_DATA_BYTES;
  assert.ok(answeredBytes <= most, `${answeredBytes} bytes were answered, of at most ${most}`);
}

async function closed({ socket }: WyomingClient): Promise<void> {
  if (!socket.destroyed) await new Promise((resolve) => socket.once("close", resolve));
}

async function isStillThere(url: string): Promise<void> {
  const client = await WyomingClient.open(url);
  client.send("describe");
  await client.upTo("info");
  client.close();
}

interface Sent {
  readonly type: string;
  readonly data: Record<string, unknown>;
  readonly payload: Uint8Array | null;
}

const sent = (type: string, data: Record<string, unknown> = {}, payload: Uint8Array | null = null): Sent => ({
  type,
  data,
  payload,
});

const FORMATS = [
  { rate: 16_000, width: 2, channels: 1 },
  { rate: 8_000, width: 2, channels: 1 },
  { rate: 96_000, width: 4, channels: 8 },
];
const TEXTS = ["", " ", "One.", "It is good to hear from you. And", "👍", "\u0000\u2028é", "[a](/b/)"];

/** Valid conversations. */
const CONVERSATIONS: readonly ((dice: Dice) => Sent[])[] = [
  (dice) => dice.several(1, 40, () => sent(dice.one(["describe", "ping"]))),
  (dice) => [sent("ping", { text: dice.one(TEXTS) }), sent("select-program", { name: "a" })],
  (dice) => [sent("synthesize", { text: dice.one(TEXTS), voice: { name: dice.one(["0", "1", "Ann"]) } })],
  (dice) => [
    sent("synthesize-start", { voice: { language: dice.one(["en", "de"]) } }),
    ...dice.several(0, 6, () => sent("synthesize-chunk", { text: dice.one(TEXTS) })),
    sent("synthesize", { text: dice.one(TEXTS) }),
    sent("synthesize-stop"),
  ],
  (dice) => {
    const format = dice.one(FORMATS);
    return [
      sent("transcribe", { language: dice.one(["en-US", "de", "", "Klingon"]) }),
      sent("audio-start", format),
      ...dice.several(0, 6, () => sent("audio-chunk", format, new Uint8Array(dice.upTo(4_000)).fill(7))),
      sent("audio-stop"),
    ];
  },
];

function interleaved(conversations: readonly Sent[][], dice: Dice): Sent[] {
  const left = conversations.map((events) => [...events]).filter(({ length }) => length > 0);
  const mixed: Sent[] = [];
  while (left.length > 0) {
    const from = dice.upTo(left.length - 1);
    mixed.push(left[from]!.shift()!);
    if (left[from]!.length === 0) left.splice(from, 1);
  }
  return mixed;
}

/** Unexpected values of fields. */
const ODD_VALUES: readonly ((dice: Dice) => string)[] = [
  (dice) =>
    dice.one(["null", "true", "[]", "{}", '""', "0", "-1", "0.5", "1e308", "1e999", "9007199254740993"]),
  (dice) => "[".repeat(dice.one([2, 63, 64, 60_000])),
  (dice) => {
    const depth = dice.one([2, 62, 65, 20_000]);
    return `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  },
  (dice) => `"${"a".repeat(dice.one([10, 8_001, 130_000]))}"`,
  (dice) => `"${dice.one(["\\ud800", "\\u0000", "\\udfff\\ud800", "\\x", "\\"])}"`,
  (dice) => `{"__proto__":{"type":1},"toString":${dice.upTo(9)},"constructor":null}`,
];

/** Encodes an event, sometimes with odd fields or wrong lengths. */
function sentEvent({ type, data, payload }: Sent, dice: Dice): Uint8Array {
  if (dice.chance(0.7)) return encodeEvent(wyomingEvent(type, data, payload));
  const fields = Object.entries(data).map(([name, value]) => {
    const json = dice.chance(0.3) ? dice.one(ODD_VALUES)(dice) : JSON.stringify(value);
    return `${JSON.stringify(dice.chance(0.05) ? "__proto__" : name)}:${json}`;
  });
  if (dice.chance(0.3)) fields.push(`"text":${dice.one(ODD_VALUES)(dice)}`);
  const json = Buffer.from(`{${fields.join()}}`);
  const isInline = dice.chance(0.3);
  const length = (bytes: number): string =>
    dice.chance(0.8)
      ? `${bytes}`
      : `${dice.one([bytes + 1, bytes - 1, -1, 0, 0.5, 131_072, 1e6, 1e15, null])}`;
  const header = [
    `"type":${dice.chance(0.9) ? JSON.stringify(type) : dice.one(ODD_VALUES)(dice)}`,
    isInline ? `"data":${json}` : `"data_length":${length(json.length)}`,
    ...(payload === null ? [] : [`"payload_length":${length(payload.length)}`]),
  ];
  const line = Buffer.from(`{${header.join()}}${dice.one(["\n", "\n", "\r\n"])}`);
  return Buffer.concat([line, isInline ? NOTHING : json, payload ?? NOTHING]);
}

const NOTHING = new Uint8Array(0);

/** Sometimes replaces, removes, repeats or breaks bytes. */
function bentBytes(bytes: Uint8Array, dice: Dice): Uint8Array {
  if (dice.chance(0.85)) return bytes;
  const [from, to] = [dice.upTo(bytes.length), dice.upTo(bytes.length)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  const [head, part, tail] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)];
  const noise = (): Uint8Array => Uint8Array.from(dice.several(1, 9, () => dice.upTo(255)));
  return dice.one<() => Uint8Array>([
    () => Buffer.concat([head, tail]),
    () => Buffer.concat([head, part, part, tail]),
    () => Buffer.concat([head, noise(), tail]),
    () => Buffer.concat([tail, part, head]),
    () => Buffer.concat([Buffer.from("\uFEFF"), bytes]),
    () => Buffer.concat([head, Uint8Array.of(0xc0, 0x80, 0xff), tail]),
  ])();
}

/** Cuts bytes into chunks, some of them after a pause. */
function cut(bytes: Uint8Array, dice: Dice): WyomingBytes {
  const most = dice.one([3, 300, 70_000]);
  const pieces: { bytes: Uint8Array; afterTurns: number }[] = [];
  for (let at = 0; at < bytes.length; ) {
    // Many tiny chunks would only take time.
    const length = 1 + dice.upTo(pieces.length < 100 ? most : 70_000);
    pieces.push({ bytes: bytes.subarray(at, at + length), afterTurns: dice.chance(0.2) ? dice.upTo(3) : 0 });
    at += length;
  }
  return pieces;
}
