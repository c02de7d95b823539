import type { rename } from "node:fs/promises";
import { replaceFile } from "./replace-file.ts";

/** Writes JSON for people, as {@link replaceFile} does. */
export function writeJson(path: string, value: unknown, place?: typeof rename): Promise<void> {
  return replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, place);
}
