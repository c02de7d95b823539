import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { embeddedCheckpoint } from "../../src/catalogue/embedded-checkpoint.ts";
import { openUnknownWordNet } from "../../src/engines/parametric/read-text.ts";
import { DIFFERENCES, type Readings } from "../../src/text/differences.ts";
import { createPhonemizer } from "../../src/text/phonemizer.ts";
import { loadTextTables } from "../../src/text/tables.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

export const phonemes: Row = {
  id: "phonemes",
  what: "phonemes equal to the golden lines, unknown words and names apart",
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
      const standard = await equal("standard", known);
      const faithful = await equal("reference", known);
      const apart = await equal("standard", unknown);
      const improved = await equal("improved", known);
      const percent = (count: number) => `${((100 * count) / known.length).toFixed(1)} %`;
      return {
        measured:
          `${percent(standard)} of ${known.length} as read by default, ${apart} of ${unknown.length} with unknown words; ` +
          `${percent(faithful)} as the reference reads, ${percent(improved)} with all ${DIFFERENCES.length} improvements`,
        isMet: standard >= 0.99 * known.length,
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
