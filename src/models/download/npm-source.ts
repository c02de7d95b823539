import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { onDisk } from "./disk.ts";
import type { FetchContext } from "./options.ts";
import { SourceError } from "./pull-error.ts";
import { lastErrorLine, runProgram, WORK_PREFIXES } from "./run-program.ts";

interface NpmPackage {
  readonly package: string;
  readonly version: string;
  /** `sha512-…`, as the registry states it. */
  readonly integrity: string;
}

/**
 * Fetches a package with npm as it is configured here, and reads files from it. Nothing is installed or run; the
 * archive's digest is checked first, and the archive is always removed.
 *
 * @param isWanted selects files by their path in the package
 * @param onBytes receives the bytes of a file in chunks
 * @throws SourceError if npm, the registry or the package fails; PullError if the disk fails; the signal's reason;
 * what `give` throws
 */
export async function readNpmPackage(
  source: NpmPackage,
  folder: string,
  { times, env, signal }: FetchContext,
  isWanted: (path: string) => boolean,
  onBytes: (path: string, bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const name = `${source.package}@${source.version}`;
  const work = await onDisk(folder, () => mkdtemp(join(folder, WORK_PREFIXES.npm)));
  try {
    const { exitCode, stderr } = await runProgram(
      ["pack", name, "--pack-destination", work, ...QUIET_FLAGS],
      {
        program: process.platform === "win32" ? "npm.cmd" : "npm",
        install: "it (it comes with Node.js)",
        env: { ...env, npm_config_cache: join(work, "cache") },
        signal,
        timeoutMs: times.pipTimeoutMs,
      },
    );
    if (exitCode !== 0) throw new SourceError(`npm failed${lastErrorLine(stderr)}`);
    const archive = (await readdir(work)).find((file) => file.endsWith(".tgz"));
    if (archive === undefined) throw new SourceError("npm succeeded without downloading a package");
    const path = join(work, archive);
    await requireIntegrity(path, source, signal);
    await unpack(path, isWanted, onBytes, signal);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

const QUIET_FLAGS = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=error",
];

async function requireIntegrity(
  path: string,
  { package: name, version, integrity }: NpmPackage,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash("sha512");
  await pipeline(createReadStream(path), hash, { signal });
  if (`sha512-${hash.digest("base64")}` === integrity) return;
  throw new SourceError(`the checksum of ${name} ${version} in the registry is wrong`);
}

/** Folder of all members of a package. */
const ROOT = "package/";

async function unpack(
  path: string,
  isWanted: (path: string) => boolean,
  onBytes: (path: string, bytes: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const inPackage = (member: string) => (member.startsWith(ROOT) ? member.slice(ROOT.length) : "");
  await pipeline(
    createReadStream(path),
    createGunzip(),
    (unpacked) =>
      readTar(
        unpacked,
        (member) => isWanted(inPackage(member)),
        (member, bytes) => onBytes(inPackage(member), bytes),
      ),
    { signal },
  );
}

const BLOCK = 512;

/**
 * Reads the wanted files of a tar archive in order (POSIX 1003.1 pax, without extended headers: no name here needs
 * one).
 *
 * @throws SourceError if it is invalid or truncated; what `give` throws
 */
export async function readTar(
  archive: AsyncIterable<Buffer>,
  isWanted: (path: string) => boolean,
  onBytes: (path: string, bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  let pending: Buffer = Buffer.alloc(0);
  /** The current file: its path if wanted, and the bytes left of it and of the padding. */
  let path: string | null = null;
  let left = 0;
  let padding = 0;
  for await (const piece of archive) {
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
    for (;;) {
      if (left > 0) {
        const bytes = pending.subarray(0, left);
        if (bytes.length === 0) break;
        if (path !== null) await onBytes(path, bytes);
        left -= bytes.length;
        pending = pending.subarray(bytes.length);
      } else if (padding > 0) {
        const skipped = Math.min(padding, pending.length);
        if (skipped === 0) break;
        padding -= skipped;
        pending = pending.subarray(skipped);
      } else if (pending.length >= BLOCK) {
        const head = parseHeader(pending.subarray(0, BLOCK));
        pending = pending.subarray(BLOCK);
        if (head === null) continue;
        path = head.isFile && isWanted(head.path) ? head.path : null;
        left = head.size;
        padding = (BLOCK - (left % BLOCK)) % BLOCK;
      } else break;
    }
  }
  if (left > 0) throw new SourceError("the archive is truncated");
}

/** Parses a header; `null` for a block of zeros, which ends the archive. */
function parseHeader(
  block: Buffer,
): { readonly path: string; readonly size: number; readonly isFile: boolean } | null {
  if (block.every((byte) => byte === 0)) return null;
  const text = (from: number, to: number) => block.toString("utf8", from, to).replace(/\0.*$/s, "");
  const size = text(124, 136).trim();
  const sum = text(148, 156).trim();
  if (!/^[0-7]{1,11}$/.test(size) || Number.parseInt(sum, 8) !== checksum(block))
    throw new SourceError("it sent an invalid archive");
  const prefix = text(257, 262) === "ustar" ? text(345, 500) : "";
  const name = text(0, 100);
  return {
    path: prefix === "" ? name : `${prefix}/${name}`,
    size: Number.parseInt(size, 8),
    isFile: ["", "0"].includes(text(156, 157)),
  };
}

/** Sums a header's bytes, its own checksum counted as spaces. */
function checksum(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
}
