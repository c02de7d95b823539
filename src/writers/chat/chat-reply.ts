import { isRecord } from "../../core/is-record.ts";
import { WriterError, type WriterTokens, type WrittenPart } from "../../core/writer.ts";
import { type CallPiece, MAX_CALLS, ToolCalls } from "../tool-calls.ts";
import { WrittenSentences } from "../written-sentences.ts";

/** What is said when the endpoint may not say anything, or does not. */
export const DECLINED = "Sorry, I can't say much about that. Shall we talk about something else?";

/**
 * Makes parts of what an endpoint writes, each a sentence. Tokens are counted for the last one alone, as endpoints
 * count at the end. A reply that was cut off ends with its last whole sentence, or, where it has none, with its last
 * whole word; more than `maxChars` characters are cut off here. Calls of functions stand where they were made. An empty
 * or withheld reply becomes {@link DECLINED}. If the endpoint fails midway, the words so far come before the error. Throws a {@link WriterError} when the model spent all its tokens on thoughts,
 * or made only calls that cannot be carried out.
 *
 * @param functions names of those that it may call; what else it calls is left out
 */
export async function* partsOf(
  deltas: AsyncIterable<ChatDelta>,
  maxChars: number,
  functions: readonly string[] = [],
): AsyncGenerator<WrittenPart, void, void> {
  let sentences = new WrittenSentences();
  const calls = new ToolCalls(functions);
  let tokens: WriterTokens | null = null;
  let finish: string | null = null;
  let chars = 0;
  let isEmpty = true;
  let hasThought = false;
  try {
    for await (const delta of deltas) {
      tokens = delta.tokens ?? tokens;
      finish ??= delta.finish;
      chars += delta.text.length;
      hasThought ||= delta.isToken && delta.text === "" && delta.calls.length === 0;
      if (calls.hasOpen && delta.text.trim() !== "") {
        for (const call of calls.take(false)) {
          yield { text: "", tokens: null, gate: null, call };
          isEmpty = false;
        }
      }
      for (const text of sentences.push(delta.text)) {
        yield { text, tokens: null, gate: null };
        isEmpty = false;
      }
      if (delta.calls.length > 0 && functions.length > 0) {
        for (const text of calls.hasOpen ? [] : sentences.flush()) {
          yield { text, tokens: null, gate: null };
          isEmpty = false;
        }
        hasThought ||= sentences.hasThought;
        sentences = new WrittenSentences();
        for (const piece of delta.calls) calls.add(piece);
      }
      if (chars > maxChars) {
        finish = "length";
        break;
      }
    }
  } catch (error) {
    if (!(error instanceof WriterError)) throw error;
    // What came is spoken, half a sentence too: the listener has waited for it.
    for (const text of sentences.flush()) yield { text, tokens: null, gate: null };
    throw error;
  }
  const rest = sentences.flush((written) => endOf(written, finish, isEmpty));
  const called = finish === "content_filter" ? [] : calls.take(finish === null || finish === "length");
  if (rest.length === 0 && called.length === 0 && isEmpty) {
    if (calls.hasRefused && finish === "length") throw new WriterError(HALF_A_CALL);
    if (calls.hasRefused) throw new WriterError(BAD_CALL, { retryAfterMs: 1_000 });
    if (finish === "length" && (hasThought || sentences.hasThought)) throw new WriterError(ONLY_THOUGHTS);
    rest.push(DECLINED);
  }
  const last = rest.length + called.length - 1;
  for (const [n, text] of rest.entries()) yield { text, tokens: n === last ? tokens : null, gate: null };
  for (const [n, call] of called.entries())
    yield { text: "", tokens: rest.length + n === last ? tokens : null, gate: null, call };
}

const ONLY_THOUGHTS =
  "the writer's endpoint spent all its tokens on thinking: raise writer.maxTokens, or choose a model that answers at once";
const HALF_A_CALL =
  "the writer's endpoint spent all its tokens in the middle of a function's call: raise writer.maxTokens";
const BAD_CALL =
  "the writer's endpoint called a function that it was not given, or with arguments that are no JSON object: retry";
const WHOLE = /[.!?…][”"’')\]]*$/;

/** What may be said of a reply's last words. Without a reason to end, it was cut off as if by a limit. */
function endOf(rest: string, finish: string | null, isFirst: boolean): string {
  if (finish === "content_filter") return "";
  if ((finish !== null && finish !== "length") || rest === "" || WHOLE.test(rest)) return rest;
  if (!isFirst) return "";
  const words = rest.replace(/\s*\S*$/, "").replace(/[\s,;:(—–-]+$/, "");
  return `${words === "" ? rest : words}.`;
}

/** What one event of a chat completion brings, of the first choice. */
export interface ChatDelta {
  /** Words of the reply; often empty. */
  readonly text: string;
  readonly calls: readonly CallPiece[];
  /** Whether the model wrote at all: words, calls, or thoughts that are not said. */
  readonly isToken: boolean;
  /** Why the reply is over: `stop`, `length`, `content_filter`, …; `null` while it goes on. */
  readonly finish: string | null;
  readonly tokens: WriterTokens | null;
}

/** An event that says that the endpoint failed, in one of the ways in which servers do, or that it refused. */
export class ChatEventError extends Error {
  override readonly name = "ChatEventError";
}

/**
 * Reads an event of which nothing is known but that it was JSON. `null` where it is none of a chat completion, as a sign
 * of life is. Throws {@link ChatEventError} where it tells of a failure.
 */
export function readChunk(event: unknown): ChatDelta | null {
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
  const text = typeof content === "string" ? content : "";
  return {
    text,
    calls,
    isToken:
      calls.length > 0 || [text, thought, reasoning].some((part) => typeof part === "string" && part !== ""),
    finish: typeof finish === "string" && finish !== "" ? finish : null,
    tokens: readTokens(event.usage),
  };
}

/** Reads the calls of a chunk's delta, of which nothing is known. */
export function readCallPieces(given: unknown): CallPiece[] {
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
