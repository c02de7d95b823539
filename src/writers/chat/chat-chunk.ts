import type { WriterTokens } from "../../model/writer.ts";

/** What one event of a chat completion brings, of the first choice. */
export interface ChatDelta {
  /** Words of the reply; often empty. */
  readonly text: string;
  /** Whether the model wrote at all: words, or thoughts that are not said. */
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
  const { content, reasoning_content: thought, reasoning } = isRecord(delta) ? delta : {};
  const text = typeof content === "string" ? content : "";
  return {
    text,
    isToken: [text, thought, reasoning].some((part) => typeof part === "string" && part !== ""),
    finish: typeof finish === "string" && finish !== "" ? finish : null,
    tokens: readTokens(event.usage),
  };
}

function readTokens(usage: unknown): WriterTokens | null {
  if (!isRecord(usage)) return null;
  const { prompt_tokens: prompt, completion_tokens: written } = usage;
  return isCount(prompt) && isCount(written) ? { prompt, written } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
