import { constants } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { replaceFile } from "../../core/replace-file.ts";

/** Writes the file that an option names: all of it or, where that fails, nothing. */
export async function writeOutput(file: string, content: Uint8Array | string, option: string): Promise<void> {
  try {
    const found = await stat(file).catch(() => null);
    // A device or a pipe is written to as it is.
    if (found?.isFile() === false) await writeFile(file, content, { flag: constants.O_WRONLY });
    else await replaceFile(file, content);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Error(`The file ${file} cannot be written (${code}): name another with ${option}.`, { cause });
  }
}
