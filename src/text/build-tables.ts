import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { packTables } from "./pack-tables.ts";
import { tablesFileOf } from "./tables.ts";

/** Run as `node dist/src/text/build-tables.js VOICE_DIR [FILE]`: packs a voice's text data into one file. */
const [, , voiceDir = "voices/heart", file = tablesFileOf(voiceDir)] = process.argv;

try {
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  try {
    await writeFile(partial, await packTables(voiceDir));
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
