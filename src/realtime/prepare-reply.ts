import { spokenSpeed } from "../contract/audio-speech.ts";
import { MAX_NEW_TOKENS, MAX_TEXT_CHARS, MAX_TURNS, MIN_NEW_TOKENS } from "../contract/limits.ts";
import { speakerNamed, VOICES } from "../contract/voices.ts";
import { type Prepared, prepareConverse, type ResolveModel } from "../serving/prepare.ts";
import type { Item } from "./items.ts";
import type { ResponseRequest } from "./session.ts";
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
  const speaker = speakerNamed(settings.voice, "voice");
  const other = VOICES.find(({ id }) => id !== speaker)?.id ?? speaker;
  const said = items.flatMap((item) => turnOf(item, speaker, other)).slice(1 - MAX_TURNS);
  const prepared = prepareConverse({ conversation: [...said, { speaker }], model }, resolve);
  const rate = spokenSpeed(settings.speed);
  const { maxOutputTokens } = settings;
  const maxFrames = maxOutputTokens === "inf" ? MAX_NEW_TOKENS : Math.max(MIN_NEW_TOKENS, maxOutputTokens);
  const instructions = [settings.instructions, ...items.flatMap(instructionOf)].filter((each) => each.trim());
  return {
    ...prepared,
    input: { ...prepared.input, audioS: inputAudioS },
    preset: rate === 1 ? prepared.preset : { ...prepared.preset, rate },
    delivery: { ...prepared.delivery, maxFrames },
    instructions: instructions.length === 0 ? null : instructions.join("\n\n"),
  };
}

function turnOf(item: Item, speaker: string, other: string): { speaker: string; text: string }[] {
  const text = textOf(item)?.trim() ?? "";
  if (item.type !== "message" || item.role === "system" || text === "") return [];
  // The end of what is too long counts most.
  return [{ speaker: item.role === "assistant" ? speaker : other, text: text.slice(-MAX_TEXT_CHARS) }];
}

function instructionOf(item: Item): string[] {
  return item.type === "message" && item.role === "system" ? [item.text ?? ""] : [];
}
