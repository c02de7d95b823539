import type { Preset, Script } from "../model/script.ts";
import type { Prepared } from "./prepare.ts";

/** What the engine is given: the open turn's own words, or what a writer gives for them. */
export function scriptOf(
  prepared: Prepared,
  preset: Preset,
  written: AsyncIterable<string> | null = null,
  keyId = "",
  traceHeaders: NonNullable<Script["traceHeaders"]> = {},
): Script {
  const { conversation, delivery, seed } = prepared;
  return {
    history: conversation.history,
    speaker: conversation.open.speaker,
    text: written ?? onePiece(conversation.open.text ?? ""),
    delivery,
    preset: { ...preset, ...prepared.preset },
    seed,
    keyId,
    traceHeaders,
    ...(prepared.voice === undefined ? {} : { voice: prepared.voice }),
    ...(prepared.hasMouth ? { hasMouth: true } : {}),
    ...(prepared.lexicon.length > 0 ? { lexicon: prepared.lexicon } : {}),
  };
}

async function* onePiece(text: string): AsyncGenerator<string> {
  yield text;
}
