import { EventEmitter, once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { abortable } from "../../src/core/abortable.ts";
import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../../src/core/writer.ts";
import { until } from "../waiting.ts";

export interface ScriptedOptions {
  readonly name?: string;
  /** Whether each sentence waits for {@link ScriptedWriter.allow}. */
  readonly isStepwise?: boolean;
  readonly gate?: string | null;
  /** Whether it reads a dialogue's instructions, and reports so. */
  readonly readsInstructions?: boolean;
}

/** Writes the given sentences, at once or on {@link ScriptedWriter.allow}. Each word is a token. */
export class ScriptedWriter implements Writer {
  readonly name: string;
  readonly dialogues: Dialogue[] = [];
  readonly #sentences: (dialogue: Dialogue) => readonly string[];
  readonly #isStepwise: boolean;
  readonly #gate: string | null;
  readonly #readsInstructions: boolean;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #allowed = 0;
  #open = 0;
  #failure: Error | null = null;
  #isClosed = false;

  constructor(
    sentences: readonly string[] | ((dialogue: Dialogue) => readonly string[]),
    { name = "scripted", isStepwise = false, gate = null, readsInstructions = false }: ScriptedOptions = {},
  ) {
    this.name = name;
    this.#sentences = typeof sentences === "function" ? sentences : () => sentences;
    this.#isStepwise = isStepwise;
    this.#gate = gate;
    this.#readsInstructions = readsInstructions;
  }

  /** Replies under way. */
  get open(): number {
    return this.#open;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Releases more sentences, for any waiting reply. */
  allow(count = 1): void {
    this.#allowed += count;
    this.#events.emit("change");
  }

  /** Fails every reply under way and later. */
  fail(
    error: Error = new WriterError("the scripted writer was told to fail: retry", { retryAfterMs: 1_500 }),
  ): void {
    this.#failure = error;
    this.#events.emit("change");
  }

  /** Waits for the first `count` replies to begin. */
  async asked(count: number): Promise<void> {
    await until(`reply ${count} to be asked for`, () => this.dialogues.length >= count);
  }

  async idle(): Promise<void> {
    await until("the writing to end", () => this.#open === 0);
  }

  async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart, void, void> {
    signal.throwIfAborted();
    this.#throwIfFailed();
    this.dialogues.push(dialogue);
    this.#open++;
    this.#events.emit("change");
    try {
      let written = 0;
      const hasReadInstructions = this.#readsInstructions && dialogue.instructions !== undefined;
      const prompt = dialogue.history.reduce((sum, { text }) => sum + words(text ?? ""), 0);
      for (const text of this.#sentences(dialogue)) {
        await abortable(this.#permitted(), signal);
        if (written === 0) dialogue.onFirstToken?.();
        written += words(text);
        const tokens = { prompt, written };
        yield { text, tokens, gate: this.#gate, ...(hasReadInstructions && { hasReadInstructions }) };
        signal.throwIfAborted();
      }
    } finally {
      this.#open--;
      this.#events.emit("change");
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.fail(new WriterError("the scripted writer is closed"));
  }

  async #permitted(): Promise<void> {
    await turn();
    // No deadline: some tests need a writer that never proceeds.
    while (this.#isStepwise && this.#allowed <= 0 && this.#failure === null)
      await once(this.#events, "change");
    this.#throwIfFailed();
    this.#allowed--;
  }

  #throwIfFailed(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}

function words(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}
