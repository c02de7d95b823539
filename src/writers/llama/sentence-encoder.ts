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

/** A sentence encoder of BERT's shape in a GGUF file. Calls take turns, a window each. */
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

  /** Takes over `runtime`, also when it fails. @throws Error when the file is none that llama.cpp can load. */
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

  /** A text's tokens. As text, what people write can never be one of the encoder's own marks. */
  tokensOf(text: string): Token[] {
    const { bos, eos } = this.#model.tokens;
    return this.#model
      .tokenize(text, false, "trimLeadingSpace")
      .filter((token) => token !== bos && token !== eos);
  }

  /** The vector of up to 126 tokens, of any length but 0. Throws the signal's reason when it aborts before its turn. */
  async vectorOf(tokens: readonly Token[], stop: AbortSignal): Promise<readonly number[]> {
    const { bos, eos } = this.#model.tokens;
    const input = [...(bos === null ? [] : [bos]), ...tokens, ...(eos === null ? [] : [eos])];
    const { vector } = await this.#queue.run(async () => {
      stop.throwIfAborted();
      return this.#context.getEmbeddingFor(input);
    });
    return vector;
  }

  /** The direction of a text's meaning, of length 1. Of a long text, its end counts. */
  async unitVectorOf(text: string, stop: AbortSignal): Promise<Float32Array> {
    const vector = await this.vectorOf(this.tokensOf(text).slice(-MAX_TEXT_TOKENS), stop);
    const length = Math.hypot(...vector) || 1;
    return Float32Array.from(vector, (value) => value / length);
  }

  /** Frees it when what has begun is over. */
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

/** What is read at once, its beginning and its end included. */
const MAX_TOKENS = 128;
const MAX_TEXT_TOKENS = MAX_TOKENS - 2;

const SECRET = randomBytes(32);

/** Returns a cache key for what somebody said. It reveals nothing of the text, not even to a guess. */
export function cacheKey(text: string): string {
  return createHmac("sha256", SECRET).update(text).digest("base64");
}
