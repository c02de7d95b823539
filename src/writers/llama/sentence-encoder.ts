import { createHmac, randomBytes } from "node:crypto";
import {
  freeEstimates,
  freeVocabularyCopy,
  type LlamaEmbeddingContext,
  type LlamaModel,
  type LlamaRuntime,
  LOAD_OPTIONS,
  SerialQueue,
  type Token,
} from "./llama-runtime.ts";

/** A BERT-like sentence encoder in a GGUF file; calls are queued. */
export class SentenceEncoder {
  readonly #runtime: LlamaRuntime;
  readonly #model: LlamaModel;
  readonly #context: LlamaEmbeddingContext;
  readonly #queue = new SerialQueue();
  #freed: Promise<void> | null = null;

  private constructor(runtime: LlamaRuntime, model: LlamaModel, context: LlamaEmbeddingContext) {
    this.#runtime = runtime;
    this.#model = model;
    this.#context = context;
  }

  /** Takes ownership of `runtime`, even on failure. @throws Error when the file cannot be loaded */
  static async open(runtime: LlamaRuntime, modelPath: string): Promise<SentenceEncoder> {
    let model: LlamaModel | null = null;
    try {
      model = await runtime.llama.loadModel({ modelPath, ...LOAD_OPTIONS });
      await freeEstimates(model);
      const context = await model.createEmbeddingContext({
        contextSize: 256,
        batchSize: MAX_TOKENS,
        threads: 1,
      });
      freeVocabularyCopy(model);
      return new SentenceEncoder(runtime, model, context);
    } catch (cause) {
      await model?.dispose();
      await runtime.release();
      throw cause;
    }
  }

  /** Tokenises text; special tokens in it stay text. */
  tokensOf(text: string): Token[] {
    const { bos, eos } = this.#model.tokens;
    return this.#model
      .tokenize(text, false, "trimLeadingSpace")
      .filter((token) => token !== bos && token !== eos);
  }

  /** Embeds up to 126 tokens, but not 0. Throws the signal's reason if it aborts while queued. */
  async vectorOf(tokens: readonly Token[], stop: AbortSignal): Promise<readonly number[]> {
    const { bos, eos } = this.#model.tokens;
    const input = [...(bos === null ? [] : [bos]), ...tokens, ...(eos === null ? [] : [eos])];
    const { vector } = await this.#queue.run(async () => {
      stop.throwIfAborted();
      return this.#context.getEmbeddingFor(input);
    });
    return vector;
  }

  /** Embeds a text, or the end of a long one, as a unit vector. */
  async unitVectorOf(text: string, stop: AbortSignal): Promise<Float32Array> {
    const vector = await this.vectorOf(this.tokensOf(text).slice(-MAX_TEXT_TOKENS), stop);
    const length = Math.hypot(...vector) || 1;
    return Float32Array.from(vector, (value) => value / length);
  }

  /** Frees it after the current call. */
  close(): Promise<void> {
    this.#freed ??= this.#free();
    return this.#freed;
  }

  async #free(): Promise<void> {
    await this.#queue.run(async () => {});
    await this.#context.dispose();
    await this.#model.dispose();
    await this.#runtime.release();
  }
}

/** Context of the encoder, special tokens included. */
const MAX_TOKENS = 128;
const MAX_TEXT_TOKENS = MAX_TOKENS - 2;

const SECRET = randomBytes(32);

/** Returns a cache key that does not reveal the text, even to guessing. */
export function cacheKey(text: string): string {
  return createHmac("sha256", SECRET).update(text).digest("base64");
}
