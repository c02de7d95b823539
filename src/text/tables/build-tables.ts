import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { packTables, voiceFingerprint } from "./packed-tables.ts";
import { readCurrent, tablesFileOf } from "./text-tables.ts";

/**
 * Program: `node dist/src/text/tables/build-tables.js VOICE_DIR [FILE]` packs a voice's text data, unless the file is
 * current.
 */
const [, , voiceDir = "voices/heart", file = tablesFileOf(voiceDir)] = process.argv;

try {
  const current = await readCurrent(file, await voiceFingerprint(voiceDir));
  if (current === undefined) await write();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function write(): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.${randomUUID()}`;
  try {
    await writeFile(partial, await packTables(voiceDir), { flag: "wx" });
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}
