import type { SpeakerLabel, Turn } from "../core/conversation.ts";
import type { Dialogue, EarlierCall, ToolCall } from "../core/writer.ts";

/** One message of a chat, as every chat model takes it. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A message of a chat in which functions are called: what of them stands after the words, and what came of one. */
export type ChatStep =
  | (ChatMessage & { readonly calls?: readonly ToolCall[] })
  | { readonly role: "tool"; readonly callId: string; readonly content: string };

/** How a dialogue becomes messages. */
export interface MessageOptions {
  /** Comes first, as it is; `null` is none. */
  readonly systemPrompt: string | null;
  /** Characters of history that are kept, newest first. Of the newest turn at least its end is always kept. */
  readonly historyChars: number;
}

/** Default of `writer.systemPrompt`. */
export const DEFAULT_SYSTEM_PROMPT =
  "You are heard, not read: answer in one to three short sentences of plain words, as people speak, without markdown, " +
  "lists, emoji or stage directions. Unless a tool or these instructions give you one, you have no clock, no calendar, no " +
  "news, no weather and no way to act: say so instead of guessing or promising.";

/** A system prompt and after it a request's instructions, in one line that forges no role, as turns are. */
export function appendInstructions(systemPrompt: string, instructions = ""): string {
  const line = plainLine(instructions);
  return line === "" ? systemPrompt : `${systemPrompt}\n\n${line}`;
}

/**
 * A dialogue as a chat. The open speaker is the assistant and everybody else the user; if they are more than one, their
 * labels stand before what they say. Neighbouring turns of one role make one message. The user always comes first and
 * last, as many chat templates demand, so words are put in for a user who said nothing. Text cannot forge a role: spaces
 * become single blanks, and the brackets that begin a template's tokens become harmless ones.
 */
export function dialogueMessages(
  { history, speaker }: Pick<Dialogue, "history" | "speaker">,
  options: MessageOptions,
): ChatMessage[] {
  return chatSteps({ history, speaker }, [], options) as ChatMessage[];
}

/**
 * The same with the calls that were made. Each has its output right behind it, as endpoints demand: of one that has not
 * come yet it is said so. Of a long output the beginning is kept.
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
      // Those of one message come before what came of them.
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

/** Something that was said, or called, as a line. */
type Entry =
  | { readonly call: null; readonly speaker: SpeakerLabel; readonly text: string }
  | { readonly call: EarlierCall; readonly text: string };

/** All of a dialogue in its order. What the open speaker said unheard is left out. */
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

/** The newest that fit, in their order. */
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
 * A model's own, or a client's, made as harmless as text is; what is no JSON object, which endpoints refuse, is an empty one.
 * Escapes are undone first (`\u003c` is a bracket): templates write the values, not the text that stood for them.
 */
function plainArguments(given: string): string {
  if (!isJsonObject(given)) return "{}";
  return plainLine(given.includes("\\") ? JSON.stringify(JSON.parse(given)) : given);
}

/** Whether a text is a JSON object. */
export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * One line that holds no token of a chat template (`<|im_end|>`, `</s>`, `<start_of_turn>`, `[INST]`) and nothing that
 * servers refuse, as they do half a character.
 */
export function plainLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replaceAll(/<(?=\S)/g, "‹")
    .replaceAll(/\[(?=\/?[a-z]?[A-Z_]{2,}\]|\|)/g, "(");
}

/** The last whole words that fit; the last characters where not even one does. */
function endOf(text: string, chars: number): string {
  const end = text.slice(-chars);
  const space = end.indexOf(" ");
  const words = space === -1 || space === end.length - 1 ? end : end.slice(space + 1);
  return /^[\udc00-\udfff]/.test(words) ? words.slice(1) : words;
}
