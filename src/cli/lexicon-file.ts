import { readFile, stat } from "node:fs/promises";
import type { Lexicon } from "../model/script.ts";
import type { Settings } from "../settings/schema.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { parsePronunciations } from "../text/pronunciations.ts";

const LARGEST_BYTES = 4 * 2 ** 20;

/**
 * The words of the file that the setting `lexicon` names, and how each is said; none without it.
 *
 * @throws SettingsError that names the file, and the line of what is wrong in it.
 */
export async function houseWords({ lexicon: file }: Pick<Settings, "lexicon">): Promise<Lexicon> {
  if (file === undefined) return [];
  const refused = (why: string, cause?: unknown): SettingsError =>
    Object.assign(new SettingsError("file", `The lexicon ${why}.`), { cause });
  try {
    if ((await stat(file)).size > LARGEST_BYTES)
      throw refused(`${file} is larger than ${LARGEST_BYTES} bytes`);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
    return parsePronunciations(text, file);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof TypeError) throw refused(`${file} is not in UTF-8`, error);
    if (code !== undefined)
      throw refused(`${file} cannot be read (${code}): name a file with the setting lexicon`, error);
    throw refused(message, error);
  }
}
