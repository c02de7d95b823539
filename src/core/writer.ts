import type { SpeakerLabel, Turn } from "./conversation.ts";

/** A function that a writer may call. The client executes it. */
export interface WriterTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema, passed on unread. */
  readonly parameters?: unknown;
}

export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** A JSON object. */
  readonly arguments: string;
}

/** Functions that a reply may call, and earlier calls. */
export interface ToolUse {
  readonly tools: readonly WriterTool[];
  readonly choice: "auto" | "none" | "required" | { readonly name: string };
  /** Earlier calls, oldest first. */
  readonly calls: readonly EarlierCall[];
}

export interface EarlierCall extends ToolCall {
  /** In any form; `null` if there is none yet. */
  readonly output: string | null;
  /** Number of turns of the history before this call. */
  readonly turnsBefore: number;
}

/** Input of a writer: earlier turns (audio-only ones have no text) and the speaker of the next. */
export interface Dialogue {
  readonly history: readonly Turn[];
  readonly speaker: SpeakerLabel;
  /** 0 to 1.5. At 0, equal input gives equal text, if the model can. */
  readonly temperature: number;
  /** Number of likeliest tokens to choose from; `null` for the writer's default. */
  readonly topK: number | null;
  readonly seed: bigint;
  /** The request's instructions; ignored by writers that take none. */
  readonly instructions?: string;
  /** Tag of the language that the reply's voice speaks, if it is not English. */
  readonly language?: string;
  /** Functions it may call; ignored by writers that cannot. */
  readonly toolUse?: ToolUse;
  /** Maximum tokens, including calls, if lower than the writer's default and if it counts. */
  readonly maxTokens?: number;
  /** Called on a language model's first token; not for replies without a language model. Must not throw. */
  readonly onFirstToken?: () => void;
  /** Headers that propagate the request's trace to an endpoint. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

/** Tokens of a language model that a reply has used so far. */
export interface WriterTokens {
  /** Including cached ones. */
  readonly prompt: number;
  readonly written: number;
}

/** A trimmed sentence of a reply; several if one mark spans them. */
export interface WrittenPart {
  /** Empty if the part only reports tokens or calls a function. */
  readonly text: string;
  /** Tokens of the reply up to the end of this part; `null` if not counted. */
  readonly tokens: WriterTokens | null;
  /** Category of danger, if the gate replaced the words by a fixed reply; else `null`. */
  readonly gate: string | null;
  /** Source of small talk: `exact`, `line` or `found`. */
  readonly layer?: string;
  /** Whether the writer of these words read the dialogue's instructions. */
  readonly hasReadInstructions?: boolean;
  /** A function call in place of words. Only for dialogues with {@link ToolUse}. */
  readonly call?: ToolCall;
}

/**
 * Writes the open turn sentence by sentence. Stops within half a second of the signal and throws its reason; every
 * other failure is a {@link WriterError}. Leaving the loop stops it too.
 */
export interface Writer {
  /** Name for `meta`: `small-talk`, or the model of an endpoint. */
  readonly name: string;
  /** Whether it calls functions. Default: false. */
  readonly callsTools?: boolean;
  write(dialogue: Dialogue, signal: AbortSignal): AsyncIterable<WrittenPart>;
  close(): Promise<void>;
}

/**
 * A failed reply. Clients see the message: it quotes no third party and names no file. Details for operators are in
 * `cause`.
 */
export class WriterError extends Error {
  override readonly name = "WriterError";
  /** Milliseconds after which a retry may succeed; `null` if waiting alone does not help. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
