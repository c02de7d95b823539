import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Check } from "typebox/schema";
import { writeJson } from "../../files/write-json.ts";
import { asDiskError, onDisk } from "../pull/disk.ts";
import { isAbsent, PullError } from "../pull/pull-error.ts";

/** A licence that somebody has accepted for a repository of the hub. */
const Acceptance = Type.Object({
  repository: Type.String(),
  licence: Type.String(),
  /** ISO 8601. */
  accepted_at: Type.String(),
});

const Book = Type.Object({ accepted: Type.Array(Acceptance) });

/** Whether a licence was accepted for a repository in this data directory. @throws PullError when that cannot be read. */
export async function isAccepted(dataDir: string, repository: string, licence: string): Promise<boolean> {
  const { accepted } = await readBook(pathIn(dataDir));
  return accepted.some((one) => one.licence === licence && isSame(one.repository, repository));
}

/** Remembers it. @throws PullError when the disk fails. */
export async function accept(dataDir: string, repository: string, licence: string): Promise<void> {
  if (await isAccepted(dataDir, repository, licence)) return;
  const path = pathIn(dataDir);
  const { accepted } = await readBook(path);
  const book = { accepted: [...accepted, { repository, licence, accepted_at: new Date().toISOString() }] };
  await onDisk(path, async () => {
    await mkdir(dataDir, { recursive: true });
    await writeJson(path, book);
  });
}

function pathIn(dataDir: string): string {
  return join(dataDir, "licences.json");
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

async function readBook(path: string): Promise<Static<typeof Book>> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (isAbsent(error)) return '{"accepted":[]}';
    throw asDiskError(error, path);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (Check(Book, value)) return value;
  } catch {
    // Said below.
  }
  throw new PullError(
    `${path} does not say which licences were accepted: mend it, or remove it and be asked again.`,
  );
}
