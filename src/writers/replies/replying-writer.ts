import type { Dialogue, Passage, Writer } from "../../model/writer.ts";
import { sentencesOf } from "../../text/sentence-cutter.ts";
import { claimsToBeAPerson } from "./claims.ts";
import { heardIn, plainWords } from "./heard.ts";
import type { ReplySource } from "./reply-source.ts";

/**
 * A small language model that writes only what nothing better answers. Of what it writes, sentences that claim a body,
 * a past or to be a person, or that the conversation has heard, are left out. Closing closes both.
 */
export function replying(writer: Writer, source: ReplySource): Writer {
  return {
    name: writer.name,
    async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<Passage, void, void> {
      signal.throwIfAborted();
      const ready = await source.reply(dialogue, signal);
      if (ready !== null) {
        for (const text of sentencesOf(ready.text)) {
          signal.throwIfAborted();
          yield { text, tokens: null, gate: null, layer: ready.layer };
        }
        return;
      }
      const heard = heardIn(dialogue.history, dialogue.speaker);
      let last: Passage | null = null;
      let isSilent = true;
      for await (const passage of writer.write(dialogue, signal)) {
        last = { ...passage, layer: "model" };
        if (claimsToBeAPerson(passage.text) || heard.has(plainWords(passage.text))) continue;
        isSilent = false;
        yield last;
      }
      const instead = isSilent && last !== null ? source.fallback(dialogue) : null;
      if (instead !== null) yield { text: instead, tokens: last?.tokens ?? null, gate: null, layer: "line" };
    },
    async close() {
      await Promise.all([writer.close(), source.close()]);
    },
  };
}
