import { type Dialogue, type Passage, type Writer, WriterError, type WriterTokens } from "../model/writer.ts";
import type { Span } from "../tracing/span.ts";
import { Arrivals } from "./arrivals.ts";
import type { ComingText } from "./coming-text.ts";
import type { Prepared } from "./prepare.ts";
import { failureType, writtenFacts } from "./request-spans.ts";

/** Who wants to know of the writing. */
export interface WritingObserver {
  /** Of the writing; ended with it. */
  readonly span: Span;
  /** Called once, where a language model writes, with the seconds that it took. */
  readonly onFirstToken: (seconds: number) => void;
  /** Called when nothing more is written; more than once is possible. */
  readonly onOver: () => void;
}

/**
 * The words of an authored turn as a writer gives them, and what there is to say of the writing. The writer is read to
 * its end as fast as it writes, whoever listens to the words and however slowly: it is not held up, and neither are those
 * who wait for it.
 */
export class AuthoredText implements ComingText {
  readonly from = "the writer";
  readonly #writer: Writer;
  readonly #hasInstructions: boolean;
  readonly #passages: AsyncIterator<Passage>;
  readonly #signal: AbortSignal;
  readonly #span: Span;
  readonly #onOver: () => void;
  readonly #written = new Arrivals<Passage>();
  #hasToken = false;
  #firstSentenceMs = 0;
  #tokens: WriterTokens | null = null;
  #gate: string | null = null;
  #layer: string | null = null;
  #hasReadInstructions = false;

  constructor(
    writer: Writer,
    { conversation, delivery, seed, instructions }: Prepared,
    signal: AbortSignal,
    { span, onFirstToken, onOver }: WritingObserver,
  ) {
    this.#signal = signal;
    this.#span = span;
    this.#onOver = onOver;
    const askedMs = performance.now();
    const dialogue: Dialogue = {
      history: conversation.history,
      speaker: conversation.open.speaker,
      temperature: delivery.temperature,
      topK: delivery.topK,
      seed,
      ...(instructions === null ? {} : { instructions }),
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
    this.#passages = writer.write(dialogue, signal)[Symbol.asyncIterator]();
  }

  /** Whether the writer is being waited for just now. */
  get isWriting(): boolean {
    return this.#written.isAwaited;
  }

  /** Waits for the first sentence. Throws what the writer throws. Once, and before {@link AuthoredText.pieces}. */
  async begin(): Promise<void> {
    const beganMs = performance.now();
    void this.#read();
    if (!(await this.#written.arrived()))
      throw new WriterError("the writer wrote nothing: retry", { retryAfterMs: 1_000 });
    this.#firstSentenceMs = performance.now() - beganMs;
  }

  /**
   * The sentences as they come, each with the space that parts it from the one before. Can be taken once.
   *
   * @param onWait a further sentence is waited for from now on
   */
  async *pieces(onWait: () => void): AsyncGenerator<string, void, void> {
    let isFirst = true;
    for await (const passage of this.#written.all(onWait)) {
      this.#tokens = passage.tokens ?? this.#tokens;
      this.#gate ??= passage.gate;
      this.#layer ??= passage.layer ?? null;
      this.#hasReadInstructions ||= passage.hasReadInstructions ?? false;
      // Words are counted from the beginning of the reply's text, which has no space there.
      yield isFirst ? passage.text.trimStart() : ` ${passage.text}`;
      isFirst = false;
    }
  }

  /** What a reply's `meta` says about its writing, up to the sentence that was last asked for. */
  meta(): Record<string, unknown> {
    return {
      name: this.#writer.name,
      prompt_tokens: this.#tokens?.prompt ?? null,
      written_tokens: this.#tokens?.written ?? null,
      first_sentence_ms: Math.round(this.#firstSentenceMs * 10) / 10,
      gate: this.#gate,
      layer: this.#layer,
      instructions: this.#hasInstructions ? (this.#hasReadInstructions ? "read" : "ignored") : null,
    };
  }

  /** Writes no more. Not waited for: a writer that hangs holds up nobody. */
  release(): void {
    this.#passages.return?.().catch(() => {});
    this.#span.end();
    this.#onOver();
  }

  /** Takes all that the writer writes. Never throws: what it throws is told in its place. */
  async #read(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#passages.next();
        if (done === true) break;
        this.#written.add(value);
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
}
