import { fileURLToPath } from "node:url";
import { loadTextTables, type TextTables } from "../../../src/text/tables/text-tables.ts";

/** The voice in the repository. */
export const VOICE_DIR = fileURLToPath(new URL("../../../../voices/heart", import.meta.url));

let loaded: Promise<TextTables> | null = null;

/** The voice's text tables, loaded once. */
export function tables(): Promise<TextTables> {
  loaded ??= loadTextTables(VOICE_DIR);
  return loaded;
}
