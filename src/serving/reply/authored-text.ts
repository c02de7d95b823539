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

/** Who wants to know of the writing. */
export interface WritingObserver {
  /** Of the writing; ended with it. */
  readonly span: Span;
  /** Called once, where a language model writes, with the seconds that it took. */
  readonly onFirstToken: (seconds: number) => void;
  /**
   * Called with each call of a function as it is written, and the code points of the reply's text that come before it:
   * of some of those nothing may have been taken yet.
   */
  readonly onCall?: ((call: ToolCall, at: number) => void) | undefined;
  /** Called when nothing more is written; more than once is possible. */
  readonly onOver: () => void;
}

/**
 * The words of an authored turn as a writer gives them, and what there is to say of the writing. The writer is read to
 * its end as fast as it writes, whoever listens to the words and however slowly: it is not held up, and neither are those
 * who wait for it.
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
  #hasToken = false;
  #firstSentenceMs = 0;
  #tokens: WriterTokens | null = null;
  /** Tokens reported after the last words. */
  #finalTokens: WriterTokens | null = null;
  #hasWords = false;
  #hasCalled = false;
  /** Code points of what was written. */
  #length = 0;
  #gate: string | null = null;
  #layer: string | null = null;
  #hasReadInstructions = false;

  constructor(
    writer: Writer,
    { conversation, delivery, seed, instructions, toolUse, maxTokens }: ResolvedRequest,
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

  /** Whether the writer is being waited for just now. */
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
   * Waits for the first sentence, or the end of a reply of calls alone. Throws what the writer throws. Once, and before
   * {@link AuthoredText.sentences}.
   */
  async begin(): Promise<void> {
    const beganMs = performance.now();
    void this.#read();
    if (!(await this.#written.hasNext()) && !this.#hasCalled)
      throw new WriterError("the writer wrote nothing: retry", { retryAfterMs: 1_000 });
    this.#firstSentenceMs = performance.now() - beganMs;
  }

  /**
   * The sentences as they come, each with the space that parts it from the one before. Can be taken once.
   *
   * @param onWait a further sentence is waited for from now on
   */
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

  /** What a reply's `meta` says about its writing, up to the sentence that was last asked for. */
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

  /** Writes no more. Not waited for: a writer that hangs holds up nobody. */
  release(): void {
    this.#parts.return?.().catch(() => {});
    this.#span.end();
    this.#onOver();
  }

  /** Takes all that the writer writes. Never throws: what it throws is told in its place. */
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

/** Words are counted from the beginning of the reply's text, which has no space there. */
function placed(text: string, isFirst: boolean): string {
  return isFirst ? text.trimStart() : ` ${text}`;
}

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
  prepared: ResolvedRequest,
  { keyId, span: parent, onCall }: WritingRequest,
  { signal }: Stopper,
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
export async function* boundedSentences(
  coming: AuthoredText,
  maxTokens: number | null,
  stop: Stopper,
  timeoutMs: number,
): AsyncGenerator<string, WrittenReply, void> {
  const most = maxTokens ?? Number.POSITIVE_INFINITY;
  const pieces = coming.sentences(() => {});
  let text = "";
  for (;;) {
    const next = await withDeadline(pieces.next(), timeoutMs, stop, () => coming.source);
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
