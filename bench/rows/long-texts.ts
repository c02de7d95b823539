import { openUnknownWordNet } from "../../src/engines/prosody/read-text.ts";
import { embeddedCheckpoint } from "../../src/models/installed-checkpoint.ts";
import { createPhonemizer, type Phonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { loadTextTables } from "../../src/text/tables/text-tables.ts";
import { LONGEST, slowTexts } from "../../test/text/slow-texts.ts";
import { harvardSentences, written } from "../harvard.ts";
import type { Row } from "../row.ts";

/**
 * Marks and figures say more a character than prose does; a text that is slower than this many times the prose of its
 * length is read by a rule that looks too far.
 */
const SLOWEST = 10;

/**
 * 92 texts of 8,000 characters, each one repeated piece whose end the rules search for in vain
 * (`test/text/slow-texts.ts`); the least of three readings each.
 */
export const longTexts: Row = {
  id: "long-texts",
  what: "processor time to read the slowest text of the longest length ÷ that of prose as long",
  goal: `≤ ${SLOWEST}`,
  async measure({ isQuick }) {
    const voiceDir = embeddedCheckpoint.dir;
    const tables = await loadTextTables(voiceDir);
    const { net, close } = await openUnknownWordNet(voiceDir);
    try {
      const phonemizer = createPhonemizer(tables, net);
      const prose = (await harvardSentences()).map(written).join(" ").repeat(4).slice(0, LONGEST);
      await cpuMs(phonemizer, prose);
      let [slowest, slowestMs] = ["", 0];
      const texts = slowTexts();
      for (const [piece, text] of isQuick ? texts.slice(0, 10) : texts) {
        const ms = await cpuMs(phonemizer, text);
        if (ms > slowestMs) [slowest, slowestMs] = [piece, ms];
      }
      const proseMs = await cpuMs(phonemizer, prose);
      return {
        measured: `${(slowestMs / proseMs).toFixed(1)} (${slowestMs.toFixed(0)} ms for ${JSON.stringify(slowest)} over and over, ${proseMs.toFixed(0)} ms for prose; of ${texts.length} texts)`,
        isMet: slowestMs <= SLOWEST * proseMs,
      };
    } finally {
      await close();
    }
  },
};

/** Processor time that it takes to read a text; the least of three. */
async function cpuMs(phonemizer: Phonemizer, text: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i++) {
    const before = process.cpuUsage();
    await phonemizer.phonemes(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
