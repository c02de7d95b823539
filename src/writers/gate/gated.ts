import type { Dialogue, Passage, Writer } from "../../model/writer.ts";
import type { GateClassifier } from "./gate-classifier.ts";
import { gateReply } from "./gate-replies.ts";

/**
 * A writer behind the safety gate. What the others said last is looked at before the writer hears of it; where it is
 * dangerous or somebody is in distress, a fixed reply is given in the writer's stead. A gate that fails lets nothing
 * through. Closing closes both.
 */
export function gated(writer: Writer, gate: GateClassifier): Writer {
  return {
    name: writer.name,
    async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<Passage, void, void> {
      const lines = linesFor(dialogue);
      const { category } = await gate.classify(lines, signal);
      if (category === null) {
        yield* writer.write(dialogue, signal);
        return;
      }
      for (const text of gateReply(category, lines)) {
        signal.throwIfAborted();
        yield { text, tokens: null, gate: category };
      }
    },
    async close() {
      await Promise.all([writer.close(), gate.close()]);
    },
  };
}

/** What the others said, oldest first; what the open speaker said where nobody else did. Unheard turns say nothing. */
function linesFor({ history, speaker }: Dialogue): string[] {
  const said = history.filter((turn) => turn.text !== null && turn.text.trim() !== "");
  const others = said.filter((turn) => turn.speaker !== speaker);
  return (others.length > 0 ? others : said).slice(-KEPT).map((turn) => turn.text ?? "");
}

/** A disclosure two turns back still matters. */
const KEPT = 3;
