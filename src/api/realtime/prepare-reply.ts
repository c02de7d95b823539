import { MAX_NEW_TOKENS, MAX_TEXT_CHARS, MAX_TURNS, MIN_NEW_TOKENS } from "../../contract/limits.ts";
import { MAX_SESSION_INSTRUCTIONS_CHARS } from "../../contract/realtime/session.ts";
import type { EarlierCall, ToolUse } from "../../core/writer.ts";
import { chooseSpeaker } from "../../serving/prepare/choose-voice.ts";
import { type Prepared, prepareConverse, type ResolveModel } from "../../serving/prepare/prepare.ts";
import type { Item, MessageItem } from "./items.ts";
import type { ResponseRequest } from "./session-events.ts";
import type { SessionSettings } from "./session-settings.ts";
import { textOf } from "./wire.ts";

/**
 * A reply of a session as a request like any other: an authored turn after what was said. Throws a `ServiceError` that
 * names what cannot be had.
 *
 * @param model the id that the session resolved to; `null` is the default model
 * @param inputAudioS seconds of sound that are metered with it
 */
export function prepareReply(
  { items, settings }: ResponseRequest,
  model: string | null,
  inputAudioS: number,
  resolve: ResolveModel,
): Prepared {
  const { voice, voices } = settings;
  const { speakers } = voices.cast;
  const { speaker: named } = chooseSpeaker(voice, "voice", voices.cast);
  const speaker = named ?? speakers[0] ?? "0";
  const other = speakers.find((label) => label !== speaker) ?? speaker;
  const all = items.flatMap((item) => turnOf(item, speaker, other));
  const said = all.slice(1 - MAX_TURNS);
  const cast = named === undefined ? { voices: { [speaker]: voice } } : {};
  const prepared = prepareConverse({ conversation: [...said, { speaker }], model, ...cast }, resolve);
  const { maxOutputTokens, speed: rate } = settings;
  const maxFrames = maxOutputTokens === "inf" ? MAX_NEW_TOKENS : Math.max(MIN_NEW_TOKENS, maxOutputTokens);
  const toolUse = toolUseOf(items, settings, all.length - said.length);
  const readChars = toolUse?.calls.reduce((sum, call) => sum + (call.output?.length ?? 0), 0) ?? 0;
  const isWritten = settings.modality === "text" && maxOutputTokens !== "inf";
  return {
    ...prepared,
    input: { chars: prepared.input.chars + readChars, audioS: inputAudioS },
    preset: rate === 1 ? prepared.preset : { ...prepared.preset, rate },
    delivery: { ...prepared.delivery, maxFrames },
    instructions: instructionsOf(items, settings),
    ...(toolUse === null ? {} : { toolUse }),
    ...(isWritten ? { maxTokens: maxOutputTokens } : {}),
  };
}

/** What the writer may call, and earlier calls with what came of them; `null` where there is neither. */
function toolUseOf(
  items: readonly Item[],
  { tools, toolChoice }: SessionSettings,
  forgottenTurns: number,
): ToolUse | null {
  const calls: { -readonly [K in keyof EarlierCall]: EarlierCall[K] }[] = [];
  let turns = -forgottenTurns;
  for (const item of items) {
    if (item.type === "function_call") {
      const { callId, name } = item;
      calls.push({ callId, name, arguments: item.arguments, output: null, turnsBefore: turns });
    } else if (item.type === "function_call_output") {
      // Ids may come again: an output is that of the newest call which has none.
      const call = calls.findLast(({ callId, output }) => callId === item.callId && output === null);
      if (call !== undefined) call.output = item.output;
    } else if (isTurn(item)) turns += 1;
  }
  const kept = calls.filter(({ turnsBefore }) => turnsBefore >= 0);
  return tools.length === 0 && kept.length === 0 ? null : { tools, choice: toolChoice, calls: kept };
}

function turnOf(item: Item, speaker: string, other: string): { speaker: string; text: string }[] {
  if (!isTurn(item)) return [];
  const text = textOf(item)?.trim() ?? "";
  // The end of what is too long counts most.
  return [{ speaker: item.role === "assistant" ? speaker : other, text: text.slice(-MAX_TEXT_CHARS) }];
}

function isTurn(item: Item): item is MessageItem {
  return item.type === "message" && item.role !== "system" && (textOf(item)?.trim() ?? "") !== "";
}

/** The session's own, and after them what it was told as the system: the newest of that, as far as all is not too long. */
function instructionsOf(items: readonly Item[], { instructions }: SessionSettings): string | null {
  const told: string[] = [];
  let left = MAX_SESSION_INSTRUCTIONS_CHARS - instructions.length;
  for (const item of items.toReversed()) {
    const text = item.type === "message" && item.role === "system" ? (item.text?.trim() ?? "") : "";
    if (text === "") continue;
    if (text.length > left) break;
    told.push(text);
    left -= text.length;
  }
  const all = [instructions, ...told.reverse()].filter((each) => each.trim() !== "");
  return all.length === 0 ? null : all.join("\n\n");
}
