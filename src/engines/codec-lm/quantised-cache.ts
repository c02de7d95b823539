import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Weights } from "../../onnx/weights-folder.ts";
import {
  bytesToWrite,
  isIntact,
  readMetadata,
  type TensorGroup,
  writeSafetensors,
} from "../../onnx/write-safetensors.ts";

/** Weights that cannot be kept where they are to be; the message says how much room they take, and what to do. */
export class CacheError extends Error {
  override readonly name = "CacheError";
}

/** What the content of a cache depends on, besides how finely which tensors are quantised. */
export interface Origin {
  /** Of the way in which it is made. */
  readonly version: number;
  /** Where the weights are. */
  readonly folder: string;
  readonly files: readonly OriginFile[];
}

/** A file of weights, as it was when the cache was made. */
interface OriginFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Where weights come from, as they are now. */
export async function originOf({ folder, variables }: Weights, version: number): Promise<Origin> {
  const names = [...new Set([...variables.values()].map(({ file }) => file))].sort();
  return { version, folder, files: await Promise.all(names.map((name) => statOf(folder, name))) };
}

async function statOf(folder: string, name: string): Promise<OriginFile> {
  const { size, mtimeMs } = await stat(join(folder, name));
  return { name, size, mtimeMs };
}

/** The entry of a cache's metadata that has its {@link Origin}. */
const ORIGIN = "made_of";

/**
 * Makes a cache, under another name first, so that there never is half of one; two processes may do so at once. Before
 * that, caches are removed that nobody can use any more: those of weights that are gone or have changed, and this folder's
 * of other versions. So a checkpoint has no more of them than there are ways of quantising that it is opened with.
 *
 * @throws CacheError when the folder has no room or cannot be written to; what making the tensors throws
 */
export async function makeCache(
  folder: string,
  file: string,
  origin: Origin,
  makings: readonly TensorGroup[],
  signal: AbortSignal,
): Promise<void> {
  const metadata = { [ORIGIN]: JSON.stringify(origin) };
  const needed = bytesToWrite(makings, metadata);
  const draft = join(folder, `${file}.${HOST}.${process.pid}.${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true });
    await removeUseless(folder, origin);
    await requireRoom(folder, needed);
    await writeSafetensors(draft, makings, metadata);
    await moveInto(draft, join(folder, file), signal);
  } catch (error) {
    throw asCacheError(error, folder, needed);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** Where an open file cannot be replaced, another process's, which is the same, will do. */
async function moveInto(draft: string, path: string, signal: AbortSignal): Promise<void> {
  try {
    await rename(draft, path);
  } catch (error) {
    if (!(await isIntact(path, signal))) throw error;
  }
}

/** Removes what processes left that died while they made a cache. What cannot be removed stays. */
export async function removeLeftovers(folder: string): Promise<void> {
  const drafts = (await namesIn(folder)).filter((name) => DRAFT.test(name));
  await Promise.all(
    drafts.map(async (name) => {
      if (await isLeft(join(folder, name))) await rm(join(folder, name), { force: true }).catch(() => {});
    }),
  );
}

/** Of machines whose folders may be shared. */
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

const DRAFT = /\.safetensors\.([0-9a-f]{8})\.(\d+)\.[0-9a-f-]+\.part$/;

/** Nobody writes to a draft for that long and goes on. */
const STILL_MS = 600_000;

async function isLeft(path: string): Promise<boolean> {
  const [, host, pid] = DRAFT.exec(path) ?? [];
  const found = await stat(path).catch(() => null);
  if (found === null) return false;
  if (Date.now() - found.mtimeMs > STILL_MS) return true;
  if (host !== HOST) return false;
  // A number may be used again: a draft from before this process is not this one's.
  if (Number(pid) === process.pid) return found.mtimeMs < Date.now() - process.uptime() * 1_000;
  return !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

async function removeUseless(folder: string, { folder: weights, version }: Origin): Promise<void> {
  const caches = (await namesIn(folder)).filter((name) => name.endsWith(".safetensors"));
  for (const path of caches.map((name) => join(folder, name))) {
    const origin = originIn((await readMetadata(path))?.[ORIGIN]);
    if (origin === null) continue;
    const isOld = origin.folder === weights && origin.version !== version;
    if (isOld || (await isChanged(origin))) await rm(path, { force: true }).catch(() => {});
  }
}

function originIn(json: string | undefined): Origin | null {
  if (json === undefined) return null;
  try {
    const origin = JSON.parse(json) as Partial<Origin>;
    return typeof origin.folder === "string" && Array.isArray(origin.files) ? (origin as Origin) : null;
  } catch {
    return null;
  }
}

async function isChanged({ folder, files }: Origin): Promise<boolean> {
  for (const was of files) {
    const now = await statOf(folder, was.name).catch((error) => (codeOf(error) === "ENOENT" ? null : was));
    if (now === null || now.size !== was.size || now.mtimeMs !== was.mtimeMs) return true;
  }
  return false;
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

async function requireRoom(folder: string, needed: number): Promise<void> {
  const free = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  );
  if (free >= needed) return;
  throw new CacheError(
    `The quantised weights take ${megabytes(needed)}, and the disk that holds ${folder} has ${megabytes(free)} free: ${REMEDY}`,
  );
}

const REMEDY =
  "make room, choose another folder with --data-dir, or take the precision fp32, which keeps none.";

/** No space, no quota, or more than the process may write into one file. */
const FULL = ["ENOSPC", "EDQUOT", "EFBIG"];
const FORBIDDEN = ["EACCES", "EPERM", "EROFS"];
const BROKEN = ["ENOTDIR", "EEXIST", "EISDIR", "ENOENT", "ENAMETOOLONG", "EMFILE"];

/** Says of an error of the file system what to do about it; gives back any other as it is. */
function asCacheError(error: unknown, folder: string, needed: number): unknown {
  const code = codeOf(error) ?? "";
  if (FULL.includes(code)) {
    return new CacheError(
      `The disk that holds ${folder} is full: the quantised weights take ${megabytes(needed)}; what was begun is removed: ${REMEDY}`,
      { cause: error },
    );
  }
  if (FORBIDDEN.includes(code) || BROKEN.includes(code)) {
    return new CacheError(
      `The quantised weights, ${megabytes(needed)}, are kept in ${folder}, which cannot be written to (${code}): give this user the right to, choose another folder with --data-dir, or take the precision fp32, which keeps none.`,
      { cause: error },
    );
  }
  return error;
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
