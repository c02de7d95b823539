import type { Dialogue, WrittenPart } from "../../model/writer.ts";
import { sentencesOf } from "../../text/sentence-cutter.ts";

/** Where a reply came from: worked out, a line for its kind of turn, or the reply of an authored conversation. */
export type ReplyLayer = "exact" | "line" | "found";

/** A whole reply that no language model wrote. */
export interface ReadyReply {
  readonly layer: ReplyLayer;
  readonly text: string;
  /** Whether it says what the dialogue's instructions say. */
  readonly hasReadInstructions?: boolean;
}

/** Replies to what is better answered without a language model. */
export interface ReplySource {
  /**
   * The reply, or `null` where a language model had better write. The same dialogue has the same one at temperature 0;
   * above, the seed chooses among equals. Nothing that the conversation already heard is said again.
   *
   * @throws the signal's reason when it aborts
   */
  reply(dialogue: Dialogue, signal: AbortSignal): Promise<ReadyReply | null>;
  /** What a language model is to be asked: the same, or the newest turn made whole, by itself. */
  forModel(dialogue: Dialogue): Dialogue;
  /**
   * What had better be said than what a language model wrote, or than nothing where it wrote none; `null` where that is
   * better, or nothing is at hand.
   */
  instead(dialogue: Dialogue, written: string | null, signal: AbortSignal): Promise<ReadyReply | null>;
  /** Whether the model that writes to a dialogue knows so little that it is told what to leave alone. */
  isCautious(dialogue: Dialogue): boolean;
  close(): Promise<void>;
}

/** A reply sentence by sentence. @param tokens what a language model read and wrote first, for nothing */
export function* readyParts(
  { text, layer, hasReadInstructions }: ReadyReply,
  tokens: WrittenPart["tokens"],
  signal: AbortSignal,
): Generator<WrittenPart, void, void> {
  for (const sentence of sentencesOf(text)) {
    signal.throwIfAborted();
    yield { text: sentence, tokens, gate: null, layer, ...(hasReadInstructions && { hasReadInstructions }) };
  }
}
