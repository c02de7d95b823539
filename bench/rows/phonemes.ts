import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openUnknownWordNet } from "../../src/engines/prosody/read-text.ts";
import { embeddedCheckpoint } from "../../src/models/installed-checkpoint.ts";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { loadTextTables } from "../../src/text/tables/text-tables.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

/** Lines of dialogue with the phonemes that the voice was trained on, and the lines that are read otherwise on purpose. */
export const phonemes: Row = {
  id: "phonemes",
  what: "golden lines whose phonemes are the reference's, or those listed with a reason",
  goal: "100 %",
  async measure() {
    const cases = await linesOf("cases.jsonl");
    const listed = new Map((await linesOf("changed.jsonl")).map(({ line, phonemes }) => [line, phonemes]));
    const voiceDir = embeddedCheckpoint.dir;
    const { net, close } = await openUnknownWordNet(voiceDir);
    const phonemizer = createPhonemizer(await loadTextTables(voiceDir), net);
    let expected = 0;
    try {
      for (const [index, { text, phonemes }] of cases.entries()) {
        const wanted = listed.get(index + 1) ?? phonemes;
        if ((await phonemizer.phonemes(text)).join("\n") === wanted.join("\n")) expected += 1;
      }
    } finally {
      await close();
    }
    return {
      measured:
        `${((100 * expected) / cases.length).toFixed(1)} % of ${cases.length}: ${cases.length - listed.size} as the ` +
        `reference, ${listed.size} otherwise`,
      isMet: expected === cases.length,
    };
  },
};

interface GoldenLine {
  readonly line: number;
  readonly text: string;
  readonly phonemes: readonly string[];
}

async function linesOf(name: string): Promise<GoldenLine[]> {
  const text = await readFile(join(TOP, "test", "golden", "text", name), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as GoldenLine);
}
