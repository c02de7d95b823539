import type { SpeakerLabel, Turn } from "../model/conversation.ts";
import type { Dialogue } from "../model/writer.ts";

/** One message of a chat, as every chat model takes it. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

interface MessageOptions {
  /** Comes first, as it is; `null` is none. */
  readonly systemPrompt: string | null;
  /** Characters of history that are kept, newest first. Of the newest turn at least its end is always kept. */
  readonly historyChars: number;
}

/** What is asked of a model where a setting gives it no other instructions. */
export const SPOKEN_PROMPT =
  "You are talking with someone aloud. Answer as one speaks, in one to three short sentences, in plain words only: " +
  "no markdown, no lists, no emoji, no stage directions.";

/** A system prompt and after it a request's instructions, in one line that forges no role, as turns are. */
export function instructed(systemPrompt: string, instructions = ""): string {
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
  { systemPrompt, historyChars }: MessageOptions,
): ChatMessage[] {
  const others = new Set(history.map((turn) => turn.speaker).filter((label) => label !== speaker));
  const messages: { role: ChatMessage["role"]; content: string }[] = [];
  for (const { speaker: label, text } of newest(history, speaker, historyChars)) {
    const role = label === speaker ? "assistant" : "user";
    const line = role === "user" && others.size > 1 ? `Speaker ${label}: ${text}` : text;
    const last = messages.at(-1);
    if (last?.role === role) last.content += `\n${line}`;
    else messages.push({ role, content: line });
  }
  if (messages[0]?.role !== "user") messages.unshift({ role: "user", content: HELLO });
  if (history.at(-1)?.speaker === speaker) {
    const last = messages.at(-1);
    if (last?.role === "user" && last.content !== HELLO) last.content += `\n${GO_ON}`;
    else if (last?.role === "assistant") messages.push({ role: "user", content: GO_ON });
  }
  return systemPrompt === null ? messages : [{ role: "system", content: systemPrompt }, ...messages];
}

const HELLO = "Hello.";
const GO_ON = "Go on.";
const UNHEARD = "(They said something, but it could not be heard.)";

/** The newest turns that fit, in their order, as lines. What the open speaker said unheard is left out. */
function newest(
  history: readonly Turn[],
  speaker: SpeakerLabel,
  historyChars: number,
): { speaker: SpeakerLabel; text: string }[] {
  const kept: { speaker: SpeakerLabel; text: string }[] = [];
  let left = historyChars;
  for (const turn of history.toReversed()) {
    const text = turn.text === null ? (turn.speaker === speaker ? "" : UNHEARD) : plainLine(turn.text);
    if (text === "") continue;
    if (text.length > left && kept.length > 0) break;
    kept.push({ speaker: turn.speaker, text: text.length > left ? endOf(text, left) : text });
    left -= text.length;
  }
  return kept.reverse();
}

/**
 * One line that holds no token of a chat template (`<|im_end|>`, `</s>`, `<start_of_turn>`, `[INST]`) and nothing that
 * servers refuse, as they do half a character.
 */
function plainLine(text: string): string {
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
