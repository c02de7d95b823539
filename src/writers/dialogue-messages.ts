import type { SpeakerLabel, Turn } from "../core/conversation.ts";
import type { Dialogue, EarlierCall, ToolCall } from "../core/writer.ts";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A message with function calls after its words, or the output of one call. */
export type ChatStep =
  | (ChatMessage & { readonly calls?: readonly ToolCall[] })
  | { readonly role: "tool"; readonly callId: string; readonly content: string };

export interface MessageOptions {
  /** First message; `null` for none. */
  readonly systemPrompt: string | null;
  /** Characters of history to keep, newest first. The end of the newest turn is always kept. */
  readonly historyChars: number;
}

/** Default of `writer.systemPrompt`. */
export const DEFAULT_SYSTEM_PROMPT =
  "You are heard, not read: answer in one to three short sentences of plain words, as people speak, without markdown, " +
  "lists, emoji or stage directions. Unless a tool or these instructions give you one, you have no clock, no calendar, no " +
  "news, no weather and no way to act: say so instead of guessing or promising.";

/** Appends a request's instructions to a system prompt, as one line without template tokens. */
export function appendInstructions(systemPrompt: string, instructions = ""): string {
  const line = plainLine(instructions);
  return line === "" ? systemPrompt : `${systemPrompt}\n\n${line}`;
}

/**
 * Converts a dialogue to a chat. The open speaker is the assistant, all others the user; several others are labelled.
 * Consecutive turns of one role are merged. The user comes first and last, as many chat templates require, with
 * placeholder words if needed. White space and template tokens in text are neutralised.
 */
export function dialogueMessages(
  { history, speaker }: Pick<Dialogue, "history" | "speaker">,
  options: MessageOptions,
): ChatMessage[] {
  return chatSteps({ history, speaker }, [], options) as ChatMessage[];
}

/**
 * Converts a dialogue with its function calls. Each call is followed by its output, as endpoints require, or by a
 * note that there is none yet. Long outputs are cut at the end.
 */
export function chatSteps(
  { history, speaker }: Pick<Dialogue, "history" | "speaker">,
  calls: readonly EarlierCall[],
  { systemPrompt, historyChars }: MessageOptions,
): ChatStep[] {
  const others = new Set(history.map((turn) => turn.speaker).filter((label) => label !== speaker));
  const steps: Writable<ChatStep>[] = [];
  let answered: ToolCall[] = [];
  for (const entry of newestEntries(entriesOf(history, calls, speaker, historyChars), historyChars)) {
    const last = steps.at(-1);
    if (entry.call !== null) {
      // Calls of one message precede their outputs.
      const { callId, name } = entry.call;
      const call = { callId, name, arguments: plainArguments(entry.call.arguments) };
      if (last?.role === "tool") answered.push(call);
      else {
        answered = [call];
        if (last?.role === "assistant") last.calls = answered;
        else steps.push({ role: "assistant", content: "", calls: answered });
      }
      steps.push({ role: "tool", callId, content: entry.text });
      continue;
    }
    const role = entry.speaker === speaker ? "assistant" : "user";
    const line = role === "user" && others.size > 1 ? `Speaker ${entry.speaker}: ${entry.text}` : entry.text;
    if (last?.role === role) last.content += `\n${line}`;
    else steps.push({ role, content: line });
  }
  if (steps[0]?.role !== "user") steps.unshift({ role: "user", content: HELLO });
  const last = steps.at(-1);
  if (last?.role === "assistant") steps.push({ role: "user", content: GO_ON });
  else if (last?.role === "user" && history.at(-1)?.speaker === speaker && last.content !== HELLO)
    last.content += `\n${GO_ON}`;
  return systemPrompt === null ? steps : [{ role: "system", content: systemPrompt }, ...steps];
}

type Writable<T> = T extends unknown ? { -readonly [K in keyof T]: T[K] } : never;

const HELLO = "Hello.";
const GO_ON = "Go on.";
const NOT_TRANSCRIBED = "(They said something, but it could not be heard.)";
const NO_OUTPUT = "(Nothing has come of it yet.)";
const CUT = "… (the rest is left out)";

/** A turn or a call, as one line. */
type Entry =
  | { readonly call: null; readonly speaker: SpeakerLabel; readonly text: string }
  | { readonly call: EarlierCall; readonly text: string };

/** Lists turns and calls in order. Skips the open speaker's turns without a transcript. */
function entriesOf(
  history: readonly Turn[],
  calls: readonly EarlierCall[],
  speaker: SpeakerLabel,
  historyChars: number,
): Entry[] {
  const entries: Entry[] = [];
  const maxChars = Math.floor(historyChars / 2);
  const called = (from: number, to: number): void => {
    for (const call of calls) {
      if (call.turnsBefore < from || call.turnsBefore >= to) continue;
      const output = plainLine(call.output ?? NO_OUTPUT);
      const text = output.length > maxChars ? `${output.slice(0, maxChars).toWellFormed()}${CUT}` : output;
      entries.push({ call, text });
    }
  };
  for (const [index, turn] of history.entries()) {
    called(index, index + 1);
    const text =
      turn.text === null ? (turn.speaker === speaker ? "" : NOT_TRANSCRIBED) : plainLine(turn.text);
    if (text !== "") entries.push({ call: null, speaker: turn.speaker, text });
  }
  called(history.length, Number.POSITIVE_INFINITY);
  return entries;
}

/** Returns the newest entries that fit, in order. */
function newestEntries(entries: readonly Entry[], historyChars: number): Entry[] {
  const kept: Entry[] = [];
  let left = historyChars;
  for (const entry of entries.toReversed()) {
    const { call, text } = entry;
    const chars = text.length + (call?.arguments.length ?? 0);
    if (chars > left && kept.length > 0) break;
    kept.push(call === null && chars > left ? { ...entry, text: endOf(text, left) } : entry);
    left -= chars;
  }
  return kept.reverse();
}

/**
 * Neutralises arguments as text; anything but a JSON object, which endpoints refuse, becomes an empty one. Escapes
 * are decoded first (`\u003c` is a bracket), since templates print values.
 */
function plainArguments(given: string): string {
  if (!isJsonObject(given)) return "{}";
  return plainLine(given.includes("\\") ? JSON.stringify(JSON.parse(given)) : given);
}

export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Reduces text to one line without tokens of chat templates (`<|im_end|>`, `</s>`, `<start_of_turn>`, `[INST]`) or
 * lone surrogates, which servers refuse.
 */
export function plainLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replaceAll(/<(?=\S)/g, "‹")
    .replaceAll(/\[(?=\/?[a-z]?[A-Z_]{2,}\]|\|)/g, "(");
}

/** Returns the last whole words that fit, or the last characters of a longer word. */
function endOf(text: string, chars: number): string {
  const end = text.slice(-chars);
  const space = end.indexOf(" ");
  const words = space === -1 || space === end.length - 1 ? end : end.slice(space + 1);
  return /^[\udc00-\udfff]/.test(words) ? words.slice(1) : words;
}
