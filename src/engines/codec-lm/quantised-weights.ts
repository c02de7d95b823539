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

/** Suffixes of the names of a quantised matrix's numbers and scales. */
export const DATA_SUFFIX = ".data";
export const SCALES_SUFFIX = ".scales";

export interface Quantisation {
  /** Matrices [outs, ins]. */
  readonly matrices: readonly { readonly name: string; readonly bits: Bits }[];
  /** Stacks of matrices, [layers, ins, outs], which become `name.0`, `name.1` …. */
  readonly stacks: readonly { readonly name: string; readonly bits: Bits }[];
  /** Tensors kept in float32. */
  readonly kept: readonly string[];
}

/** Version of the quantisation; changing it invalidates existing caches. */
const VERSION = 3;

/**
 * Opens a model's weights quantised, from a cache that is first written if it is missing, outdated or damaged. A
 * read-only folder is fine if it holds the cache.
 *
 * @param cacheFolder is created if missing
 * @throws CacheError if there is no space or the folder is not writable; WeightsError or CheckpointError naming a
 * tensor with a
 *   number that is infinite or NaN; the signal's reason
 */
export async function openQuantised(
  weights: Weights,
  quantisation: Quantisation,
  cacheFolder: string,
  signal: AbortSignal,
): Promise<Weights> {
  const origin = await readOrigin(weights);
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

/** Quantised weights cannot be written; the message says how much space they need and what to do. */
export class CacheError extends Error {
  override readonly name = "CacheError";
}

/** What a cache was made from, in addition to its quantisation. */
interface CacheOrigin {
  readonly version: number;
  readonly folder: string;
  readonly files: readonly OriginFile[];
}

/** A weights file as it was when the cache was made. */
interface OriginFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Returns the current state of the weights' files. */
async function readOrigin({ folder, variables }: Weights): Promise<CacheOrigin> {
  const names = [...new Set([...variables.values()].map(({ file }) => file))].sort();
  return { version: VERSION, folder, files: await Promise.all(names.map((name) => statFile(folder, name))) };
}

async function statFile(folder: string, name: string): Promise<OriginFile> {
  const { size, mtimeMs } = await stat(join(folder, name));
  return { name, size, mtimeMs };
}

const ORIGIN_KEY = "made_of";

/**
 * Writes a cache under a temporary name and renames it, so that no partial one is ever seen and two processes may
 * write at once. First removes unusable caches: those of weights that are gone or have changed, and older versions
 * for these weights.
 *
 * @throws CacheError if there is no space or the folder is not writable; errors of making the tensors
 */
async function writeCache(
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
    await removeStale(folder, origin.folder);
    await requireDiskSpace(folder, needed);
    await writeSafetensors(draft, makings, metadata);
    await moveInto(draft, join(folder, file), signal);
  } catch (error) {
    throw toCacheError(error, folder, needed);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** If an open file cannot be replaced, the identical one of another process will do. */
async function moveInto(draft: string, path: string, signal: AbortSignal): Promise<void> {
  try {
    await rename(draft, path);
  } catch (error) {
    if (!(await isIntact(path, signal))) throw error;
  }
}

/** Removes drafts of processes that died while writing. Ignores those that cannot be removed. */
async function removeLeftovers(folder: string): Promise<void> {
  const drafts = (await listNames(folder)).filter((name) => DRAFT.test(name));
  await Promise.all(
    drafts.map(async (name) => {
      if (await isAbandoned(join(folder, name)))
        await rm(join(folder, name), { force: true }).catch(() => {});
    }),
  );
}

/** Distinguishes machines that share a folder. */
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

const DRAFT = /\.safetensors\.([0-9a-f]{8})\.(\d+)\.[0-9a-f-]+\.part$/;

const ABANDONED_AFTER_MS = 600_000;

async function isAbandoned(path: string): Promise<boolean> {
  const [, host, pid] = DRAFT.exec(path) ?? [];
  const found = await stat(path).catch(() => null);
  if (found === null) return false;
  if (Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) return true;
  if (host !== HOST) return false;
  // Process ids are reused: a draft older than this process is not its own.
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

async function removeStale(folder: string, weights: string): Promise<void> {
  const caches = (await listNames(folder)).filter((name) => name.endsWith(".safetensors"));
  for (const path of caches.map((name) => join(folder, name))) {
    const origin = parseOrigin((await readMetadata(path))?.[ORIGIN_KEY]);
    if (origin === null) continue;
    const isOld = origin.folder === weights && origin.version !== VERSION;
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

/** No space, no quota, or above the process's file size limit. */
const DISK_FULL_CODES = ["ENOSPC", "EDQUOT", "EFBIG"];
const FORBIDDEN_CODES = ["EACCES", "EPERM", "EROFS"];
const BAD_PATH_CODES = ["ENOTDIR", "EEXIST", "EISDIR", "ENOENT", "ENAMETOOLONG", "EMFILE"];

/** Turns an error of the file system into a {@link CacheError} with a remedy; returns others unchanged. */
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
