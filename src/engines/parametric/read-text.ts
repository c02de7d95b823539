import { join } from "node:path";
import { readChecked } from "../../tensors/checked-file.ts";
import { type NativeGuard, openSession } from "../../tensors/session.ts";
import { idRow, idsOf } from "../../tensors/tensor.ts";
import { withClosingStop } from "../../text/closing-stop.ts";
import type { Readings } from "../../text/differences.ts";
import { phonemeIds, splitClauses } from "../../text/phoneme-ids.ts";
import { createPhonemizer, type Phonemizer } from "../../text/phonemizer.ts";
import { spokenSentences } from "../../text/spoken-sentences.ts";
import { loadTextTables, type TextTables } from "../../text/tables.ts";
import type { UnknownWordNet } from "../../text/unknown-words.ts";
import type { ReadsText } from "./passages.ts";
import { wordCount } from "./spoken-words.ts";

/** The text side of the voice: sentences in, phoneme ids out. */
export interface TextReader extends ReadsText {
  close(): Promise<void>;
}

/** Opens the net that reads unknown words (`oov.onnx`). @throws Error naming the file that is missing or damaged. */
export async function openUnknownWordNet(
  voiceDir: string,
  guard?: NativeGuard,
): Promise<{ readonly net: UnknownWordNet; close(): Promise<void> }> {
  const path = join(voiceDir, "oov.onnx");
  const session = await openSession(await readChecked(path), path, guard);
  return {
    net: async (characterIds) => idsOf(await session.run({ chars: idRow(characterIds) }), "ids"),
    close: () => session.release(),
  };
}

/** Opens the reading of text as phonemes by itself, without the voice. */
export async function openPhonemizer(
  voiceDir: string,
  given?: TextTables,
  readings: Readings = "standard",
  guard?: NativeGuard,
): Promise<{ readonly phonemizer: Phonemizer; readonly tables: TextTables; close(): Promise<void> }> {
  const tables = given ?? (await loadTextTables(voiceDir));
  const { net, close } = await openUnknownWordNet(voiceDir, guard);
  return { phonemizer: createPhonemizer(tables, net, { readings }), tables, close };
}

/**
 * Opens what reads text. A sentence of more than 400 phonemes becomes several passages, cut at its commas; where there
 * are none it is cut at a space, so that no passage outgrows the memory of a few seconds.
 */
export async function openTextReader(
  voiceDir: string,
  given?: TextTables,
  readings: Readings = "standard",
  guard?: NativeGuard,
): Promise<TextReader> {
  const { phonemizer, tables, close } = await openPhonemizer(voiceDir, given, readings, guard);
  return {
    split: (piece) => spokenSentences(piece, readings),
    async read(sentence) {
      const clauses = splitClauses(
        withClosingStop(await phonemizer.read(sentence), sentence),
        LONG_PHONEMES,
        LONGEST_PHONEMES,
      );
      return clauses.map((clause) => phonemeIds(clause, tables)).filter((ids) => wordCount(ids) > 0);
    },
    close,
  };
}

const LONG_PHONEMES = 400;
const LONGEST_PHONEMES = 600;
