import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/**
 * Writes JSON for people, in one step: the file is the old one or all of the new one, and on the disk before it is seen.
 *
 * @param place puts the finished draft in its place; replaces what is there unless given
 * @throws what the file system does; nothing is left then
 */
export async function writeJson(path: string, value: unknown, place = rename): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
    await place(draft, path);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}
