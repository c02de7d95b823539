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
 * A client's spoken conversation of the same user turn each time: the first and third replies are played to their end, the
 * second is interrupted, and the fourth may call a function.
 */
export interface ConversationReport {
  readonly what: string;
  readonly kind: "conversation";
  /** Number of events or frames by the client's names. */
  readonly events: Readonly<Record<string, number>>;
  /** Transcripts of the user's turns. */
  readonly transcripts: readonly string[];
  readonly replies: readonly { readonly text: string; readonly audio_s: number }[];
  /** Seconds from the start of the interruption to the reply's last audio; null if the client was not stopped. */
  readonly stopped_after_s: number | null;
  /** Arguments of the function's calls; null if the client has no functions. */
  readonly calls: readonly unknown[] | null;
  readonly errors: readonly string[];
}

/** The beginning of each user turn. */
const FIRST_WORDS = TRANSCRIPT.split(" ").slice(0, 2).join(" ");
/** The clients' function and its output. */
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

/** Writes the reply by the number of user turns; the fourth calls the function if there is one. */
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

/** The user's turn in PCM16 at 24 kHz: the second sentence of turn detection's test line. */
export async function userTurn(): Promise<Uint8Array> {
  const file = await readFile(join(TOP, "test/golden/turn-detection/line.flac"));
  const { samples, sampleRateHz } = await decoded(file, 10);
  const [from, to] = [1.75, 2.98].map((seconds) => Math.round(seconds * sampleRateHz));
  return encodeWav(toPcm16(resample(samples.subarray(from, to), sampleRateHz, 24_000)), 24_000);
}

/** Checks everything but the function's call. Throws faults. */
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

/** Checks the played text of the interrupted reply that the writer received. @param exchanges the writer's requests */
export function checkHeard(exchanges: readonly Exchange[], { replies }: ConversationReport): string {
  const told = exchanges.flatMap(({ body }) => body.messages.map(({ content }) => content));
  const heard = told.findLast((each) => each !== null && LONG.startsWith(each.slice(0, 12)));
  if (heard === undefined) throw new Error("of the reply that was interrupted the writer was told nothing");
  // Two seconds were played.
  const written = replies[1]?.text.trim() ?? "";
  if (!LONG.startsWith(heard) || heard.length > written.length || heard.length > 80) {
    throw new Error(`the writer was told that the user heard: ${heard}`);
  }
  return heard;
}

/** Checks the function's call. Throws faults, and {@link UnavailableError} if there was no call. */
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
