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
  /** For `meta`: who writes. */
  readonly name: string;
  readonly template: PromptTemplate;
}

/**
 * Writes with a GGUF file in this process, through llama.cpp on the CPU. What every conversation begins with has been read
 * once it is open, so that the first reply does not wait for that.
 *
 * @throws WriterError when the file cannot be loaded.
 */
export async function openGgufWriter(options: GgufWriterOptions): Promise<Writer> {
  const { runtime, model, context, close } = await openModel(options);
  try {
    const sequences = Array.from({ length: options.sequences }, () => context.getSequence());
    const calling = await readCallTemplate(model);
    const writer = new GgufWriter(options, runtime, model, sequences, calling);
    await writer.begin();
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
  /** Forbids the tag that begins a call, for replies that may make none. */
  readonly #noCall: TokenBias;
  readonly #calling: CallTemplate | null;
  readonly #closed = new AbortController();
  /** Mostly one token of one reply at a time: in a batch with others' the last bits of its logits depend on them. */
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
          // One thread while speech is computed: llama.cpp's threads wait for each other at every layer. +1 for the gate.
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

  /** Reads what every prompt begins with into one sequence; those that write beside it read it with their first reply. */
  async begin(): Promise<void> {
    const [one, other] = ["Hello.", "What now?"].map((text) => {
      const history = [{ speaker: "0", text, audio: null }];
      return this.#plainPrompt(history, "1", { systemPrompt: this.#options.systemPrompt, historyChars: 100 });
    });
    const shared = commonPrefixLength(one!, other!);
    const pieces = shared - (shared % BATCH_TOKENS);
    if (pieces === 0 || pieces > maxPromptTokens(this.#options)) return;
    // One token more, since the last is never in a piece.
    const beginning = one!.slice(0, pieces + 1);
    const never = this.#closed.signal;
    const sequence = await this.#pool.take(beginning, never);
    const generation = new Generation(sequence, this.#queue, never);
    try {
      await generation.read(beginning);
    } catch (cause) {
      throw new WriterError("the language model failed while it read what it is told", { cause });
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
      const { prompt, calls } = this.#begin(dialogue);
      const sequence = await this.#pool.take(prompt, stop);
      const generation = new Generation(sequence, this.#queue, stop);
      try {
        yield* this.#parts(prompt, generation, dialogue, calls);
      } finally {
        // Not awaited: llama.cpp ends what it is at, and only then can the sequence be lent again.
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

  /** What is read before a reply, and what finds the calls in it; `null` where none may be made. */
  #begin(dialogue: Dialogue): { readonly prompt: Token[]; readonly calls: CallReader | null } {
    const { history, speaker, toolUse } = dialogue;
    const room = maxPromptTokens(this.#options);
    const calling = this.#calling;
    const tools = toolUse === undefined || toolUse.choice === "none" ? [] : toolUse.tools;
    if (calling === null || toolUse === undefined || tools.length + toolUse.calls.length === 0) {
      const plain: RenderDialogue = (newest, options) => this.#plainPrompt(newest, speaker, options);
      return { prompt: promptTokens(plain, dialogue, this.#options, room), calls: null };
    }
    // A part of the room is for the calls themselves.
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
      // Half a character shows as a replacement until its other bytes are there.
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

  /** Some templates begin a reply with a thought that is open. */
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
      // A call repeats the names that it was given.
      repeatPenalty: { punishTokens: () => (calls?.hasBegun ? [] : written.slice(-48)), penalty: 1.1 },
    };
  }
}

/** A model that thinks for longer than this says nothing: the listener is waiting. */
const MAX_THOUGHT_TOKENS = 256;
/** Of a reply's calls, beside its words. */
const MAX_CALL_TOKENS = 512;
const TOO_MANY_TOOLS =
  "the functions take more than half of what the writer's model can read: give fewer of them, describe them in fewer words, or raise writer.contextTokens";
const OPEN_THOUGHT = /<(think|thinking|reasoning)>\s*$/i;
