import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openUnknownWordNet } from "../../src/engines/prosody/read-text.ts";
import { embeddedCheckpoint } from "../../src/models/installed-checkpoint.ts";
import type { Readings } from "../../src/text/differences.ts";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { loadTextTables } from "../../src/text/tables/tables.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

export const phonemes: Row = {
  id: "phonemes",
  what: "phonemes equal to the golden lines by the reference's reading, unknown words and names apart",
  goal: "≥ 99 %",
  async measure() {
    const lines = (await readFile(join(TOP, "test", "golden", "text", "cases.jsonl"), "utf8"))
      .trim()
      .split("\n");
    const cases = lines.map((line) => JSON.parse(line) as GoldenLine);
    const known = cases.filter(({ kind }) => !UNKNOWN_KINDS.includes(kind));
    const unknown = cases.filter(({ kind }) => UNKNOWN_KINDS.includes(kind));
    const voiceDir = embeddedCheckpoint.dir;
    const tables = await loadTextTables(voiceDir);
    const { net, close } = await openUnknownWordNet(voiceDir);
    const equal = async (readings: Readings, among: readonly GoldenLine[]) => {
      const phonemizer = createPhonemizer(tables, net, { readings });
      let count = 0;
      for (const { text, phonemes: wanted } of among) {
        if ((await phonemizer.phonemes(text)).join("\n") === wanted.join("\n")) count += 1;
      }
      return count;
    };
    try {
      const faithful = await equal("reference", known);
      const apart = await equal("reference", unknown);
      const byDefault = await equal("standard", cases);
      return {
        measured:
          `${((100 * faithful) / known.length).toFixed(1)} % of ${known.length} as the reference reads, ${apart} of ` +
          `${unknown.length} with unknown words; by default ${cases.length - byDefault} of all ${cases.length} are read otherwise, each for a listed reason`,
        isMet: faithful >= 0.99 * known.length,
      };
    } finally {
      await close();
    }
  },
};

interface GoldenLine {
  readonly text: string;
  readonly phonemes: readonly string[];
  readonly kind: string;
}

const UNKNOWN_KINDS: readonly string[] = ["oov", "name"];
