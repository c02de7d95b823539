import type { Dialogue, Writer, WrittenPart } from "../../core/writer.ts";
import type { GateClassifier } from "./gate-classifier.ts";
import { fixedReply } from "./gate-replies.ts";

/**
 * A writer behind the safety gate: a turn in which the gate finds danger or distress gets a fixed reply, and the writer
 * never sees it. A gate that fails lets nothing through. Closing closes both.
 */
export function gated(writer: Writer, gate: GateClassifier): Writer {
  return {
    get name() {
      return writer.name;
    },
    get callsTools() {
      return writer.callsTools === true;
    },
    async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart, void, void> {
      signal.throwIfAborted();
      const fixed = await fixedReply(gate, dialogue, signal);
      if (fixed === null) {
        yield* writer.write(dialogue, signal);
        return;
      }
      for (const part of fixed) {
        signal.throwIfAborted();
        yield part;
      }
    },
    async close() {
      await Promise.all([writer.close(), gate.close()]);
    },
  };
}
