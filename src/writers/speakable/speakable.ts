import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../../core/writer.ts";
import { plainSpeech } from "./plain-speech.ts";

/** Wraps a writer so that its replies contain only what can be spoken. */
export function speakableWriter(writer: Writer): Writer {
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
 * Makes each part speakable; a reply without words becomes {@link NOTHING_SPEAKABLE}. Function calls keep their
 * place. If the writer fails midway, yields the words received so far, then throws.
 */
export async function* speakableParts(
  parts: AsyncIterable<WrittenPart>,
): AsyncGenerator<WrittenPart, void, void> {
  /** Several sentences while a link's text is open. */
  let pending: WrittenPart[] = [];
  let previous = "";
  /** The newest part, if none of it was spoken. */
  let unspoken: WrittenPart = { text: "", tokens: null, gate: null };
  let isSilent = true;
  const flushPending = (): WrittenPart[] => {
    const last = pending.at(-1);
    if (last === undefined) return [];
    const written = textOf(pending);
    const text = plainSpeech(written, previous);
    [pending, previous, unspoken] = [
      [],
      written || previous,
      { ...last, text: "", tokens: text === "" ? last.tokens : null },
    ];
    if (text === "") return [];
    isSilent = false;
    return [{ ...last, text }];
  };
  try {
    for await (const part of parts) {
      if (part.call !== undefined) {
        yield* flushPending();
        isSilent = false;
        unspoken = { ...unspoken, tokens: null };
        yield part;
        continue;
      }
      pending.push(part);
      if (pending.length < MAX_PENDING && OPEN_LINK.test(textOf(pending))) continue;
      yield* flushPending();
    }
  } catch (error) {
    if (error instanceof WriterError) yield* flushPending();
    throw error;
  }
  yield* flushPending();
  if (isSilent) yield { ...unspoken, text: NOTHING_SPEAKABLE };
  else if (unspoken.tokens !== null) yield unspoken;
}

function textOf(parts: readonly WrittenPart[]): string {
  return parts.map(({ text }) => text).join(" ");
}

const NOTHING_SPEAKABLE = "Tell me a bit more about that.";

/** Sentences after which an open link is spoken as it is, so that speech does not wait. */
const MAX_PENDING = 3;
const OPEN_LINK = /(?<!\w)\[\p{L}[^[\]]*$/u;
