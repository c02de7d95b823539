import type { Span } from "../../core/span.ts";
import type { Stop } from "../../core/stop-with.ts";
import type { ToolCall, Writer, WriterTokens } from "../../core/writer.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import { within } from "../live-work.ts";
import type { Prepared } from "../prepare/prepare.ts";
import { failureType, writingFacts } from "../request-spans.ts";
import type { Telemetry } from "../telemetry.ts";
import { AuthoredText } from "./authored-text.ts";

/** Who writes, and the turns that may be written at a time. */
export interface WritingDeps {
  readonly writer: Writer;
  readonly writing: KeyedSemaphore;
  readonly telemetry: Telemetry;
}

/** Who asks for the writing of a turn. */
export interface WritingRequest {
  readonly keyId: string;
  readonly span: Span;
  /**
   * Told of each call of a function as it is written, and of how many code points of the reply's text come before it: it
   * belongs behind those.
   */
  readonly onCall?: (call: ToolCall, at: number) => void;
  /** Told when what it took is metered, the audio of its input too. A reply that failed is not. */
  readonly onMetered?: () => void;
}

/** A reply that was written and not spoken. */
export interface WrittenReply {
  readonly text: string;
  readonly stop: "finished" | "length";
  readonly tokens: WriterTokens | null;
}

/** Has a turn written, once there is room for that. What comes of it is to be released. */
export async function beginWriting(
  { writer, writing, telemetry }: WritingDeps,
  prepared: Prepared,
  { keyId, span: parent, onCall }: WritingRequest,
  { signal }: Stop,
): Promise<AuthoredText> {
  const span = parent.begin("writer", writingFacts(writer.name, prepared.delivery.temperature));
  const holding = await writing.enter(keyId, 1, signal).catch((error: unknown) => {
    span.end(failureType(error, signal));
    throw error;
  });
  return new AuthoredText(writer, prepared, signal, {
    span,
    onFirstToken: (seconds) => telemetry.firstToken(seconds),
    onCall,
    onOver: () => holding.release(),
  });
}

/**
 * The sentences of a turn that has begun and is not spoken, each waited for no longer than `timeoutMs`.
 *
 * @param maxTokens where the writer counts none, four characters are taken for one; `null` is no bound
 */
export async function* sentencesOf(
  coming: AuthoredText,
  maxTokens: number | null,
  stop: Stop,
  timeoutMs: number,
): AsyncGenerator<string, WrittenReply, void> {
  const most = maxTokens ?? Number.POSITIVE_INFINITY;
  const pieces = coming.pieces(() => {});
  let text = "";
  for (;;) {
    const next = await within(pieces.next(), timeoutMs, stop, () => coming.from);
    const { tokens } = coming;
    if (next.done === true)
      return { text, stop: tokens !== null && tokens.written >= most ? "length" : "finished", tokens };
    const room = tokens === null ? most * CHARS_PER_TOKEN - text.length : next.value.length;
    const piece = room < next.value.length ? wordsWithin(next.value, room) : next.value;
    text += piece;
    if (piece !== "") yield piece;
    const isFull = tokens !== null && tokens.written > most;
    if (isFull || piece.length < next.value.length) return { text, stop: "length", tokens };
  }
}

const CHARS_PER_TOKEN = 4;

/** The whole words of a text that fit. */
function wordsWithin(text: string, maxChars: number): string {
  const space = text.lastIndexOf(" ", maxChars);
  return space <= 0 ? "" : text.slice(0, space);
}
