import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import { resample } from "../../src/audio/resample.ts";
import { TOP } from "../architecture/top.ts";
import { decoded } from "../audio/recordings/decoded.ts";
import type { Exchange } from "../writers/chat/chat-server.ts";
import { UnavailableError } from "./environment.ts";
import { TRANSCRIPT } from "./reports.ts";

/**
 * A spoken conversation that a client held: its user says the same thing each time; the first reply is heard to its end,
 * the second is interrupted, the third is heard again, and for the fourth a function may be called.
 */
export interface ConversationReport {
  readonly what: string;
  readonly kind: "conversation";
  /** How often each event or frame came, by the names that the client gives them. */
  readonly events: Readonly<Record<string, number>>;
  /** What the client was told that its user said. */
  readonly transcripts: readonly string[];
  /** What the client was told that was answered, and the seconds of it that came. */
  readonly replies: readonly { readonly text: string; readonly audio_s: number }[];
  /** Seconds from the first sound of the interruption to the last of the reply; null where the client was not told to stop. */
  readonly stopped_after_s: number | null;
  /** What the function was called with; null where the client has none. */
  readonly calls: readonly unknown[] | null;
  readonly errors: readonly string[];
}

/** Of what the user says, as writers are told it. */
const FIRST_WORDS = TRANSCRIPT.split(" ").slice(0, 2).join(" ");
/** The function that clients have, and what it answers. */
export const FUNCTION = "get_weather";
const ARGUMENTS = { city: "Lisbon" };
export const WEATHER = "sunny";

const GREETING = "Hello! What can I do for you?";
const SHORT = "Good morning! How was the trip?";
const LONG = [
  "Let me tell you all about it.",
  "The train left a little after nine, and the sea was on our left all the way down to the harbour.",
  "There were two fishermen on the pier, who had been there since the middle of the night.",
  "They had not caught anything, but they did not seem to mind, and gave us some of their tea.",
  "Then the fog came in, and nobody could see the boats any more.",
].join(" ");
const AFTER = "Oh, go on. I am listening.";
const WITHOUT = "I have no way to find that out.";

/** Replies by how often the user has spoken; the fourth time with a function, where there is one. */
export function answerTurn(exchange: Exchange): void {
  const { messages } = exchange.body;
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const turns = said.join(" ").split(FIRST_WORDS).length - 1;
  const last = messages.at(-1);
  exchange.begin().send({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] });
  if (last?.role === "tool") {
    exchange.say(`In Lisbon it is ${last.content.replaceAll(/\W/g, "")}.`).finish();
    return;
  }
  if (turns >= 4 && "tools" in exchange.body) {
    const call = { name: FUNCTION, arguments: JSON.stringify(ARGUMENTS) };
    const tool_calls = [{ index: 0, id: `call_${messages.length}`, type: "function", function: call }];
    exchange
      .send({ choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }] })
      .finish("tool_calls");
    return;
  }
  exchange.say([GREETING, SHORT, LONG, AFTER][turns] ?? WITHOUT).finish();
}

/** What the user says, 16 bits at 24 kHz: the second sentence of the line that turn detection is tested by. */
export async function userTurn(): Promise<Uint8Array> {
  const file = await readFile(join(TOP, "test/golden/turn-detection/line.flac"));
  const { samples, sampleRateHz } = await decoded(file, 10);
  const [from, to] = [1.75, 2.98].map((seconds) => Math.round(seconds * sampleRateHz));
  return encodeWav(toPcm16(resample(samples.subarray(from, to), sampleRateHz, 24_000)), 24_000);
}

/** Checks all but whether the function was called. Throws what is wrong. */
export function checkConversation(report: ConversationReport): string {
  const { transcripts, replies, errors, stopped_after_s: stoppedAfterS, calls } = report;
  if (errors.length > 0) throw new Error(`there were errors: ${errors.join("; ")}`);
  const turns = calls === null ? 3 : 4;
  if (transcripts.length !== turns || transcripts.some((each) => each.trim() !== TRANSCRIPT)) {
    throw new Error(`the user's turns are ${JSON.stringify(transcripts)}`);
  }
  const [first, second, third] = replies;
  const texts = replies.map(({ text }) => text.trim());
  if (first === undefined || second === undefined || third === undefined || replies.length < turns) {
    throw new Error(`there are ${replies.length} replies: ${JSON.stringify(texts)}`);
  }
  if (texts[0] !== SHORT || texts[2] !== AFTER) throw new Error(`the replies are ${JSON.stringify(texts)}`);
  if (!LONG.startsWith(texts[1]!) || texts[1] === LONG || second.audio_s > 8) {
    throw new Error(`${second.audio_s.toFixed(2)} s came of the reply that was cut: ${texts[1]}`);
  }
  for (const { text, audio_s: seconds } of [first, third]) {
    if (seconds < text.length / 30) throw new Error(`${seconds.toFixed(2)} s came of ${text}`);
  }
  if (stoppedAfterS === null) throw new Error("the client was not told to stop");
  if (stoppedAfterS > 1)
    throw new Error(`the reply went on for ${stoppedAfterS.toFixed(2)} s into the user's words`);
  return `${transcripts.length} turns, the interruption stopped the reply after ${stoppedAfterS.toFixed(2)} s`;
}

/**
 * Checks what the writer was told that the user heard of the reply that was interrupted.
 *
 * @param exchanges what the writer was asked in the conversation
 */
export function checkHeard(exchanges: readonly Exchange[], { replies }: ConversationReport): string {
  const told = exchanges.flatMap(({ body }) => body.messages.map(({ content }) => content));
  const heard = told.findLast((each) => each !== null && LONG.startsWith(each.slice(0, 12)));
  if (heard === undefined) throw new Error("of the reply that was interrupted the writer was told nothing");
  // Of two seconds that were played, and what a client had not played yet.
  const written = replies[1]?.text.trim() ?? "";
  if (!LONG.startsWith(heard) || heard.length > written.length || heard.length > 80) {
    throw new Error(`the writer was told that the user heard: ${heard}`);
  }
  return heard;
}

/** Checks the call of the function. Throws what is wrong, and {@link UnavailableError} where the server called none. */
export function checkCall({ calls, replies }: ConversationReport): string {
  if (calls === null) return "the client has no functions";
  if (calls.length === 0)
    throw new UnavailableError("the server called no function, though it was given one");
  const [call] = calls;
  if (calls.length > 1 || JSON.stringify(call) !== JSON.stringify(ARGUMENTS)) {
    throw new Error(`the function was called with ${JSON.stringify(calls)}`);
  }
  const last = replies.at(-1)?.text ?? "";
  if (!last.includes(WEATHER)) throw new Error(`what it gave is not in the reply: ${JSON.stringify(last)}`);
  return last;
}
