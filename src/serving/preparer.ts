import { Worker } from "node:worker_threads";
import { findModel, type PublicModel } from "../catalogue/public-models.ts";
import { ServiceError } from "../contract/errors.ts";
import type { TtsRequest } from "../contract/requests.ts";
import { type Prepared, prepareTts, type TtsExtras } from "./prepare.ts";
import { type Purpose, prepareBody } from "./prepare-body.ts";
import type { Answer, Order } from "./preparer-thread.ts";

/** Bodies up to this size are prepared at once: that takes a millisecond or two. */
const SMALL_BODY_BYTES = 64 * 1024;

/** A thread that has had nothing to do for this long is let go, with all the memory that it took. */
const IDLE_MS = 30_000;

/**
 * Makes requests ready. What is large (audio in base64) is parsed and decoded in a thread of its own, which is there
 * only while it is needed: on the main thread it would hold up every stream for as long as it takes.
 */
export class Preparer {
  readonly #models: readonly PublicModel[];
  #thread: PreparerThread | null = null;

  constructor(models: readonly PublicModel[]) {
    this.#models = models;
  }

  /** The request in `body`, whose buffer may be gone afterwards. Rejects with a 422 or 400 {@link ServiceError}. */
  async prepare(purpose: Purpose, body: Uint8Array): Promise<Prepared> {
    if (body.length <= SMALL_BODY_BYTES) {
      return prepareBody(purpose, body, (id) => findModel(this.#models, id));
    }
    if (this.#thread === null || this.#thread.hasEnded) this.#thread = new PreparerThread(this.#models);
    return this.#thread.prepare(purpose, body);
  }

  /** The same for a text-to-speech request that has been parsed already. Throws a 400 {@link ServiceError}. */
  prepareTts(request: TtsRequest, extras: TtsExtras): Prepared {
    return prepareTts(request, (id) => findModel(this.#models, id), extras);
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }
}

/** The near side of the thread. */
class PreparerThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve(prepared: Prepared): void; reject(error: unknown): void }>();
  #idle: NodeJS.Timeout | null = null;
  #lastId = 0;
  hasEnded = false;

  constructor(models: readonly PublicModel[]) {
    this.#worker = new Worker(new URL("./preparer-thread.js", import.meta.url), { workerData: models });
    this.#worker.on("message", (answer: Answer) => this.#settle(answer));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the thread that prepares large requests ended")));
  }

  prepare(purpose: Purpose, body: Uint8Array): Promise<Prepared> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const owned = ownBuffer(body);
      this.#worker.postMessage({ id, purpose, body: owned } satisfies Order, [owned.buffer]);
    });
  }

  async close(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.hasEnded = true;
    await this.#worker.terminate();
  }

  #settle(answer: Answer): void {
    const waiter = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("prepared" in answer) waiter?.resolve(answer.prepared);
    else if ("refused" in answer) {
      waiter?.reject(new ServiceError(answer.refused.status, answer.refused.message));
    } else waiter?.reject(new Error(answer.failed));
    if (this.#waiting.size === 0) this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  #fail(error: Error): void {
    this.hasEnded = true;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** A view over a buffer of its own, which can be handed to another thread; small buffers share one with others. */
function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
