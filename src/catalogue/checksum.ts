import { createHash, type Hash } from "node:crypto";

/** By what a file is known, in lower-case hex: its SHA-256, or the name that Git has for its bytes. */
export type Checksum = { readonly sha256: string } | { readonly gitSha1: string };

/** Begins to hash a file of that size. Git hashes its kind and size first. */
export function newHash(checksum: Checksum, sizeBytes: number): Hash {
  return "sha256" in checksum
    ? createHash("sha256")
    : createHash("sha1").update(`blob ${sizeBytes}\0`, "latin1");
}

/** What the hash has to come to. */
export function rightDigest(checksum: Checksum): string {
  return "sha256" in checksum ? checksum.sha256 : checksum.gitSha1;
}

/** What the hash is called. */
export function hashName(checksum: Checksum): string {
  return "sha256" in checksum ? "SHA-256" : "Git object id";
}
