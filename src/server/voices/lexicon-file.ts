import { readFile, stat } from "node:fs/promises";
import type { Lexicon } from "../../core/script.ts";
import type { Settings } from "../../settings/schema.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { parsePronunciations } from "../../text/phonemes/own-words.ts";
import { UsageError } from "../errors.ts";

const MAX_BYTES = 4 * 2 ** 20;

/**
 * The words of the file that the setting `lexicon` names, and how each is said; none without it.
 *
 * @throws SettingsError where the file cannot be read, UsageError where what is in it is wrong; both name it.
 */
export async function serverLexicon({ lexicon: file }: Pick<Settings, "lexicon">): Promise<Lexicon> {
  if (file === undefined) return [];
  const wrong = (why: string, cause?: unknown): UsageError =>
    new UsageError(`The lexicon ${why}.`, { cause });
  const bytes = await readAtMost(file, MAX_BYTES).catch((cause: NodeJS.ErrnoException) => {
    const why = `The lexicon ${file} cannot be read (${cause.code}): name a file with the setting lexicon.`;
    throw Object.assign(new SettingsError("file", why), { cause });
  });
  if (bytes === null) throw wrong(`${file} is larger than 4 MiB: keep to the words that you need`);
  const text = decoded(bytes);
  if (text === null) throw wrong(`${file} is not in UTF-8: save it in that encoding`);
  try {
    return parsePronunciations(text, file);
  } catch (error) {
    throw wrong((error as Error).message, error);
  }
}

/** The bytes of a file; null for more than `maxBytes`. */
async function readAtMost(file: string, maxBytes: number): Promise<Buffer | null> {
  return (await stat(file)).size > maxBytes ? null : await readFile(file);
}

/** Text in UTF-8; null for anything else. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
