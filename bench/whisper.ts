import { join } from "node:path";
import type { LineProgram } from "./line-program.ts";
import type { Pythons } from "./python.ts";
import type { Rendering } from "./renderings.ts";
import { CACHE } from "./top.ts";
import { type WordErrors, wordErrors } from "./word-errors.ts";

/** Starts Whisper base, which answers the path of a WAV with the words that it hears. */
export function startWhisper(python: Pythons, language = "en"): Promise<LineProgram> {
  return python.start("transcribe.py", [join(CACHE, "whisper-base"), language]);
}

/**
 * How many words of some sentences it hears wrongly.
 *
 * @param inWords writes the numerals of what it hears in words; by default English ones
 */
export async function heardOf(
  whisper: LineProgram,
  renderings: readonly Rendering[],
  inWords = (heard: string) => heard,
): Promise<WordErrors> {
  let [errors, words] = [0, 0];
  for (const { sentence, path } of renderings) {
    const found = wordErrors(sentence, inWords((await whisper.ask(path)) as string));
    errors += found.errors;
    words += found.words;
  }
  return { errors, words };
}
