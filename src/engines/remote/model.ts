import { freeClips } from "../../core/free-memory.ts";
import { SpeechFailedError, type SpeechModel } from "../../core/speech-model.ts";
import { type Stop, stopWith } from "../../core/stop-with.ts";
import { speakPlain } from "../../text/plain-pieces.ts";
import { antiphonDialect } from "./antiphon-dialect.ts";
import type { RemoteOptions } from "./dialect.ts";
import { Endpoints } from "./endpoints.ts";
import { openaiDialect } from "./openai-dialect.ts";
import { utterance } from "./utterance.ts";

/**
 * A speech model behind an address. Given words are one request; of words that are still being written each piece is
 * one, and the next is asked for while the one before is heard, and no more than that. Whether the same request gives the
 * same bytes again is up to whoever computes them, and so is what a temperature of 0 means.
 */
export function createRemoteModel(options: RemoteOptions): SpeechModel {
  const { name, kind, idleTimeoutMs } = options;
  const dialect = kind === "openai" ? openaiDialect(options) : antiphonDialect(options);
  const { route, accept } = dialect;
  const endpoints = new Endpoints({ ...options, route, accept });
  const open = new Set<Stop>();
  const closed = () => new SpeechFailedError(`${name}: the model was closed`);
  let isClosed = false;

  return {
    async *speak(script, signal) {
      if (isClosed) throw closed();
      signal.throwIfAborted();
      const stop = stopWith([signal]);
      open.add(stop);
      try {
        const requests = await dialect.prepare(script, stop.signal);
        freeClips(script.history);
        const parts = { requests, endpoints, idleTimeoutMs };
        return yield* speakPlain(script, (plain) => utterance(plain, parts, stop.signal));
      } finally {
        // A piece may have been asked for that nobody will hear.
        stop.abort(closed());
        stop.end();
        open.delete(stop);
      }
    },
    async close() {
      isClosed = true;
      for (const stop of open) stop.abort(closed());
      endpoints.close();
    },
  };
}
