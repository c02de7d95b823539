import type { Preset, Script } from "../model/script.ts";
import type { Prepared } from "./prepare.ts";

/** What the engine is given for a request whose open turn has its words. */
export function scriptOf(prepared: Prepared, preset: Preset): Script {
  const { conversation, delivery, seed } = prepared;
  return {
    history: conversation.history,
    speaker: conversation.open.speaker,
    text: onePiece(conversation.open.text ?? ""),
    delivery,
    preset: { ...preset, ...prepared.preset },
    seed,
  };
}

async function* onePiece(text: string): AsyncGenerator<string> {
  yield text;
}
