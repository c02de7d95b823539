import type { TextPiece } from "../../core/marked-text.ts";
import { voiceIdOf } from "../../core/model-card.ts";
import type { Preset, Script } from "../../core/script.ts";
import { unknownVoice } from "./choose-voice.ts";
import type { ResolvedRequest } from "./resolve-request.ts";

/** Builds the engine's script from the open turn's own text, or from what a writer gives. */
export function buildScript(
  prepared: ResolvedRequest,
  preset: Preset,
  written: AsyncIterable<TextPiece> | null = null,
  keyId = "",
  traceHeaders: NonNullable<Script["traceHeaders"]> = {},
): Script {
  const { conversation, delivery, seed } = prepared;
  const manner = prepared.manner ?? mannerOfVoice(prepared);
  return {
    history: conversation.history,
    speaker: conversation.open.speaker,
    text: written ?? onePiece(conversation.open.marked ?? conversation.open.text ?? ""),
    delivery,
    preset: { ...preset, ...prepared.preset },
    seed,
    keyId,
    traceHeaders,
    ...(prepared.voice === undefined ? {} : { voice: prepared.voice }),
    ...(prepared.language === undefined ? {} : { language: prepared.language }),
    ...(manner === undefined ? {} : { manner }),
    ...(prepared.textVoices === undefined
      ? {}
      : { textVoices: foundIn(prepared.textVoices, prepared.model) }),
    ...(prepared.hasMouth ? { hasMouth: true } : {}),
    ...(prepared.lexicon.length > 0 ? { lexicon: prepared.lexicon } : {}),
  };
}

/** Returns the manner that the settings give the voice; mixes and followed voices have none. */
function mannerOfVoice({ voice, conversation, model }: ResolvedRequest): Script["manner"] {
  if (voice !== undefined) {
    const [part] = voice;
    if (part === undefined || voice.length > 1) return undefined;
    return "sample" in part ? part.sample.manner : model.manners?.get(part.id);
  }
  const { history, open } = conversation;
  const isFollowed = history.some(({ speaker, audio }) => speaker === open.speaker && audio !== null);
  return isFollowed ? undefined : model.manners?.get(voiceIdOf(open.speaker, model.card));
}

/** Throws a 400 `ServiceError` for a recording that was not found. */
function foundIn(
  voices: NonNullable<ResolvedRequest["textVoices"]>,
  { card }: ResolvedRequest["model"],
): NonNullable<Script["textVoices"]> {
  return Object.fromEntries(
    Object.entries(voices).map(([name, { customVoice: own, ...found }]) => {
      if (own !== undefined) throw unknownVoice(own, card);
      return [name, found];
    }),
  );
}

export async function* onePiece<T extends TextPiece>(text: T): AsyncGenerator<T> {
  yield text;
}
