import type { SpeakerLabel, Turn } from "./conversation.ts";

/** A function that a writer may call. Whoever asked for the reply carries it out. */
export interface WriterTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema, as it came: nothing here reads it. */
  readonly parameters?: unknown;
}

/** A call of a function. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** A JSON object. */
  readonly arguments: string;
}

/** What may be called in a reply, and what was called in those before it. */
export interface ToolUse {
  readonly tools: readonly WriterTool[];
  readonly choice: "auto" | "none" | "required" | { readonly name: string };
  /** Earlier calls, oldest first. */
  readonly calls: readonly EarlierCall[];
}

export interface EarlierCall extends ToolCall {
  /** What came of it, in any form; `null`: nothing yet. */
  readonly output: string | null;
  /** Turns of the history that come before it. */
  readonly turnsBefore: number;
}

/** What a writer is given: the earlier turns (audio-only ones have no text) and whose turn it is. */
export interface Dialogue {
  readonly history: readonly Turn[];
  readonly speaker: SpeakerLabel;
  /** 0 to 1.5; 0 always writes the same, where the model behind can. */
  readonly temperature: number;
  /** Most likely tokens to choose from; `null` leaves it to the writer. */
  readonly topK: number | null;
  readonly seed: bigint;
  /** What the request asks the writer to keep to, in anybody's words; a writer that takes none leaves it. */
  readonly instructions?: string;
  /** Functions that may be called between the words or instead of them; a writer that cannot call leaves them. */
  readonly toolUse?: ToolUse;
  /** Tokens that it may write at most, calls among them, where that is less than usual and the writer counts. */
  readonly maxTokens?: number;
  /** Is told of a language model's first token: not where words come from elsewhere. Must not throw. */
  readonly onFirstToken?: () => void;
  /** Headers that carry the request's trace on to an endpoint that writes. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

/** Language-model tokens that one reply has taken so far. */
export interface WriterTokens {
  /** Read, cached ones included. */
  readonly prompt: number;
  readonly written: number;
}

/** A sentence of a reply, trimmed; several as one where marks go around them. */
export interface WrittenPart {
  /** "" if the part only reports tokens, or calls a function. */
  readonly text: string;
  /** What the reply has taken up to the end of this part; `null` when nobody counts. */
  readonly tokens: WriterTokens | null;
  /** The kind of danger that a fixed reply answers; `null` for all other words. */
  readonly gate: string | null;
  /** Source of small talk: `exact`, `line` or `found`. */
  readonly layer?: string;
  /** Whether the dialogue's instructions were read by what wrote these words. */
  readonly hasReadInstructions?: boolean;
  /** A function that is called here instead of words. Only of a dialogue with {@link ToolUse}. */
  readonly call?: ToolCall;
}

/**
 * Writes what the open turn says, sentence by sentence, as they are complete. Stops within half a second of the signal
 * and then throws its reason; every other failure is a {@link WriterError}. A consumer that leaves the loop stops it too.
 */
export interface Writer {
  /** Name in the reply's `meta`: `small-talk`, or that of an endpoint's model. */
  readonly name: string;
  /** Whether it calls the functions that a dialogue gives it; absent: never. */
  readonly callsTools?: boolean;
  write(dialogue: Dialogue, signal: AbortSignal): AsyncIterable<WrittenPart>;
  close(): Promise<void>;
}

/**
 * A writer that could not write. The message is shown to clients: it quotes nothing that a third party sent and names
 * no file. What whoever runs the server needs to know beyond it is in the `cause`.
 */
export class WriterError extends Error {
  override readonly name = "WriterError";
  /** After how long the same request may work; `null` when waiting alone mends nothing. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
