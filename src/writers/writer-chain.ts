import type { Dialogue, Writer, WrittenPart } from "../model/writer.ts";
import type { GateClassifier } from "./gate/gate-classifier.ts";
import { fixedReply } from "./gate/gate-replies.ts";
import { honestOnly } from "./honest-only.ts";
import { type ReplySource, readyParts } from "./replies/reply-source.ts";
import { speakableOnly } from "./speakable-only.ts";

/** What an authored turn passes, one after the other. */
export interface WriterStages {
  /** Lets through what a language model may answer; `null` lets everything through. */
  readonly gate?: GateClassifier | null;
  /** Replies to what is better answered without the model; `null` is none. */
  readonly replies?: ReplySource | null;
  /** A language model, here or behind an endpoint. */
  readonly model: Writer;
  /** What an operator told the model: the numbers in it may be said, and what it says can be done. */
  readonly told?: string;
  /** Whether an operator told the model whom to be. */
  readonly isInstructed?: boolean;
}

/**
 * One writer of all stages. A turn is looked at by the gate before anybody else hears of it, and gets a fixed reply where
 * that finds danger or distress; else one that is ready, else what the model writes, of that only what is honest, and of
 * all only what can be said aloud. A gate that fails lets nothing through. Closing closes all.
 */
export function writerChain({
  gate = null,
  replies = null,
  model,
  told = "",
  isInstructed = false,
}: WriterStages): Writer {
  return {
    name: model.name,
    get callsTools() {
      return model.callsTools === true;
    },
    async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart, void, void> {
      signal.throwIfAborted();
      const fixed = gate === null ? null : await fixedReply(gate, dialogue, signal);
      if (fixed !== null) {
        for (const part of fixed) {
          signal.throwIfAborted();
          yield part;
        }
        return;
      }
      const ready = (await replies?.reply(dialogue, signal)) ?? null;
      const written =
        ready === null
          ? honestOnly(
              speakableOnly(model.write(replies?.forModel(dialogue) ?? dialogue, signal), dialogue, told),
              dialogue,
              { told, isInstructed, replies },
              signal,
            )
          : speakableOnly(inTurn(readyParts(ready, null, signal)), dialogue, told);
      yield* written;
    },
    async close() {
      await Promise.all([model.close(), replies?.close(), gate?.close()]);
    },
  };
}

async function* inTurn<T>(parts: Iterable<T>): AsyncGenerator<T, void, void> {
  yield* parts;
}
