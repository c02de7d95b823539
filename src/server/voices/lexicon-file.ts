import { readFile, stat } from "node:fs/promises";
import type { Lexicon } from "../../core/script.ts";
import type { Settings } from "../../settings/schema.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { accentOfTag, LANGUAGE_TAGS } from "../../text/languages/languages.ts";
import { AMERICAN } from "../../text/phonemes/accent.ts";
import { parseLexicon } from "../../text/phonemes/user-lexicon.ts";
import { UsageError } from "../errors.ts";

const MAX_BYTES = 4 * 2 ** 20;

/**
 * Returns the words of the file of the setting `lexicon`, with their pronunciations; empty if not set.
 *
 * @throws SettingsError if the file cannot be read; UsageError if its content is wrong. Both name it.
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
  const text = utf8OrNull(bytes);
  if (text === null) throw wrong(`${file} is not in UTF-8: save it in that encoding`);
  try {
    return parseLexicon(
      text,
      file,
      LANGUAGE_TAGS.map((tag) => accentOfTag(tag) ?? AMERICAN),
    );
  } catch (error) {
    throw wrong((error as Error).message, error);
  }
}

/** Returns the bytes of a file; `null` if there are more than `maxBytes`. */
async function readAtMost(file: string, maxBytes: number): Promise<Buffer | null> {
  return (await stat(file)).size > maxBytes ? null : await readFile(file);
}

/** Decodes UTF-8; `null` if it is invalid. */
function utf8OrNull(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
