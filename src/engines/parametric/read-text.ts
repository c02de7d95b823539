import { join } from "node:path";
import type { Lexicon } from "../../model/script.ts";
import { readChecked } from "../../tensors/checked-file.ts";
import { type NativeGuard, openSession } from "../../tensors/session.ts";
import { idRow, idsOf } from "../../tensors/tensor.ts";
import { withClosingStop } from "../../text/closing-stop.ts";
import type { Readings } from "../../text/differences.ts";
import { createOwnWords, type OwnWords } from "../../text/own-words.ts";
import { phonemeIds, splitClauses } from "../../text/phoneme-ids.ts";
import { createPhonemizer, type Phonemizer } from "../../text/phonemizer.ts";
import { cutRunOn } from "../../text/run-on.ts";
import { spokenSentences } from "../../text/spoken-sentences.ts";
import { loadTextTables, type TextTables } from "../../text/tables.ts";
import type { UnknownWordNet } from "../../text/unknown-words.ts";
import type { ReadsText } from "./passages.ts";
import { wordCount } from "./spoken-words.ts";

/** The text side of the voice: sentences in, phoneme ids out. */
export interface TextReader extends ReadsText {
  /** The same reading with somebody's own words. */
  withWords(words: Lexicon): ReadsText;
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

/** How text is read. */
export interface ReadingOptions {
  /** The voice's dictionary and tagger where they are loaded already, perhaps by another thread; else they are read. */
  readonly tables?: TextTables;
  /** Standard unless told. */
  readonly readings?: Readings;
  /** Words of the house, before the dictionary's. */
  readonly words?: Lexicon;
}

/** Opens the reading of text as phonemes by itself, without the voice. */
export async function openPhonemizer(
  voiceDir: string,
  { tables: given, ...options }: ReadingOptions = {},
  guard?: NativeGuard,
): Promise<{ readonly phonemizer: Phonemizer; readonly tables: TextTables; close(): Promise<void> }> {
  const tables = given ?? (await loadTextTables(voiceDir));
  const { net, close } = await openUnknownWordNet(voiceDir, guard);
  return { phonemizer: createPhonemizer(tables, net, options), tables, close };
}

/**
 * Opens what reads text. A sentence that goes on and on is cut before it is read; one of more than 400 phonemes becomes several passages, cut at its commas; where there
 * are none it is cut at a space, so that no passage outgrows the memory of a few seconds.
 */
export async function openTextReader(
  voiceDir: string,
  options: ReadingOptions = {},
  guard?: NativeGuard,
): Promise<TextReader> {
  const { readings = "standard" } = options;
  const { phonemizer, tables, close } = await openPhonemizer(voiceDir, options, guard);
  const reader = (words: readonly OwnWords[]): ReadsText => ({
    split: (piece) => spokenSentences(piece, readings).flatMap(cutRunOn),
    async read(sentence) {
      const clauses = splitClauses(
        withClosingStop(await phonemizer.read(sentence, words), sentence),
        LONG_PHONEMES,
        LONGEST_PHONEMES,
      );
      return clauses.map((clause) => phonemeIds(clause, tables)).filter((ids) => wordCount(ids) > 0);
    },
  });
  return { ...reader([]), withWords: (words) => reader([createOwnWords(words)]), close };
}

const LONG_PHONEMES = 400;
const LONGEST_PHONEMES = 600;
