import type { SpeakerLabel, Turn } from "../../core/conversation.ts";
import { stopWith } from "../../core/stop-with.ts";
import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../../core/writer.ts";
import { chatSteps, dialogueMessages, type MessageOptions } from "../dialogue-messages.ts";
import { endCutReply, WrittenSentences } from "../written-sentences.ts";
import { CallReader } from "./call-reader.ts";
import { type CallTemplate, readCallTemplate } from "./call-template.ts";
import { BATCH_TOKENS, commonPrefixLength, Generation, type Sampling, SequencePool } from "./generation.ts";
import {
  freeVocabularyCopy,
  type LlamaContextSequence,
  type LlamaModel,
  type LlamaRuntime,
  ParallelQueue,
  SerialQueue,
  type Token,
  type TokenBias,
  type WorkQueue,
} from "./llama-runtime.ts";
import { type ModelOptions, maxThreads, openModel } from "./open-model.ts";
import {
  createPromptRenderer,
  maxPromptTokens,
  type PromptOptions,
  type PromptTemplate,
  promptTokens,
  type RenderDialogue,
  type RenderPrompt,
} from "./prompt.ts";

export interface GgufWriterOptions extends ModelOptions, PromptOptions {
  /** Name in the reply's `meta`. */
  readonly name: string;
  readonly template: PromptTemplate;
}

/**
 * Opens a writer on a GGUF file, with llama.cpp on the CPU. Reads the common prompt prefix first, so that the first
 * reply does not wait for it.
 *
 * @throws WriterError when the file cannot be loaded
 */
export async function openGgufWriter(options: GgufWriterOptions): Promise<Writer> {
  const { runtime, model, context, close } = await openModel(options);
  try {
    const sequences = Array.from({ length: options.sequences }, () => context.getSequence());
    const calling = await readCallTemplate(model);
    const writer = new GgufWriter(options, runtime, model, sequences, calling);
    await writer.preloadPrompt();
    return writer;
  } catch (error) {
    await close();
    throw error;
  }
}

class GgufWriter implements Writer {
  readonly name: string;
  readonly #options: GgufWriterOptions;
  readonly #runtime: LlamaRuntime;
  readonly #model: LlamaModel;
  readonly #prompt: RenderPrompt;
  readonly #pool: SequencePool;
  /** Forbids the call tag in replies without calls. */
  readonly #noCall: TokenBias;
  readonly #calling: CallTemplate | null;
  readonly #closed = new AbortController();
  /** Runs one token of one reply at a time unless batched: batching changes the last bits of logits. */
  readonly #queue: WorkQueue;
  readonly #ending = new Set<Promise<unknown>>();

  constructor(
    options: GgufWriterOptions,
    runtime: LlamaRuntime,
    model: LlamaModel,
    sequences: readonly LlamaContextSequence[],
    calling: CallTemplate | null,
  ) {
    this.name = options.name;
    this.#options = options;
    this.#runtime = runtime;
    this.#model = model;
    this.#prompt = createPromptRenderer(options.template, model, runtime);
    this.#pool = new SequencePool(sequences);
    const queue = options.isBatched ? new ParallelQueue() : new SerialQueue();
    const threads = maxThreads(runtime, options);
    this.#queue = {
      run: (work) =>
        queue.run(() => {
          // One thread while speech is computed, as llama.cpp's threads synchronise at every layer. +1 for the gate.
          runtime.llama.maxThreads = options.isQuiet() ? threads + 1 : 1;
          return work();
        }),
    };
    this.#calling = calling;
    this.#noCall = new runtime.module.TokenBias(model.tokenizer);
    if (calling !== null) this.#noCall.set(calling.begin, "never");
    freeVocabularyCopy(model);
  }

  get callsTools(): boolean {
    return this.#calling !== null;
  }

  /** Reads the common prompt prefix into one sequence; the others read it with their first reply. */
  async preloadPrompt(): Promise<void> {
    const [one, other] = ["Hello.", "What now?"].map((text) => {
      const history = [{ speaker: "0", text, audio: null }];
      return this.#plainPrompt(history, "1", { systemPrompt: this.#options.systemPrompt, historyChars: 100 });
    });
    const shared = commonPrefixLength(one!, other!);
    const pieces = shared - (shared % BATCH_TOKENS);
    if (pieces === 0 || pieces > maxPromptTokens(this.#options)) return;
    // Adds one token, since the last is never cached.
    const beginning = one!.slice(0, pieces + 1);
    const never = this.#closed.signal;
    const sequence = await this.#pool.take(beginning, never);
    const generation = new Generation(sequence, this.#queue, never);
    try {
      await generation.read(beginning);
    } catch (cause) {
      throw new WriterError("the language model failed while reading its prompt", { cause });
    } finally {
      await generation.end();
      this.#pool.release(sequence);
    }
  }

  async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart, void, void> {
    const work = stopWith([signal, this.#closed.signal]);
    const stop = work.signal;
    try {
      stop.throwIfAborted();
      const { prompt, calls } = this.#preparePrompt(dialogue);
      const sequence = await this.#pool.take(prompt, stop);
      const generation = new Generation(sequence, this.#queue, stop);
      try {
        yield* this.#parts(prompt, generation, dialogue, calls);
      } finally {
        // Not awaited: the sequence is free again once llama.cpp is idle.
        const ended = generation.end().then(() => {
          this.#ending.delete(ended);
          this.#pool.release(sequence);
        });
        this.#ending.add(ended);
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (this.#closed.signal.aborted) throw new WriterError("the writer was closed");
      if (error instanceof WriterError) throw error;
      throw new WriterError("the language model failed while it wrote: retry", {
        cause: error,
        retryAfterMs: 1_000,
      });
    } finally {
      work.end();
    }
  }

  /** Renders the prompt and creates the call reader; `null` if no calls are allowed. */
  #preparePrompt(dialogue: Dialogue): { readonly prompt: Token[]; readonly calls: CallReader | null } {
    const { history, speaker, toolUse } = dialogue;
    const room = maxPromptTokens(this.#options);
    const calling = this.#calling;
    const tools = toolUse === undefined || toolUse.choice === "none" ? [] : toolUse.tools;
    if (calling === null || toolUse === undefined || tools.length + toolUse.calls.length === 0) {
      const plain: RenderDialogue = (newest, options) => this.#plainPrompt(newest, speaker, options);
      return { prompt: promptTokens(plain, dialogue, this.#options, room), calls: null };
    }
    // Reserves room for the calls.
    const maxTokens = tools.length === 0 ? 0 : Math.min(MAX_CALL_TOKENS, Math.floor(room / 4));
    const calls = tools.length === 0 ? null : new CallReader(this.#model, calling, { ...toolUse, maxTokens });
    const begun = calls?.begun ?? [];
    const renderWithCalls: RenderDialogue = (newest, options) => {
      const left = history.length - newest.length;
      const earlier = toolUse.calls
        .filter(({ turnsBefore }) => turnsBefore >= left)
        .map((call) => ({ ...call, turnsBefore: call.turnsBefore - left }));
      return calling.prompt(chatSteps({ history: newest, speaker }, earlier, options), tools);
    };
    const promptLeft = room - maxTokens - begun.length;
    if (!calling.fits(tools, Math.floor(promptLeft / 2))) throw new WriterError(TOO_MANY_TOOLS);
    return {
      prompt: [...promptTokens(renderWithCalls, dialogue, this.#options, promptLeft), ...begun],
      calls,
    };
  }

  #plainPrompt(history: readonly Turn[], speaker: SpeakerLabel, options: MessageOptions): Token[] {
    return this.#prompt(dialogueMessages({ history, speaker }, options));
  }

  async *#parts(
    prompt: readonly Token[],
    generation: Generation,
    dialogue: Dialogue,
    calls: CallReader | null,
  ): AsyncGenerator<WrittenPart> {
    const { maxTokens } = this.#options;
    const written: Token[] = [];
    const sampling = this.#sampling(dialogue, written, calls);
    const sentences = this.#sentencesAfter(prompt);
    let thoughtTokens = 0;
    let text = "";
    let count = 0;
    const readsInstructions = dialogue.instructions !== undefined;
    const part = (words: Pick<WrittenPart, "text" | "call">, isCounted = true): WrittenPart => {
      count++;
      const tokens = isCounted ? { prompt: prompt.length, written: written.length } : null;
      return { ...words, tokens, gate: null, ...(readsInstructions && { hasReadInstructions: true }) };
    };
    for await (const token of generation.tokensAfter(prompt, sampling)) {
      if (written.length === 0) dialogue.onFirstToken?.();
      written.push(token);
      if (calls !== null && !sentences.isThinking && calls.push(token)) {
        for (const sentence of sentences.flush()) yield part({ text: sentence });
        for (const call of calls.take()) yield part({ text: "", call });
        if (calls.isFull) break;
        continue;
      }
      if (calls?.hasBegun === true) break;
      const longer = this.#model.detokenize(written);
      // A partial character decodes to U+FFFD until it is complete.
      if (!longer.endsWith("\ufffd")) {
        for (const sentence of sentences.push(longer.slice(text.length))) yield part({ text: sentence });
        text = longer;
      }
      if (sentences.isThinking) {
        if (++thoughtTokens > MAX_THOUGHT_TOKENS) break;
        continue;
      }
      if (written.length - thoughtTokens >= maxTokens) break;
    }
    if (calls?.hasBegun === true) {
      for (const call of calls.end()) yield part({ text: "", call });
      if (count === 0) throw calls.failure();
      return;
    }
    const isCut = sentences.isThinking
      ? thoughtTokens > MAX_THOUGHT_TOKENS
      : written.length - thoughtTokens >= maxTokens;
    const rest = sentences.flush(!isCut, (words) => (isCut ? endCutReply(words, count === 0) : words));
    if (rest.length + count === 0) rest.push("");
    for (const [n, sentence] of rest.entries()) yield part({ text: sentence }, n === rest.length - 1);
  }

  /** Some templates open a thought at the end of the prompt. */
  #sentencesAfter(prompt: readonly Token[]): WrittenSentences {
    const [, tag] = OPEN_THOUGHT.exec(this.#model.detokenize(prompt.slice(-8), true)) ?? [];
    return new WrittenSentences(tag?.toLowerCase());
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#ending);
    await this.#model.dispose();
    await this.#runtime.release();
  }

  #sampling(
    { temperature, topK, seed }: Dialogue,
    written: readonly Token[],
    calls: CallReader | null,
  ): Sampling {
    return {
      temperature,
      topK: topK ?? 40,
      minP: temperature === 0 ? 0 : 0.1,
      seed: Number(seed & 0xffff_ffffn),
      ...(calls === null && { tokenBias: this.#noCall }),
      // Calls repeat given names.
      repeatPenalty: { punishTokens: () => (calls?.hasBegun ? [] : written.slice(-48)), penalty: 1.1 },
    };
  }
}

/** Longer thoughts are cut off: the listener is waiting. */
const MAX_THOUGHT_TOKENS = 256;
/** Limit for a reply's calls. */
const MAX_CALL_TOKENS = 512;
const TOO_MANY_TOOLS =
  "the functions take more than half of what the writer's model can read: give fewer of them, describe them in fewer words, or raise writer.contextTokens";
const OPEN_THOUGHT = /<(think|thinking|reasoning)>\s*$/i;
