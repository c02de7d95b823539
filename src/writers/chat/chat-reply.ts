import { isRecord } from "../../core/is-record.ts";
import { type ToolCall, WriterError, type WriterTokens, type WrittenPart } from "../../core/writer.ts";
import { type CallDelta, MAX_CALLS, ToolCalls } from "../tool-calls.ts";
import { endCutReply, WrittenSentences } from "../written-sentences.ts";

/**
 * Splits an endpoint's reply into sentences and calls, in order. The last part has the token counts. A truncated
 * reply ends as {@link endCutReply} says; text beyond `maxChars` is cut. An empty or withheld reply is one empty
 * part. On failure, yields the words received so far, then throws. Throws a {@link WriterError} if all tokens were
 * spent on thinking or all calls are invalid.
 *
 * @param functions names that may be called; other calls are dropped
 */
export async function* toParts(
  deltas: AsyncIterable<ChatDelta>,
  maxChars: number,
  functions: readonly string[] = [],
): AsyncGenerator<WrittenPart, void, void> {
  let sentences = new WrittenSentences();
  const calls = new ToolCalls(functions);
  let tokens: WriterTokens | null = null;
  let finish: string | null = null;
  let charsLeft = maxChars;
  let isEmpty = true;
  let hasThought = false;
  const parts = (words: readonly string[], called: readonly ToolCall[] = []): WrittenPart[] => {
    isEmpty &&= words.length + called.length === 0;
    const bare = { tokens: null, gate: null };
    return [
      ...words.map((text) => ({ ...bare, text })),
      ...called.map((call) => ({ ...bare, text: "", call })),
    ];
  };
  try {
    for await (const delta of deltas) {
      tokens = delta.tokens ?? tokens;
      finish ??= delta.finish;
      hasThought ||= delta.isToken && delta.text === "" && delta.calls.length === 0;
      if (calls.hasOpen && delta.text.trim() !== "") yield* parts([], calls.take(false));
      yield* parts(sentences.push(delta.text.slice(0, charsLeft)));
      charsLeft -= delta.text.length;
      if (charsLeft < 0) {
        finish = "length";
        break;
      }
      if (delta.calls.length > 0 && functions.length > 0) {
        if (!calls.hasOpen) yield* parts(sentences.flush());
        hasThought ||= sentences.hasThought;
        sentences = new WrittenSentences();
        for (const piece of delta.calls) calls.add(piece);
      }
    }
  } catch (error) {
    if (error instanceof WriterError) yield* parts(sentences.flush());
    throw error;
  }
  const isCut = finish === "length";
  const isWithheld = finish === "content_filter";
  const rest = sentences.flush(!isCut, (written) =>
    isWithheld ? "" : isCut ? endCutReply(written, isEmpty) : written,
  );
  const last = parts(rest, isWithheld ? [] : calls.take(isCut || finish === null));
  if (isEmpty) {
    if (calls.hasRefused)
      throw isCut ? new WriterError(HALF_A_CALL) : new WriterError(BAD_CALL, { retryAfterMs: 1_000 });
    if (isCut && (hasThought || sentences.hasThought)) throw new WriterError(ONLY_THOUGHTS);
    last.push({ text: "", tokens, gate: null });
  }
  for (const [n, part] of last.entries()) yield n === last.length - 1 ? { ...part, tokens } : part;
}

const ONLY_THOUGHTS =
  "the writer's endpoint spent all its tokens on thinking: raise writer.maxTokens, or choose a model that answers at once";
const HALF_A_CALL =
  "the writer's endpoint spent all its tokens in the middle of a function's call: raise writer.maxTokens";
const BAD_CALL =
  "the writer's endpoint called a function that it was not given, or with arguments that are no JSON object: retry";

/** Content of one event, first choice only. */
export interface ChatDelta {
  readonly text: string;
  readonly calls: readonly CallDelta[];
  /** Whether the model wrote words, calls or thoughts. */
  readonly isToken: boolean;
  /** Finish reason: `stop`, `length`, `content_filter`, …; `null` while the reply goes on. */
  readonly finish: string | null;
  readonly tokens: WriterTokens | null;
}

/** An event that reports a failure, in one of the forms that servers use, or a refusal. */
export class ChatEventError extends Error {
  override readonly name = "ChatEventError";
}

/**
 * Reads a JSON event; `null` if it belongs to no chat completion, as keep-alives do. Throws {@link ChatEventError} if
 * it reports a failure.
 */
export function readEvent(event: unknown): ChatDelta | null {
  if (!isRecord(event)) return null;
  if (!Array.isArray(event.choices)) {
    if (event.object === "error" || "message" in event || "detail" in event) throw new ChatEventError();
    if (event.usage === undefined) return null;
  }
  const choice: unknown = Array.isArray(event.choices) ? event.choices[0] : undefined;
  const { finish_reason: finish } = isRecord(choice) ? choice : {};
  const delta = isRecord(choice) ? (choice.delta ?? choice.message) : undefined;
  const { content, reasoning_content: thought, reasoning, tool_calls } = isRecord(delta) ? delta : {};
  const calls = readCallPieces(tool_calls);
  const texts: unknown[] = Array.isArray(content)
    ? content.map((part) => (isRecord(part) ? part.text : ""))
    : [content];
  const text = texts.filter((part) => typeof part === "string").join("");
  return {
    text,
    calls,
    isToken:
      calls.length > 0 || [text, thought, reasoning].some((part) => typeof part === "string" && part !== ""),
    finish: typeof finish === "string" && finish !== "" ? finish : null,
    tokens: readTokens(event.usage),
  };
}

function readCallPieces(given: unknown): CallDelta[] {
  if (!Array.isArray(given)) return [];
  return given.slice(0, MAX_CALLS + 1).flatMap((piece: unknown) => {
    if (!isRecord(piece)) return [];
    const { index, id, function: called } = piece;
    const { name, arguments: text } = isRecord(called) ? called : {};
    return {
      index: typeof index === "number" ? index : null,
      id: typeof id === "string" ? id : "",
      name: typeof name === "string" ? name : "",
      arguments: typeof text === "string" ? text : isRecord(text) ? JSON.stringify(text) : "",
    };
  });
}

function readTokens(usage: unknown): WriterTokens | null {
  if (!isRecord(usage)) return null;
  const { prompt_tokens: prompt, completion_tokens: written } = usage;
  return isCount(prompt) && isCount(written) ? { prompt, written } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
