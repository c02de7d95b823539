import { readFileSync } from "node:fs";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Check } from "typebox/schema";
import { writeJson } from "../../files/write-json.ts";
import { SHA256 } from "../checkpoint-manifest.ts";
import type { Checksum } from "../checksum.ts";
import { isHubPath } from "../hub/hub-name.ts";
import { onDisk } from "../pull/disk.ts";

/**
 * A file of a repository, byte for byte as the hub states it. Small ones are known by the name that Git has for them. What
 * has no size or no checksum was not stated.
 */
const RecordedFile = Type.Object({
  path: Type.String({ minLength: 1 }),
  sizeBytes: Type.Integer({ minimum: 0 }),
  sha256: Type.Optional(Type.String({ pattern: SHA256 })),
  gitSha1: Type.Optional(Type.String({ pattern: "^[0-9a-f]{40}$" })),
});

const PulledRecord = Type.Object({
  name: Type.String(),
  repository: Type.String({ pattern: "^[\\w.-]+/[\\w.-]+$" }),
  /** The commit that every file is of. */
  revision: Type.String({ pattern: "^[0-9a-f]{40}$" }),
  licence: Type.String({ minLength: 1 }),
  licenceUrl: Type.String({ pattern: "^https://" }),
  files: Type.Array(RecordedFile, { minItems: 1 }),
});

export type RecordedFile = Static<typeof RecordedFile>;

/**
 * Where a checkpoint is from. While it is fetched, with all that the repository has at that commit; once it is installed,
 * with what it consists of.
 */
export type PulledRecord = Static<typeof PulledRecord>;

const FILE = "hub.json";

/** What a folder says of itself; `null` when it says nothing of use. */
export function readRecord(folder: string): PulledRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    return Check(PulledRecord, value) && value.files.every(({ path }) => isHubPath(path)) ? value : null;
  } catch {
    return null;
  }
}

/** @throws PullError when the disk fails. */
export async function writeRecord(record: PulledRecord, folder: string): Promise<void> {
  const path = join(folder, FILE);
  await onDisk(path, () => writeJson(path, record));
}

/** By what the bytes of a file are known; `null` when the hub did not say. */
export function checksumOf({ sha256, gitSha1 }: Omit<RecordedFile, "path" | "sizeBytes">): Checksum | null {
  if (sha256 !== undefined) return { sha256 };
  return gitSha1 === undefined ? null : { gitSha1 };
}
