import { ServiceError } from "../../contract/errors.ts";
import type { Span } from "../../core/span.ts";
import type { Stopper } from "../../core/stop-with.ts";
import {
  type Dialogue,
  type ToolCall,
  type Writer,
  WriterError,
  type WriterTokens,
  type WrittenPart,
} from "../../core/writer.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { ResolvedRequest } from "../prepare/resolve-request.ts";
import { failureType, writingFacts, writtenFacts } from "../request-spans.ts";
import { withDeadline } from "../running-work.ts";
import type { Telemetry } from "../telemetry.ts";
import { AsyncQueue } from "./async-queue.ts";
import type { TextStream } from "./streamed-text.ts";

export interface WritingObserver {
  /** Span of the writing; ended with it. */
  readonly span: Span;
  /** Called once if a language model writes, with the seconds until its first token. */
  readonly onFirstToken: (seconds: number) => void;
  /**
   * Called with each function call as it is written, and the number of code points of text before it, of which some
   * may not have been consumed yet.
   */
  readonly onCall?: ((call: ToolCall, at: number) => void) | undefined;
  /** Called when nothing more will be written; may be called more than once. */
  readonly onOver: () => void;
}

/**
 * Text of an authored turn as a writer produces it, and what there is to report of the writing. The writer is read to
 * its end as fast as it writes, however slowly the text is consumed, so that it never blocks.
 */
export class AuthoredText implements TextStream {
  readonly source = "the writer";
  readonly #writer: Writer;
  readonly #hasInstructions: boolean;
  readonly #parts: AsyncIterator<WrittenPart>;
  readonly #signal: AbortSignal;
  readonly #span: Span;
  readonly #onOver: () => void;
  readonly #onCall: NonNullable<WritingObserver["onCall"]>;
  readonly #written = new AsyncQueue<WrittenPart>();
  #begun: Promise<void> | null = null;
  #hasToken = false;
  #firstSentenceMs = 0;
  #tokens: WriterTokens | null = null;
  /** Tokens reported after the last text. */
  #finalTokens: WriterTokens | null = null;
  #hasWords = false;
  #hasCalled = false;
  #length = 0;
  #gate: string | null = null;
  #layer: string | null = null;
  #hasReadInstructions = false;

  constructor(
    writer: Writer,
    { conversation, delivery, seed, instructions, otherLanguage, toolUse, maxTokens }: ResolvedRequest,
    signal: AbortSignal,
    { span, onFirstToken, onOver, onCall = () => {} }: WritingObserver,
  ) {
    this.#signal = signal;
    this.#span = span;
    this.#onOver = onOver;
    this.#onCall = onCall;
    const askedMs = performance.now();
    const dialogue: Dialogue = {
      history: conversation.history,
      speaker: conversation.open.speaker,
      temperature: delivery.temperature,
      topK: delivery.topK,
      seed,
      ...(instructions === null ? {} : { instructions }),
      ...(otherLanguage === undefined ? {} : { language: otherLanguage }),
      ...(toolUse === undefined ? {} : { toolUse }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      onFirstToken: () => {
        if (this.#hasToken) return;
        this.#hasToken = true;
        const seconds = (performance.now() - askedMs) / 1_000;
        span.set({ "gen_ai.response.time_to_first_chunk": seconds });
        onFirstToken(seconds);
      },
      traceHeaders: span.headers,
    };
    this.#hasInstructions = instructions !== null;
    this.#writer = writer;
    this.#parts = writer.write(dialogue, signal)[Symbol.asyncIterator]();
  }

  get isWriting(): boolean {
    return this.#written.isAwaited;
  }

  get hasNoText(): boolean {
    return this.#written.isEnded && !this.#hasWords;
  }

  get tokens(): WriterTokens | null {
    return this.#finalTokens ?? this.#tokens;
  }

  /**
   * Waits for the first sentence, or the end of a reply of function calls only. Rejects with the writer's error. Call
   * before {@link AuthoredText.sentences}.
   */
  begin(): Promise<void> {
    this.#begun ??= this.#begin();
    return this.#begun;
  }

  async #begin(): Promise<void> {
    const beganMs = performance.now();
    void this.#read();
    if (!(await this.#written.hasNext()) && !this.#hasCalled)
      throw new WriterError("the writer wrote nothing: retry", { retryAfterMs: 1_000 });
    this.#firstSentenceMs = performance.now() - beganMs;
  }

  async *sentences(onWait: () => void): AsyncGenerator<string, void, void> {
    let isFirst = true;
    for await (const part of this.#written.values(onWait)) {
      this.#tokens = part.tokens ?? this.#tokens;
      this.#gate ??= part.gate;
      this.#layer ??= part.layer ?? null;
      this.#hasReadInstructions ||= part.hasReadInstructions ?? false;
      yield placed(part.text, isFirst);
      isFirst = false;
    }
  }

  /** Returns `meta.writer`, up to the sentence that was last consumed. */
  meta(): Record<string, unknown> {
    return {
      name: this.#writer.name,
      prompt_tokens: this.tokens?.prompt ?? null,
      written_tokens: this.tokens?.written ?? null,
      first_sentence_ms: Math.round(this.#firstSentenceMs * 10) / 10,
      gate: this.#gate,
      layer: this.#layer,
      instructions: this.#hasInstructions ? (this.#hasReadInstructions ? "read" : "ignored") : null,
    };
  }

  /** Stops writing. Not awaited: a hanging writer must not block. */
  release(): void {
    this.#parts.return?.().catch(() => {});
    this.#span.end();
    this.#onOver();
  }

  /** Reads the writer to its end. Never throws: errors go to the queue. */
  async #read(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#parts.next();
        if (done === true) break;
        this.#take(value);
        this.#span.set(writtenFacts(value.tokens));
      }
      this.#written.end();
      this.#span.end();
    } catch (error) {
      this.#written.fail(error);
      this.#span.end(failureType(error, this.#signal));
    }
    this.#onOver();
  }

  #take(part: WrittenPart): void {
    if (part.call !== undefined) {
      this.#hasCalled = true;
      this.#finalTokens = part.tokens;
      this.#onCall(part.call, this.#length);
      return;
    }
    if (part.text === "") {
      this.#finalTokens = part.tokens;
      return;
    }
    this.#length += [...placed(part.text, !this.#hasWords)].length;
    this.#hasWords = true;
    this.#finalTokens = null;
    this.#written.push(part);
  }
}

/** Code points are counted from the beginning of the reply's text, which has no space there. */
function placed(text: string, isFirst: boolean): string {
  return isFirst ? text.trimStart() : ` ${text}`;
}

export interface WritingDeps {
  readonly writer: Writer;
  readonly writing: KeyedSemaphore;
  readonly telemetry: Telemetry;
}

export interface WritingRequest {
  readonly keyId: string;
  readonly span: Span;
  /** Called with each function call as it is written, and the number of code points of text before it. */
  readonly onCall?: (call: ToolCall, at: number) => void;
  /** Called when usage is metered, that of input audio included. Failed replies are not metered. */
  readonly onMetered?: () => void;
}

/** Reply that is written and not spoken. */
export interface WrittenReply {
  readonly text: string;
  readonly stop: "finished" | "length";
  readonly tokens: WriterTokens | null;
}

/** Starts writing a turn once there is room. The result has to be released. */
export async function beginWriting(
  { writer, writing, telemetry }: WritingDeps,
  prepared: ResolvedRequest,
  { keyId, span: parent, onCall }: WritingRequest,
  { signal }: Pick<Stopper, "signal">,
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
 * Yields the sentences of a turn that is not spoken, waiting at most `timeoutMs` for each.
 *
 * @param maxTokens if the writer counts none, four characters count as one; `null` is no limit
 */
export async function* boundedSentences(
  coming: AuthoredText,
  maxTokens: number | null,
  stop: Stopper,
  timeoutMs: number,
): AsyncGenerator<string, WrittenReply, void> {
  const most = maxTokens ?? Number.POSITIVE_INFINITY;
  const sentences = coming.sentences(() => {});
  let text = "";
  for (;;) {
    const next = await withDeadline(sentences.next(), timeoutMs, stop, () => coming.source);
    const { tokens } = coming;
    if (next.done === true)
      return { text, stop: tokens !== null && tokens.written >= most ? "length" : "finished", tokens };
    const room = tokens === null ? most * CHARS_PER_TOKEN - text.length : next.value.length;
    const end = room < next.value.length ? next.value.lastIndexOf(" ", room) : next.value.length;
    const piece = next.value.slice(0, Math.max(0, end));
    text += piece;
    if (piece !== "") yield piece;
    const isFull = tokens !== null && tokens.written > most;
    if (isFull || piece.length < next.value.length) return { text, stop: "length", tokens };
  }
}

const CHARS_PER_TOKEN = 4;

export function noWriter(): ServiceError {
  return new ServiceError(502, "no writer is configured: give the open turn its text, or set writer.kind", {
    retryAfterMs: 60_000,
  });
}
