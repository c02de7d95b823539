import { setTimeout as sleep } from "node:timers/promises";
import type { OpenAI } from "openai";
import { type Stopper, stopWith } from "../../core/stop-with.ts";
import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../../core/writer.ts";
import { DEFAULT_SYSTEM_PROMPT } from "../dialogue-messages.ts";
import { createChatClient, NotAChatError, UnfinishedStreamError } from "./chat-client.ts";
import {
  type ChatDialect,
  type ChatRequestOptions,
  chatBody,
  firstDialect,
  narrowerDialect,
} from "./chat-dialect.ts";
import { classifyFailure } from "./chat-failure.ts";
import { type ChatDelta, readEvent, toParts } from "./chat-reply.ts";
import { ReplyClock, type ReplyLimits } from "./reply-clock.ts";

export interface ChatWriterOptions {
  /** Base URL, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** `null` sends none. */
  readonly apiKey: string | null;
  readonly systemPrompt?: string | undefined;
  readonly maxTokens: number;
  readonly firstTokenTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** Characters of history to send, newest first; reduced if the endpoint finds it too long. */
  readonly historyChars?: number;
  /** Delays before the second and later attempts, unless the endpoint asks for another. */
  readonly retryDelaysMs?: readonly number[];
  /** Time that the connection may stay open after the last word. */
  readonly lingerMs?: number;
}

/**
 * Opens a writer on an OpenAI-compatible chat endpoint. Most endpoints do not promise that temperature 0 repeats. The
 * key is sent only in the `Authorization` header. Throws a {@link WriterError} if `baseUrl` cannot be used.
 */
export function openChatWriter(options: ChatWriterOptions): Writer {
  return new ChatWriter(options);
}

const HISTORY_CHARS = 24_000;
const RETRY_DELAYS_MS: readonly number[] = [250, 1_000];
const LINGER_MS = 500;
/** Characters per token beyond which an endpoint ignores its limit. */
const CHARS_PER_TOKEN = 8;
/** Errors of hosts that filter the question. */
const WITHHELD = /content_filter|content management policy/;
const WITHHELD_REPLY: ChatDelta = {
  text: "",
  calls: [],
  isToken: false,
  finish: "content_filter",
  tokens: null,
};

class ChatWriter implements Writer {
  readonly name: string;
  readonly #client: OpenAI;
  readonly #request: ChatRequestOptions;
  readonly #limits: ReplyLimits;
  readonly #retryDelaysMs: readonly number[];
  readonly #calls = new Set<Stopper>();
  #isClosed = false;
  #dialect: ChatDialect;

  constructor(options: ChatWriterOptions) {
    const {
      model,
      maxTokens,
      systemPrompt = DEFAULT_SYSTEM_PROMPT,
      firstTokenTimeoutMs,
      totalTimeoutMs,
    } = options;
    this.name = model;
    this.#client = createChatClient(options.baseUrl, options.apiKey);
    this.#request = { model, maxTokens, systemPrompt };
    this.#limits = { firstTokenTimeoutMs, totalTimeoutMs, lingerMs: options.lingerMs ?? LINGER_MS };
    this.#retryDelaysMs = options.retryDelaysMs ?? RETRY_DELAYS_MS;
    this.#dialect = firstDialect(options.historyChars ?? HISTORY_CHARS);
  }

  /** False once the endpoint refused functions. */
  get callsTools(): boolean {
    return this.#dialect.hasTools;
  }

  async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart, void, void> {
    signal.throwIfAborted();
    if (this.#isClosed) throw closedError();
    const call = stopWith([signal]);
    this.#calls.add(call);
    try {
      const deltas = this.#deltas(dialogue, call.signal);
      const { tools = [], choice = "auto" } = dialogue.toolUse ?? {};
      const names = choice === "none" ? [] : tools.map(({ name }) => name);
      for await (const part of toParts(deltas, this.#request.maxTokens * CHARS_PER_TOKEN, names)) {
        call.signal.throwIfAborted();
        yield dialogue.instructions === undefined ? part : { ...part, hasReadInstructions: true };
      }
    } finally {
      call.end();
      this.#calls.delete(call);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#calls) call.abort(closedError());
  }

  /** Streams one reply, retrying until its first token. */
  async *#deltas(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<ChatDelta, void, void> {
    const clock = new ReplyClock(this.#limits);
    const delaysMs = [...this.#retryDelaysMs];
    let dialect = this.#dialect;
    for (;;) {
      const body = chatBody(dialogue, this.#request, dialect);
      let hasBegun = false;
      try {
        for await (const delta of this.#try(body, dialogue.traceHeaders ?? {}, clock, signal)) {
          if (delta.isToken && !hasBegun) dialogue.onFirstToken?.();
          hasBegun ||= delta.isToken || delta.finish !== null;
          if (hasBegun) this.#dialect = dialect;
          yield delta;
        }
        return;
      } catch (thrown) {
        signal.throwIfAborted();
        const { error, isRetryable, waitMs, refusal } = classifyFailure(thrown, this.#limits);
        if (hasBegun) throw error;
        if (refusal !== null && WITHHELD.test(refusal)) return yield WITHHELD_REPLY;
        const other = refusal === null ? null : narrowerDialect(dialect, refusal, body);
        const delayMs = isRetryable ? delaysMs.shift() : undefined;
        if (other !== null) dialect = other;
        else if (delayMs === undefined || (waitMs ?? delayMs) >= clock.leftMs) throw error;
        else await clock.wait(sleep(waitMs ?? delayMs, undefined, { signal }), signal);
      }
    }
  }

  /** Sends one request; yields its events up to the last word, and those that follow soon after. */
  async *#try(
    body: OpenAI.ChatCompletionCreateParamsStreaming,
    headers: Readonly<Record<string, string>>,
    clock: ReplyClock,
    signal: AbortSignal,
  ): AsyncGenerator<ChatDelta, void, void> {
    const connection = new AbortController();
    try {
      const request = this.#client.chat.completions.create(body, { headers, signal: connection.signal });
      const events = (await clock.wait(request, signal))[Symbol.asyncIterator]();
      let isChat = false;
      let isOver = false;
      for (;;) {
        const event = await clock.wait(events.next(), signal).catch((error: unknown) => {
          if ((isOver || (!isChat && error instanceof UnfinishedStreamError)) && !signal.aborted) return null;
          throw error;
        });
        if (event === null || event.done === true) break;
        const delta = readEvent(event.value);
        if (delta === null) continue;
        isChat = true;
        isOver ||= delta.finish !== null;
        if (delta.isToken) clock.tokenReceived();
        if (isOver) clock.replyFinished();
        yield delta;
      }
      if (!isChat) throw new NotAChatError("no event of a chat completion");
    } finally {
      connection.abort();
    }
  }
}

function closedError(): WriterError {
  return new WriterError("the writer was closed: retry", { retryAfterMs: 2_000 });
}
