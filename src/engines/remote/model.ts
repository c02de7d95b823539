import { freeClips } from "../../model/free-memory.ts";
import type { Script } from "../../model/script.ts";
import {
  type Frame,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../../model/speech-model.ts";
import { type Stop, stopWith } from "../../model/stop-with.ts";
import { antiphonDialect } from "./antiphon-dialect.ts";
import type { Dialect } from "./dialect.ts";
import { Endpoints } from "./endpoints.ts";
import { openaiDialect } from "./openai-dialect.ts";
import type { RemoteOptions } from "./remote-options.ts";
import { utterance } from "./utterance.ts";

/**
 * A speech model behind an address. Given words are one request; of words that are still being written each piece is
 * one, and the next is asked for while the one before is heard, and no more than that. Whether the same request gives the
 * same bytes again is up to whoever computes them, and so is what a temperature of 0 means.
 */
export function createRemoteModel(options: RemoteOptions): SpeechModel {
  return new RemoteModel(options);
}

class RemoteModel implements SpeechModel {
  readonly #name: string;
  readonly #idleTimeoutMs: number;
  readonly #dialect: Dialect;
  readonly #endpoints: Endpoints;
  readonly #open = new Set<Stop>();
  #isClosed = false;

  constructor(options: RemoteOptions) {
    this.#name = options.name;
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#dialect = options.kind === "openai" ? openaiDialect(options) : antiphonDialect(options);
    const { route, accept } = this.#dialect;
    this.#endpoints = new Endpoints({ ...options, route, accept });
  }

  async *speak(script: Script, signal: AbortSignal): AsyncGenerator<Frame, SpeechReport, void> {
    if (this.#isClosed) throw this.#closed();
    signal.throwIfAborted();
    const stop = stopWith([signal]);
    this.#open.add(stop);
    try {
      const requests = await this.#dialect.prepare(script, stop.signal);
      freeClips(script.history);
      const parts = { requests, endpoints: this.#endpoints, idleTimeoutMs: this.#idleTimeoutMs };
      return yield* utterance(script, parts, stop.signal);
    } finally {
      // A piece may have been asked for that nobody will hear.
      stop.abort(this.#closed());
      stop.end();
      this.#open.delete(stop);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#open) stop.abort(this.#closed());
    this.#endpoints.close();
  }

  #closed(): SpeechFailedError {
    return new SpeechFailedError(`${this.#name}: the model was closed`);
  }
}
