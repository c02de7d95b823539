import type { Dialogue, Passage, Writer } from "../model/writer.ts";
import { sentencesOf } from "../text/sentence-cutter.ts";
import type { ListCount } from "./block-marks.ts";
import { ThoughtFilter } from "./chat/thought-filter.ts";
import { plainSpeech } from "./plain-speech.ts";
import { leavesOpen } from "./stage-directions.ts";

/**
 * The same writer, of whose words only {@link plainSpeech} is let through; when nothing is, it asks to hear more.
 * Numbers may be said that the dialogue, its instructions or `told`, what an operator told the writer, mentions.
 */
export function speakableOnly(writer: Writer, told = ""): Writer {
  return {
    name: writer.name,
    write: (dialogue, signal) => tidy(writer.write(dialogue, signal), dialogue, told),
    close: () => writer.close(),
  };
}

const NOTHING_LEFT = "Tell me a bit more about that.";

async function* tidy(
  passages: AsyncIterable<Passage>,
  { history, instructions = "" }: Dialogue,
  told: string,
): AsyncGenerator<Passage> {
  const sentences = new TidySentences(
    [told, instructions, ...history.map(({ text }) => text ?? "")].join(" "),
  );
  let last: Passage | null = null;
  let isSilent = true;
  for await (const passage of passages) {
    last = passage;
    const text = sentences.push(passage.text);
    if (text === "") continue;
    isSilent = false;
    yield { ...passage, text };
  }
  const text = sentences.flush();
  if (isSilent || text !== "")
    yield { ...(last ?? { tokens: null, gate: null }), text: text || NOTHING_LEFT };
}

/** Sentences one after the other, of which one may belong to the next: thoughts, lists, and marks around several. */
class TidySentences {
  readonly #heard: string;
  readonly #thoughts = new ThoughtFilter();
  readonly #list: ListCount = { last: 0 };
  #held: readonly string[] = [];

  constructor(heard: string) {
    this.#heard = heard;
  }

  /** What may be said now, after the next sentences. */
  push(text: string): string {
    // The space is no beginning of a tag, so nothing is held back.
    return this.#plain(sentencesOf(this.#thoughts.push(`${text} `)));
  }

  flush(): string {
    const rest = this.#held.join(" ");
    this.#held = [];
    return plainSpeech(rest, this.#heard, this.#list);
  }

  #plain(sentences: readonly string[]): string {
    const said: string[] = [];
    for (const sentence of sentences) {
      this.#held = [...this.#held, sentence];
      if (this.#held.length < MAX_HELD && leavesOpen(this.#held.join(" "))) continue;
      said.push(this.flush());
    }
    return said.filter((text) => text !== "").join(" ");
  }
}

/** What is not closed by then is taken as it is, so that speech need not wait. */
const MAX_HELD = 3;
