import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { Alignment } from "../../src/api/realtime/character-alignment.ts";
import type { TestServer } from "../api/http/start.ts";
import { joined, type StreamAnswer, StreamClient } from "../api/realtime/stream-client.ts";
import { type Dice, diceOf } from "./dice.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";
import { LoggedServer } from "./logged-server.ts";
import { bent } from "./realtime.ts";

const logged = new LoggedServer();

/** Fuzzes ElevenLabs' WebSockets of a server that is started with the first call. */
export const streamInputFuzz: Fuzzer = {
  run: (random: Random) => logged.use((server) => attack(server, diceOf(random))),
  close: () => logged.close(),
};

async function attack(server: TestServer, dice: Dice): Promise<void> {
  const isMulti = dice.chance(0.5);
  const isSync = dice.chance(0.5);
  const query = `output_format=pcm_8000&auto_mode=${dice.chance(0.3)}&sync_alignment=${isSync}`;
  const path = `0/${isMulti ? "multi-" : ""}stream-input?${query}`;
  const isKeyless = dice.chance(0.3);
  const client = await StreamClient.open(server, { path, ...(isKeyless ? { headers: {} } : {}) });
  if (isKeyless && dice.chance(0.8)) client.send({ text: " ", xi_api_key: server.key });
  for (const message of dice.several(1, 30, () => dice.one(MESSAGES)(dice))) {
    for (let turns = dice.chance(0.3) ? dice.upTo(6) : 0; turns > 0; turns -= 1) await turn();
    client.send(bent(JSON.stringify(message), dice));
  }
  if (dice.chance(0.1)) return client.socket.terminate();
  client.send(isMulti ? { close_socket: true } : { text: "" });
  const { code } = await client.closing();
  assert.ok([1_000, 1_007, 1_008, 1_013].includes(code), `closed with ${code}`);
  for (const id of new Set(client.answers.map(({ contextId }) => contextId))) {
    const answers = client.answers.filter(({ contextId }) => contextId === id);
    check(answers, isMulti && isSync);
  }
}

function check(answers: readonly StreamAnswer[], countsFromStart: boolean): void {
  let endMs = 0;
  let audioMs = 0;
  for (const { audio, alignment, isFinal, error, message } of answers) {
    if (error !== undefined) assert.ok(error !== "internal_error" && message !== undefined, message);
    audioMs += Buffer.from(audio ?? "", "base64").length / 16;
    if (alignment) endMs = checkAlignment(alignment, countsFromStart ? 0 : endMs, endMs);
    // Contexts may have the name of one that has ended.
    if (isFinal !== true) continue;
    assert.ok(endMs <= audioMs + 100, `aligned to ${endMs} ms of ${audioMs}`);
    [endMs, audioMs] = [0, 0];
  }
}

/** Returns where it ends. */
function checkAlignment(alignment: Alignment, fromMs: number, leastMs: number): number {
  const { chars, charStartTimesMs, charDurationsMs } = alignment;
  assert.deepEqual([charStartTimesMs.length, charDurationsMs.length], [chars.length, chars.length]);
  for (const [index, ms] of charStartTimesMs.entries()) {
    assert.ok(Number.isInteger(ms) && charDurationsMs[index]! >= 0 && [...chars[index]!].length === 1);
    assert.ok(fromMs + ms >= leastMs, `${ms} ms, before ${leastMs}`);
    leastMs = fromMs + ms;
  }
  return fromMs + joined([alignment]).endMs;
}

const TEXTS = [
  ...["", " ", "One is here. ", "Two", " is, too.\n\n", "👍", "\u0000\u2028é", "[a](/b/)", "— “So?” "],
  ...["<speak>", "</speak>", "[pause:0.1s]", "well-known $5, 3.5 and 10% ", "\ud83d"],
];
const CONTEXTS = ["a", "b", "c", "d", "e", "f", undefined, null, ""];

const MESSAGES: readonly ((dice: Dice) => Record<string, unknown>)[] = [
  ...Array.from({ length: 4 }, () => (dice: Dice) => ({
    text: dice.one(TEXTS),
    context_id: dice.one(CONTEXTS),
    ...(dice.chance(0.3) ? { flush: dice.chance(0.8) } : {}),
    ...(dice.chance(0.2) ? { try_trigger_generation: true } : {}),
  })),
  (dice) => ({ text: " ", context_id: dice.one(CONTEXTS), voice_settings: { speed: dice.one([1, 1.2, 9]) } }),
  (dice) => ({ context_id: dice.one(CONTEXTS), flush: true }),
  (dice) => ({ context_id: dice.one(CONTEXTS), close_context: true }),
  (dice) => ({
    xi_api_key: dice.one(["", "ant_", null]),
    generation_config: { chunk_length_schedule: [50] },
  }),
];
