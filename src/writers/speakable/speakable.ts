import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../../core/writer.ts";
import type { ListCount } from "./block-marks.ts";
import { plainSpeech } from "./plain-speech.ts";
import { leavesOpen } from "./stage-directions.ts";

/** A writer whose words are passed on as they were written, but for what can be read and not said: {@link plainSpeech}. */
export function speakable(writer: Writer): Writer {
  return {
    get name() {
      return writer.name;
    },
    get callsTools() {
      return writer.callsTools === true;
    },
    write: (dialogue: Dialogue, signal: AbortSignal) => speakableParts(writer.write(dialogue, signal)),
    close: () => writer.close(),
  };
}

/**
 * Makes each part, a sentence, speakable. A reply without a word that can be spoken becomes a request to hear more. Calls of
 * functions keep their place. If the writer fails midway, its words so far are passed on before the error.
 */
export async function* speakableParts(
  parts: AsyncIterable<WrittenPart>,
): AsyncGenerator<WrittenPart, void, void> {
  const list: ListCount = { last: 0 };
  // One of several sentences may belong to the next: lists, and marks around both.
  let held: string[] = [];
  let last: WrittenPart | null = null;
  let isSilent = true;
  const takeHeld = (): WrittenPart[] => {
    const text = plainSpeech(held.join(" "), list);
    held = [];
    if (text === "" || last === null) return [];
    isSilent = false;
    return [{ ...last, text }];
  };
  try {
    for await (const part of parts) {
      if (part.call !== undefined) {
        yield* takeHeld();
        isSilent = false;
        yield part;
        continue;
      }
      last = part;
      held.push(part.text);
      if (held.length < MAX_HELD && leavesOpen(held.join(" "))) continue;
      yield* takeHeld();
    }
  } catch (error) {
    if (error instanceof WriterError) yield* takeHeld();
    throw error;
  }
  yield* takeHeld();
  if (isSilent) yield { ...(last ?? { tokens: null, gate: null }), text: NOTHING_SPEAKABLE };
}

const NOTHING_SPEAKABLE = "Tell me a bit more about that.";

/** Sentences after which a mark that is still open is taken as it is, so that speech does not wait for its end. */
const MAX_HELD = 3;
