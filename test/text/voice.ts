import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openSession } from "../../src/onnx/session.ts";
import { idRow, idsOf } from "../../src/onnx/tensor.ts";
import type { UnknownWordNet } from "../../src/text/phonemes/unknown-words.ts";
import { loadTextTables } from "../../src/text/tables/text-tables.ts";
import { TOP } from "../architecture/top.ts";

export const VOICE_DIR = join(TOP, "voices/heart");

export const tables = await loadTextTables(VOICE_DIR);

/** Opens the voice's network for unknown words. */
export async function openNet(): Promise<{ readonly net: UnknownWordNet; close(): Promise<void> }> {
  const path = join(VOICE_DIR, "oov.onnx");
  const session = await openSession(readFileSync(path), path);
  return {
    net: async (characterIds) => idsOf(await session.run({ chars: idRow(characterIds) }), "ids"),
    close: () => session.release(),
  };
}

/** A network that reads each letter as "b". */
export const letterB: UnknownWordNet = async (characterIds) =>
  characterIds.flatMap(() => [tables.unknownWords.output.indexOf("b") + 1, 0, 0, 0]);
