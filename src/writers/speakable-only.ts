import type { Dialogue, WrittenPart } from "../model/writer.ts";
import type { ListCount } from "./block-marks.ts";
import { plainSpeech } from "./plain-speech.ts";
import { leavesOpen } from "./stage-directions.ts";

/**
 * Of parts, each a sentence, only what {@link plainSpeech} lets through; when nothing is left, one that asks to hear
 * more. Calls of functions keep their place among them. Numbers may be said that the dialogue, its instructions or `told`, what an operator told the writer, mentions.
 */
export async function* speakableOnly(
  parts: AsyncIterable<WrittenPart>,
  { history, instructions = "" }: Dialogue,
  told: string,
): AsyncGenerator<WrittenPart, void, void> {
  const heard = [told, instructions, ...history.map(({ text }) => text ?? "")].join(" ");
  const list: ListCount = { last: 0 };
  // Of several sentences one may belong to the next: lists, and marks around both.
  let held: string[] = [];
  const takePlain = (): string => {
    const text = plainSpeech(held.join(" "), heard, list);
    held = [];
    return text;
  };
  let last: WrittenPart | null = null;
  let isSilent = true;
  for await (const part of parts) {
    if (part.call !== undefined) {
      const text = takePlain();
      if (last !== null && text !== "") yield { ...last, text };
      isSilent = false;
      yield part;
      continue;
    }
    last = part;
    held.push(part.text);
    if (held.length < MAX_HELD && leavesOpen(held.join(" "))) continue;
    const text = takePlain();
    if (text === "") continue;
    isSilent = false;
    yield { ...part, text };
  }
  const text = takePlain();
  if (isSilent || text !== "")
    yield { ...(last ?? { tokens: null, gate: null }), text: text || NOTHING_LEFT };
}

const NOTHING_LEFT = "Tell me a bit more about that.";

/** What is not closed by then is taken as it is, so that speech need not wait. */
const MAX_HELD = 3;
