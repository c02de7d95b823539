import type { Dialogue, Passage, Writer } from "../model/writer.ts";
import { plainSpeech } from "./plain-speech.ts";

/** The same writer, of whose words only {@link plainSpeech} is let through; when nothing is, it asks to hear more. */
export function tidied(writer: Writer): Writer {
  return {
    name: writer.name,
    write: (dialogue, signal) => tidy(writer.write(dialogue, signal), dialogue),
    close: () => writer.close(),
  };
}

const NOTHING_LEFT = "Tell me a bit more about that.";

async function* tidy(passages: AsyncIterable<Passage>, { history }: Dialogue): AsyncGenerator<Passage> {
  const heard = history.map(({ text }) => text ?? "").join(" ");
  let last: Passage | null = null;
  let isSilent = true;
  for await (const passage of passages) {
    last = passage;
    const text = plainSpeech(passage.text, heard);
    if (text === "") continue;
    isSilent = false;
    yield { ...passage, text };
  }
  if (isSilent) yield { text: NOTHING_LEFT, tokens: last?.tokens ?? null, gate: null };
}
