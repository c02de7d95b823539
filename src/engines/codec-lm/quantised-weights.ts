import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { type MatrixRows, Quantiser, rowsOf, rowsOfPart } from "../../onnx/quantiser.ts";
import { type Bits, blockBytes, blocksIn } from "../../onnx/quantising-kernel.ts";
import { openWeights, type Weights } from "../../onnx/weights-folder.ts";
import {
  bytesToWrite,
  isIntact,
  readMetadata,
  type TensorGroup,
  type TensorPlan,
  writeSafetensors,
} from "../../onnx/write-safetensors.ts";
import { CheckpointError } from "./fields.ts";

/** What a quantised matrix's numbers and scales are called, behind its own name. */
export const DATA_SUFFIX = ".data";
export const SCALES_SUFFIX = ".scales";

/** What is to be quantised of a model, and how finely. */
export interface Quantisation {
  /** Matrices [outs, ins]. */
  readonly matrices: readonly { readonly name: string; readonly bits: Bits }[];
  /** Stacks of matrices, [parts, ins, outs], which become `name.0`, `name.1` …. */
  readonly stacks: readonly { readonly name: string; readonly bits: Bits }[];
  /** What stays as it is, in float32. */
  readonly kept: readonly string[];
}

/** Written into what is made: another way of quantising has another number. */
const VERSION = 3;

/**
 * Opens a model's weights quantised, from a cache, in which they are made first if they are not there, were made of other
 * files or otherwise, or are not what was written. A folder that cannot be written to will do where they are in it.
 *
 * @param cacheFolder is made if it is not there
 * @throws CacheError when there is no room for them, or the folder cannot be written to; WeightsError or CheckpointError
 *   naming a tensor with a number that is infinite or none; the signal's reason
 */
export async function openQuantised(
  weights: Weights,
  quantisation: Quantisation,
  cacheFolder: string,
  signal: AbortSignal,
): Promise<Weights> {
  const origin = await readOrigin(weights, VERSION);
  const made = JSON.stringify({ origin, quantisation });
  const file = `${createHash("sha256").update(made).digest("hex").slice(0, 32)}.safetensors`;
  await removeLeftovers(cacheFolder);
  if (!(await isIntact(join(cacheFolder, file), signal))) {
    const makings = await tensorGroups(weights, quantisation, signal);
    await writeCache(cacheFolder, file, origin, makings, signal);
  }
  return await openWeights(cacheFolder, file);
}

async function tensorGroups(
  weights: Weights,
  { matrices, stacks, kept }: Quantisation,
  signal: AbortSignal,
): Promise<TensorGroup[]> {
  const quantiser = await Quantiser.create();
  const matrix = (name: string, rows: MatrixRows, bits: Bits): TensorGroup => ({
    tensors: quantisedTensors(name, rows, bits),
    make: () => quantiser.quantised(rows, bits, signal),
  });
  return [
    ...kept.map(
      (name): TensorGroup => ({
        tensors: [{ name, dtype: "F32", shape: weights.variable(name).shape }],
        make: () => readFinite(weights, name),
      }),
    ),
    ...matrices.map(({ name, bits }) => matrix(name, rowsOf(weights, name), bits)),
    ...stacks.flatMap(({ name, bits }) =>
      Array.from({ length: weights.variable(name).shape[0]! }, (_, at) =>
        matrix(`${name}.${at}`, rowsOfPart(weights, name, at), bits),
      ),
    ),
  ];
}

function quantisedTensors(name: string, { rows, columns }: MatrixRows, bits: Bits): TensorPlan[] {
  const blocks = blocksIn(columns);
  return [
    { name: name + DATA_SUFFIX, dtype: "U8", shape: [rows, blocks, blockBytes(bits)] },
    { name: name + SCALES_SUFFIX, dtype: "F32", shape: [rows * blocks] },
  ];
}

async function* readFinite(weights: Weights, name: string): AsyncGenerator<Uint8Array> {
  const numbers = await weights.read(name);
  if (!numbers.every(Number.isFinite)) {
    throw new CheckpointError(
      `${name} has numbers that are infinite or none: the file is damaged; fetch it again.`,
    );
  }
  yield new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Weights that cannot be kept where they are to be; the message says how much room they take, and what to do. */
export class CacheError extends Error {
  override readonly name = "CacheError";
}

/** What the content of a cache depends on, besides how finely which tensors are quantised. */
export interface CacheOrigin {
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
export async function readOrigin({ folder, variables }: Weights, version: number): Promise<CacheOrigin> {
  const names = [...new Set([...variables.values()].map(({ file }) => file))].sort();
  return { version, folder, files: await Promise.all(names.map((name) => statFile(folder, name))) };
}

async function statFile(folder: string, name: string): Promise<OriginFile> {
  const { size, mtimeMs } = await stat(join(folder, name));
  return { name, size, mtimeMs };
}

/** The entry of a cache's metadata that has its {@link CacheOrigin}. */
const ORIGIN_KEY = "made_of";

/**
 * Makes a cache, under another name first, so that there never is half of one; two processes may do so at once. Before
 * that, caches are removed that nobody can use any more: those of weights that are gone or have changed, and this folder's
 * of other versions. So a checkpoint has no more of them than there are ways of quantising that it is opened with.
 *
 * @throws CacheError when the folder has no room or cannot be written to; what making the tensors throws
 */
export async function writeCache(
  folder: string,
  file: string,
  origin: CacheOrigin,
  makings: readonly TensorGroup[],
  signal: AbortSignal,
): Promise<void> {
  const metadata = { [ORIGIN_KEY]: JSON.stringify(origin) };
  const needed = bytesToWrite(makings, metadata);
  const draft = join(folder, `${file}.${HOST}.${process.pid}.${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true });
    await removeStale(folder, origin);
    await requireDiskSpace(folder, needed);
    await writeSafetensors(draft, makings, metadata);
    await moveInto(draft, join(folder, file), signal);
  } catch (error) {
    throw toCacheError(error, folder, needed);
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
  const drafts = (await listNames(folder)).filter((name) => DRAFT.test(name));
  await Promise.all(
    drafts.map(async (name) => {
      if (await isAbandoned(join(folder, name)))
        await rm(join(folder, name), { force: true }).catch(() => {});
    }),
  );
}

/** Of machines whose folders may be shared. */
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

const DRAFT = /\.safetensors\.([0-9a-f]{8})\.(\d+)\.[0-9a-f-]+\.part$/;

/** Nobody writes to a draft for that long and goes on. */
const ABANDONED_AFTER_MS = 600_000;

async function isAbandoned(path: string): Promise<boolean> {
  const [, host, pid] = DRAFT.exec(path) ?? [];
  const found = await stat(path).catch(() => null);
  if (found === null) return false;
  if (Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) return true;
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
    return errorCode(error) !== "ESRCH";
  }
}

async function removeStale(folder: string, { folder: weights, version }: CacheOrigin): Promise<void> {
  const caches = (await listNames(folder)).filter((name) => name.endsWith(".safetensors"));
  for (const path of caches.map((name) => join(folder, name))) {
    const origin = parseOrigin((await readMetadata(path))?.[ORIGIN_KEY]);
    if (origin === null) continue;
    const isOld = origin.folder === weights && origin.version !== version;
    if (isOld || (await isChanged(origin))) await rm(path, { force: true }).catch(() => {});
  }
}

function parseOrigin(json: string | undefined): CacheOrigin | null {
  if (json === undefined) return null;
  try {
    const origin = JSON.parse(json) as Partial<CacheOrigin>;
    return typeof origin.folder === "string" && Array.isArray(origin.files) ? (origin as CacheOrigin) : null;
  } catch {
    return null;
  }
}

async function isChanged({ folder, files }: CacheOrigin): Promise<boolean> {
  for (const was of files) {
    const now = await statFile(folder, was.name).catch((error) =>
      errorCode(error) === "ENOENT" ? null : was,
    );
    if (now === null || now.size !== was.size || now.mtimeMs !== was.mtimeMs) return true;
  }
  return false;
}

async function listNames(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

async function requireDiskSpace(folder: string, needed: number): Promise<void> {
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
const DISK_FULL_CODES = ["ENOSPC", "EDQUOT", "EFBIG"];
const FORBIDDEN_CODES = ["EACCES", "EPERM", "EROFS"];
const BAD_PATH_CODES = ["ENOTDIR", "EEXIST", "EISDIR", "ENOENT", "ENAMETOOLONG", "EMFILE"];

/** Says of an error of the file system what to do about it; gives back any other as it is. */
function toCacheError(error: unknown, folder: string, needed: number): unknown {
  const code = errorCode(error) ?? "";
  if (DISK_FULL_CODES.includes(code)) {
    return new CacheError(
      `The disk that holds ${folder} is full: the quantised weights take ${megabytes(needed)}; what was begun is removed: ${REMEDY}`,
      { cause: error },
    );
  }
  if (FORBIDDEN_CODES.includes(code) || BAD_PATH_CODES.includes(code)) {
    return new CacheError(
      `The quantised weights, ${megabytes(needed)}, are kept in ${folder}, which cannot be written to (${code}): give this user the right to, choose another folder with --data-dir, or take the precision fp32, which keeps none.`,
      { cause: error },
    );
  }
  return error;
}

function errorCode(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
