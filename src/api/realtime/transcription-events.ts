import type { MessageItem } from "./conversation-items.ts";
import type { SessionContext, TurnTranscript } from "./session-events.ts";

const PREFIX = "conversation.item.input_audio_transcription";

/** Turns whose sent words are kept: committed ones, and the one in progress. */
const MAX_OPEN = 4;

/** Sends the transcripts of turns: while they are spoken in transcription sessions, otherwise at their end. */
export class TranscriptionEvents {
  readonly #context: SessionContext;
  /** Words sent so far, by item id. Completed turns are removed. */
  readonly #sent = new Map<string, string>();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Sends the words of a turn in progress that are unlikely to change. */
  addStable(itemId: string, text: string): void {
    if (this.#context.settings().type === "transcription") this.#sendDelta(itemId, text);
  }

  /** Sends the whole transcript. Returns whether the turn has any words; an empty turn is deleted. */
  complete(item: MessageItem, { text, seconds }: TurnTranscript): boolean {
    const at = { item_id: item.id, content_index: 0 };
    if (text === null) {
      item.text = "";
      const message = "the turn could not be transcribed: say it again";
      const error = { type: "server_error", code: "transcription_failed", message };
      this.#context.send(`${PREFIX}.failed`, { ...at, error });
      return false;
    }
    item.text = text;
    const { transcription, type } = this.#context.settings();
    // A deleted item gets no transcript: agents-realtime would request the item and receive an error.
    if (type === "transcription" || (transcription !== null && text !== "")) {
      this.#sendDelta(item.id, text);
      const usage = { type: "duration", seconds: Math.max(1, Math.round(seconds)) };
      this.#context.send(`${PREFIX}.completed`, { ...at, transcript: text, usage });
      this.#sent.delete(item.id);
    }
    if (text === "") this.#context.items.delete(item.id);
    return text !== "";
  }

  /** Sends the words after those already sent, if these are unchanged but for case and punctuation. */
  #sendDelta(itemId: string, text: string): void {
    const sent = this.#sent.get(itemId)?.split(" ") ?? [];
    const words = text.split(" ");
    const isSame = sent.every((word, at) => lettersOf(word) === lettersOf(words[at] ?? ""));
    if (text === "" || words.length <= sent.length || !isSame) return;
    const more = words.slice(sent.length);
    this.#sent.set(itemId, [...sent, ...more].join(" "));
    // A turn that the client clears never completes.
    if (this.#sent.size > MAX_OPEN) this.#sent.delete(this.#sent.keys().next().value!);
    const delta = `${sent.length === 0 ? "" : " "}${more.join(" ")}`;
    this.#context.send(`${PREFIX}.delta`, { item_id: itemId, content_index: 0, delta });
  }
}

function lettersOf(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
