import { createHash, randomUUID } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sha256OfFile } from "../files/sha256-of-file.ts";

/**
 * A file that was made of a checkpoint's and others, and lies beside the first. Its name tells of what it was made, and
 * begins its own SHA-256, so that one that was cut short or damaged is known as such.
 */
const MERGED = /^merged-([0-9a-f]{16})-([0-9a-f]{32})\.gguf$/;

/** What such a file is begun as. */
const DRAFT = /^merged-[0-9a-f]{16}-.*\.part$/;

/** Stands for what a file is made of, in its name: everything that may change it. */
export function originOf(parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);
}

export function mergedName(origin: string, sha256: string): string {
  return `merged-${origin}-${sha256.slice(0, 32)}.gguf`;
}

export function draftName(origin: string): string {
  return `merged-${origin}-${randomUUID()}.part`;
}

/** The path of the file of that origin, if it is there and every byte is right. Throws the signal's reason. */
export async function findMerged(dir: string, origin: string, signal?: AbortSignal): Promise<string | null> {
  for (const name of await entriesOf(dir)) {
    const [, made, sha256 = ""] = MERGED.exec(name) ?? [];
    if (made !== origin) continue;
    const path = join(dir, name);
    const got = await sha256OfFile(path, signal).catch(() => "");
    signal?.throwIfAborted();
    if (got.startsWith(sha256) && got !== "") return path;
  }
  return null;
}

/**
 * Removes what was begun to be merged there, and what has that origin's name. What was made of others may be in use by
 * another version of Antiphon, and stays. For whoever holds the lock and has found nothing.
 */
export async function removeBroken(dir: string, origin: string): Promise<void> {
  await removeWhere(dir, (name) => DRAFT.test(name) || MERGED.exec(name)?.[1] === origin);
}

/** Removes every file that was merged there but that one. Whoever wants another makes it again. */
export async function removeOtherMerged(path: string): Promise<void> {
  await removeWhere(dirname(path), (name) => MERGED.test(name) && name !== basename(path));
}

/** What cannot be removed stays. */
async function removeWhere(dir: string, isUnwanted: (name: string) => boolean): Promise<void> {
  for (const name of (await entriesOf(dir)).filter(isUnwanted)) {
    await rm(join(dir, name), { force: true }).catch(() => {});
  }
}

/** Bytes of all that was merged there or begun to be. */
export async function mergedBytes(dir: string): Promise<number> {
  const names = (await entriesOf(dir)).filter(isMerged);
  const sizes = await Promise.all(names.map((name) => stat(join(dir, name)).catch(() => null)));
  return sizes.reduce((sum, entry) => sum + (entry?.size ?? 0), 0);
}

function isMerged(name: string): boolean {
  return MERGED.test(name) || DRAFT.test(name);
}

async function entriesOf(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => []);
}
